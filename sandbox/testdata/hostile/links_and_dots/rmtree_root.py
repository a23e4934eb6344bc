# expect: exception
import shutil, os
shutil.rmtree('/', ignore_errors=True)
print(os.path.exists('/usr/local/lib/python311.zip'))
