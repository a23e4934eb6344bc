# expect: ok
import zipfile, io
b = io.BytesIO()
z = zipfile.ZipFile(b, 'w'); z.writestr('../../..' + '@FILE@', 'x'); z.close()
try:
    zipfile.ZipFile(b).extractall('/tmp'); print('inside', end='')
except Exception as e:
    print('blocked', type(e).__name__)
