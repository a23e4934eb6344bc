# expect: ok
import tarfile, io
b = io.BytesIO(); t = tarfile.open(fileobj=b, mode='w')
i = tarfile.TarInfo('l'); i.type = tarfile.SYMTYPE; i.linkname = '@FILE@'; t.addfile(i); t.close(); b.seek(0)
try:
    tarfile.open(fileobj=b).extractall('/tmp'); print('ESCAPED', open('/tmp/l').read())
except Exception as e: print('blocked')
