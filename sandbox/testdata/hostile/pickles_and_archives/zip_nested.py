# expect: time memory
import zipfile, io
b = io.BytesIO()
z = zipfile.ZipFile(b, 'w', zipfile.ZIP_DEFLATED)
for i in range(20): z.writestr(str(i), bytes(10**7))
z.close()
x = [zipfile.ZipFile(b).read(str(i)) for i in range(20)]
