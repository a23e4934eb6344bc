package wasi

import "testing"

// held is how much memory the files that a folder leads to hold on to.
func held(n *node) int {
	sum := cap(n.data)
	for _, c := range n.children {
		sum += held(c)
	}
	return sum
}

// What /tmp may hold is counted in bytes of files: a file that shrinks must give
// its memory back, or a program takes the cap once for every file it makes.
func TestShrunkFilesHoldNoMemory(t *testing.T) {
	s := testFS().session()
	for i := range 8 {
		n, e := s.make(s.tmp, string(rune('a'+i)), file, 0)
		if e != 0 {
			t.Fatal(e)
		}
		for _, size := range []uint64{maxTmpBytes, 100, 0} {
			if e := s.resize(n, size); e != 0 {
				t.Fatalf("file %d to %d bytes: %d", i, size, e)
			}
		}
	}
	if h := held(s.tmp); h > maxTmpBytes/16 {
		t.Errorf("8 empty files hold %d bytes", h)
	}
}

// Who makes and removes files for ever never fills /tmp, and a removed file can
// be read and written by who has it open.
func TestRemovedFilesAreGivenBack(t *testing.T) {
	s := NewSystem(testFS())
	s.Reset(Config{})
	tree := s.session
	for i := range 3 * maxTmpNodes {
		n, e := tree.make(tree.tmp, "x", file, 0)
		if e != 0 {
			t.Fatalf("file %d: %d", i, e)
		}
		s.open(9, &descriptor{node: n, read: true, write: true})
		if i%2 == 0 {
			if other, e := tree.make(tree.tmp, "y", file, 0); e != 0 || tree.rename(tree.tmp, "y", tree.tmp, "x") != 0 {
				t.Fatalf("file %d: not replaced by %v, %d", i, other, e)
			}
		}
		if e := tree.remove(tree.tmp, "x", false); e != 0 {
			t.Fatal(e)
		}
		size := 10
		if i%1000 < 2 {
			size = maxTmpBytes / 2
		}
		if e := s.writeAt(n, 0, make([]byte, size)); e != 0 {
			t.Fatalf("file %d: write to a removed file: %d", i, e)
		}
		if got := s.readAt(n, uint64(size-4), make([]byte, 9)); got != 4 {
			t.Fatalf("file %d: read %d bytes of a removed file", i, got)
		}
		s.close(9)
	}
	if tree.nodes != 0 || tree.bytes != 0 {
		t.Errorf("an empty /tmp counts %d nodes with %d bytes", tree.nodes, tree.bytes)
	}
}

// Nothing can be made in a folder that was removed while it was open.
func TestRemovedFolderStaysEmpty(t *testing.T) {
	tree := testFS().session()
	n, _ := tree.make(tree.tmp, "d", dir, 0)
	n.open++
	if e := tree.remove(tree.tmp, "d", true); e != 0 {
		t.Fatal(e)
	}
	if _, e := tree.make(n, "x", file, 0); e != eNOENT {
		t.Errorf("made a file in a removed folder: %d", e)
	}
}

// A descriptor renumbered to itself stays open.
func TestRenumberToItself(t *testing.T) {
	s := NewSystem(testFS())
	s.Reset(Config{})
	if e := s.fdRenumber(args{v: []uint64{2, 2}}); e != 0 || s.fds[2] == nil {
		t.Errorf("renumbered to itself: %d, open %t", e, s.fds[2] != nil)
	}
}
