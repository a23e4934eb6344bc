# expect: ok
import zipfile, sys
z = zipfile.ZipFile('/tmp/m.zip', 'w'); z.writestr('m.py', 'print("imported")'); z.close()
sys.path.insert(0, '/tmp/m.zip')
import m
