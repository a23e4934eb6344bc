# expect: ok
import tarfile, io
b = io.BytesIO(); t = tarfile.open(fileobj=b, mode='w')
i = tarfile.TarInfo('d'); i.type = tarfile.BLKTYPE; t.addfile(i); t.close(); b.seek(0)
try: tarfile.open(fileobj=b).extractall('/tmp')
except Exception: pass
import os; print(os.path.exists('/tmp/d') and 'a file' or 'nothing')
