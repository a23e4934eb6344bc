# expect: ok
import tarfile, io, os
b = io.BytesIO()
t = tarfile.open(fileobj=b, mode='w')
i = tarfile.TarInfo('../../..' + '@FILE@'); i.size = 1
t.addfile(i, io.BytesIO(b'x')); t.close(); b.seek(0)
try:
    tarfile.open(fileobj=b).extractall('/tmp')
    print('done')
except Exception as e:
    print('blocked', type(e).__name__)
