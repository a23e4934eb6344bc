package wasi

import (
	"strings"
	"testing"
)

func testFS() *FS {
	f := NewFS()
	f.Add("usr/lib/a.txt", []byte("hello"))
	return f
}

func TestPathsStayInTheTree(t *testing.T) {
	f := testFS()
	s := f.session()
	s.make(s.tmp, "d", dir, 0)
	for path, want := range map[string]errno{
		"usr/lib/a.txt": 0, "/usr/lib/a.txt": 0, "//usr///lib/./a.txt": 0, "../../../usr/lib/a.txt": 0,
		"usr/../usr/lib/a.txt": 0, "tmp/../tmp/d": 0, "tmp/d/": 0, "": 0, ".": 0, "..": 0, "/": 0,
		"usr/lib/a.txt/": eNOTDIR, "usr/lib/a.txt/..": eNOTDIR, "usr/lib/a.txt/x": eNOTDIR, "no/such": eNOENT,
		strings.Repeat("a", 5000): eNAMETOOLONG,
	} {
		_, _, n, e := s.walk(f.root, path)
		if e != want || e == 0 && n == nil {
			t.Errorf("%q: node %v, errno %d instead of %d", path, n, e, want)
		}
	}
	if _, name, n, e := s.walk(f.root, "tmp/new"); n != nil || e != 0 || name != "new" {
		t.Errorf("a path to be made: %q %v %d", name, n, e)
	}
}

func TestOnlyTmpIsWritten(t *testing.T) {
	f := testFS()
	s := f.session()
	if _, e := s.make(f.root.children["usr"], "x", file, 0); e != eROFS {
		t.Errorf("make: errno %d", e)
	}
	for name, e := range map[string]errno{
		"remove file":    s.remove(f.root, "usr/lib/a.txt", false),
		"remove tmp":     s.remove(f.root, "tmp", true),
		"move in":        s.rename(f.root, "usr/lib/a.txt", f.root, "tmp/a"),
		"move tmp":       s.rename(f.root, "tmp", f.root, "usr/tmp"),
		"move dev":       s.rename(f.root, "dev/null", f.root, "tmp/null"),
		"remove by dots": s.remove(f.root, "tmp/..", true),
	} {
		if e != eROFS {
			t.Errorf("%s: errno %d", name, e)
		}
	}
	s.make(s.tmp, "a", dir, 0)
	if e := s.rename(f.root, "tmp/a", f.root, "tmp/a/b"); e != eINVAL {
		t.Errorf("into itself: errno %d", e)
	}
	if e := s.rename(f.root, "tmp/a", f.root, "usr/a"); e != eROFS {
		t.Errorf("out of tmp: errno %d", e)
	}
}

func TestTmpIsCappedAndEmptyEachTime(t *testing.T) {
	f := testFS()
	s := f.session()
	n, _ := s.make(s.tmp, "big", file, 0)
	if e := s.resize(n, maxTmpBytes); e != 0 {
		t.Fatalf("errno %d", e)
	}
	m, _ := s.make(s.tmp, "more", file, 0)
	if e := s.resize(m, 1); e != eNOSPC {
		t.Errorf("over the cap: errno %d", e)
	}
	if e := s.resize(m, 1<<62); e != eNOSPC {
		t.Errorf("far over the cap: errno %d", e)
	}
	s.remove(s.tmp, "big", false)
	if e := s.resize(m, 1); e != 0 || s.bytes != 1 {
		t.Errorf("after removing: errno %d, %d bytes", e, s.bytes)
	}
	for i := 0; ; i++ {
		if _, e := s.make(s.tmp, strings.Repeat("x", i+1), file, 0); e != 0 {
			if e != eNOSPC || i > maxTmpNodes {
				t.Errorf("file %d: errno %d", i, e)
			}
			break
		}
	}
	if names := f.session().names(f.session().tmp); len(names) != 0 {
		t.Errorf("the next session finds %v", names)
	}
}

func TestStreamsAreCapped(t *testing.T) {
	s := NewSystem(testFS())
	s.Reset(Config{MaxOutput: 10})
	s.write(stdout, []byte("12345"))
	func() {
		defer func() {
			if recover() != ErrOutput {
				t.Error("no ErrOutput over the cap")
			}
		}()
		s.write(stdout, []byte("67890x"))
	}()
	if string(s.Stdout()) != "1234567890" {
		t.Errorf("stdout %q", s.Stdout())
	}
	for range 100 {
		s.write(stderr, []byte(strings.Repeat("x", 10000)))
	}
	s.write(stderr, []byte("end"))
	if e := s.Stderr(); len(e) != maxStderr || string(e[len(e)-3:]) != "end" {
		t.Errorf("%d bytes of stderr", len(e))
	}
}

func TestRandomnessIsTheSeeds(t *testing.T) {
	draw := func(seed uint64) string {
		s := NewSystem(testFS())
		s.Reset(Config{Seed: seed})
		b := make([]byte, 16)
		s.fill(b)
		return string(b)
	}
	first, again, other := draw(1), draw(1), draw(2)
	if first != again || first == other {
		t.Error("randomness does not follow the seed")
	}
}

func FuzzWalk(f *testing.F) {
	f.Add("usr/lib/a.txt")
	f.Add("/../tmp//x/./../..")
	f.Fuzz(func(t *testing.T, path string) {
		fs := testFS()
		s := fs.session()
		in, _, n, e := s.walk(fs.root, path)
		if e == 0 && in == nil && n == nil {
			t.Errorf("%q leads nowhere", path)
		}
		for p := n; p != nil; p = p.parent {
			if p.parent == nil && p != fs.root {
				t.Errorf("%q leaves the tree", path)
			}
		}
		s.remove(fs.root, path, true)
		s.rename(fs.root, path, fs.root, "tmp/x")
		if len(fs.root.children["usr"].children["lib"].children) != 1 {
			t.Errorf("%q changes the read-only tree", path)
		}
	})
}
