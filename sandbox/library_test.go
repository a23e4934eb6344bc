package sandbox

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTheStandardLibrary tells what can be imported, per guest.
func TestTheStandardLibrary(t *testing.T) {
	there := strings.Fields(`abc argparse array ast asyncio atexit base64 binascii bisect builtins bz2 calendar cmath cmd
		code codecs collections colorsys concurrent.futures configparser contextlib contextvars copy copyreg cProfile csv
		dataclasses datetime decimal difflib dis email enum errno faulthandler fileinput fnmatch fractions functools gc
		getopt gettext glob graphlib gzip hashlib heapq hmac html html.parser http.client imaplib importlib inspect io
		ipaddress itertools json keyword linecache locale logging marshal math mimetypes multiprocessing
		multiprocessing.pool multiprocessing.dummy numbers operator optparse os os.path pathlib pickle pickletools
		pkgutil platform pprint profile pstats queue quopri random re reprlib resource sched secrets select selectors
		shelve shlex shutil signal site smtplib socket socketserver sqlite3 stat statistics string stringprep struct
		subprocess symtable sys sysconfig tabnanny tarfile tempfile textwrap threading time timeit token tokenize
		traceback tracemalloc types typing unicodedata unittest unittest.mock urllib.parse urllib.request uuid warnings
		weakref xml.dom.minidom xml.etree.ElementTree xml.sax zipfile zipimport zlib zoneinfo _thread _heapq _bisect
		_collections _functools _random`)
	missing := strings.Fields("ctypes ssl lzma curses tkinter fcntl grp pwd termios readline mmap syslog")
	never := strings.Fields("numpy pandas scipy sympy sortedcontainers networkx matplotlib torch numba cython gmpy2")
	// What the guest of sandbox/python/build lacks beside that.
	lacks := strings.Fields("bz2 sqlite3")
	if os.Getenv("TROUPE_PYTHON_WASM") == "" {
		lacks = nil
	}
	p := open(t, 1)
	for _, m := range there {
		if slices.Contains(lacks, m) {
			continue
		}
		if r := runOn(t, p, Python{Program: "import " + m}); r.Outcome != OK || len(r.Stderr) > 0 {
			t.Errorf("import %s: %s %s", m, r.Exception, r.Stderr)
		}
	}
	for _, m := range append(append(never, missing...), lacks...) {
		r := runOn(t, p, Python{Program: "import " + m})
		if r.Outcome != Exception || r.MissingModule == "" {
			t.Errorf("import %s: %s, missing module %q", m, r.Outcome, r.MissingModule)
		}
		if slices.Contains(never, m) && r.MissingModule != m {
			t.Errorf("import %s: missing module %q", m, r.MissingModule)
		}
	}
}
