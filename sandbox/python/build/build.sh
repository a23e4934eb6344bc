#!/bin/sh
# Builds CPython 3.11 for WASI at -O3 from Debian's sources with Debian's clang:
# two to three times as fast as the pinned guest. Optional; the result is named
# with --python-wasm and --python-lib (or TROUPE_PYTHON_WASM, TROUPE_PYTHON_LIB).
#
#   sh build.sh OUT          writes OUT/python.wasm and OUT/python311.zip
#
# Wants Debian 12 or later with: clang-19 lld-19 llvm-19 wasi-libc
# libclang-rt-19-dev-wasm32 make xz-utils, and a python3.11 to build with. The
# sources come by `apt-get source` from the archive this machine uses; to do
# without, name unpacked folders: PYTHON_SOURCE=DIR ZLIB_SOURCE=DIR. Takes about
# ten minutes on two cores, in OUT/work, which can be deleted afterwards.
set -eu
[ $# -eq 1 ] || { echo "usage: sh build.sh OUT" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$out/work
mkdir -p "$work"
clang=${CLANG:-clang-19}
version=${clang##*-}
for tool in "$clang" "llvm-ar-$version" "llvm-ranlib-$version" "wasm-ld-$version" make python3.11 bzip2; do
	command -v "$tool" >/dev/null || { echo "build.sh: $tool is not on PATH" >&2; exit 1; }
done
target="--target=wasm32-wasi"
optimise="-O3 -mbulk-memory -msign-ext -mnontrapping-fptoint"

# fetch NAME: the upstream source of a Debian package. The lists of
# source packages are read into a folder of our own.
apt="apt-get -qq -o Dir::Etc::sourcelist=$work/apt/sources.sources -o Dir::Etc::sourceparts=/nonexistent -o Dir::State::lists=$work/apt/lists -o Dir::Cache=$work/apt/cache"
fetch() {
	if [ ! -e "$work/apt/sources.sources" ]; then
		mkdir -p "$work/apt/lists/partial" "$work/apt/cache"
		sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$work/apt/sources.sources"
		$apt update
	fi
	# An archive may list a security update that its mirror lacks; the release's
	# own version will do.
	(cd "$work" && { $apt source --download-only "$1" || $apt source --download-only "$1/$(. /etc/os-release && echo "$VERSION_CODENAME")"; })
}

# zlib, a static library.
if [ ! -e "$work/zlib/libz.a" ]; then
	if [ -z "${ZLIB_SOURCE:-}" ]; then
		fetch zlib
		mkdir -p "$work/zlib-source"
		tar xf "$work"/zlib_*.orig.tar.* -C "$work/zlib-source" --strip-components=1
		ZLIB_SOURCE=$work/zlib-source
	fi
	mkdir -p "$work/zlib"
	cp "$ZLIB_SOURCE"/*.h "$work/zlib/"
	[ -e "$work/zlib/zconf.h" ] || cp "$ZLIB_SOURCE/zconf.h.in" "$work/zlib/zconf.h"
	for part in adler32 crc32 deflate infback inffast inflate inftrees trees zutil compress uncompr; do
		"$clang" $target $optimise -DHAVE_UNISTD_H -I"$work/zlib" -c "$ZLIB_SOURCE/$part.c" -o "$work/zlib/$part.o"
	done
	"llvm-ar-$version" rcs "$work/zlib/libz.a" "$work"/zlib/*.o
fi

if [ -z "${PYTHON_SOURCE:-}" ]; then
	if [ ! -e "$work/python" ]; then
		fetch python3.11
		mkdir -p "$work/python.tmp"
		tar xf "$work"/python3.11_*.orig.tar.* -C "$work/python.tmp" --strip-components=1
		mv "$work/python.tmp" "$work/python"
	fi
	PYTHON_SOURCE=$work/python
fi

# Libraries that the build machine has and the guest does not must not be
# found: pkg-config would answer for the machine.
rm -rf "$work/build"
mkdir "$work/build"
cd "$work/build"
emulated="-D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_PROCESS_CLOCKS"
libraries="-lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-process-clocks"
CONFIG_SITE=$PYTHON_SOURCE/Tools/wasm/config.site-wasm32-wasi \
	PKG_CONFIG=false \
	CC="$clang $target" CPP="$clang $target -E" AR="llvm-ar-$version" RANLIB="llvm-ranlib-$version" \
	CPPFLAGS="$emulated" CFLAGS="$optimise -Wno-int-conversion" OPT="-DNDEBUG -O3" \
	LDFLAGS="-Wl,-z,stack-size=1048576 -Wl,--stack-first -Wl,--initial-memory=20971520" LIBS="$libraries" \
	ZLIB_CFLAGS="-I$work/zlib" ZLIB_LIBS="-L$work/zlib -lz" \
	py_cv_module_zlib=yes \
	py_cv_module__bz2=n/a py_cv_module__lzma=n/a py_cv_module__sqlite3=n/a py_cv_module__uuid=n/a \
	py_cv_module__ctypes=n/a py_cv_module__curses=n/a py_cv_module__dbm=n/a py_cv_module__gdbm=n/a \
	py_cv_module__hashlib=n/a py_cv_module__ssl=n/a py_cv_module__tkinter=n/a py_cv_module_readline=n/a \
	"$PYTHON_SOURCE/configure" -C --host=wasm32-unknown-wasi --build="$("$PYTHON_SOURCE/config.guess")" \
	--with-build-python="$(command -v python3.11)" --with-ensurepip=no --disable-test-modules \
	--prefix=/usr/local >configure.log 2>&1 || { tail -20 configure.log >&2; exit 1; }
make -j"$(getconf _NPROCESSORS_ONLN)" python.wasm >make.log 2>&1 || { tail -20 make.log >&2; exit 1; }

# The standard library, compiled, without what a guest can't use.
rm -rf "$work/lib"
mkdir "$work/lib"
cp -r "$PYTHON_SOURCE"/Lib/. "$work/lib/"
# sysconfig reads the build's variables; this is what the library itself asks for.
echo 'build_time_vars = {"TZPATH": "", "prefix": "/usr/local", "exec_prefix": "/usr/local"}' \
	>"$work/lib/_sysconfigdata__wasi_wasm32-wasi.py"
cd "$work/lib"
rm -rf test idlelib lib2to3 tkinter turtledemo ensurepip venv curses dbm msilib ctypes lib-dynload \
	pydoc_data sqlite3 distutils unittest/test
python3.11 -m compileall -q -b -d "" . >/dev/null || true
find . -name '*.py' -delete
find . -name __pycache__ -type d -exec rm -rf {} +
rm -f "$out/python311.zip"
python3.11 - "$out/python311.zip" <<'PY'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
    for root, dirs, files in os.walk("."):
        dirs.sort()
        for f in sorted(files):
            z.write(os.path.relpath(os.path.join(root, f), "."))
PY
cp "$work/build/python.wasm" "$out/python.wasm"
sha256sum "$out/python.wasm" "$out/python311.zip"
