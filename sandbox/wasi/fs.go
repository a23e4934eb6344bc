package wasi

import (
	"maps"
	"slices"
	"strings"
)

// kind is what a node of the file system is.
type kind byte

const (
	dir kind = iota
	file
	stdin  // /dev/stdin: opens the standard stream itself
	stdout // /dev/stdout
	stderr // /dev/stderr
	null   // /dev/null
	random // /dev/urandom
	job    // the channels to the host
	report
	note
	sleep
)

// node is a file or folder in memory.
type node struct {
	kind     kind
	data     []byte
	children map[string]*node
	writable bool // a folder in which things may be made; a file that may be changed
	inode    uint64
	parent   *node
	modified int64 // virtual nanoseconds
	open     int   // descriptors of a writable file
	unlinked bool  // no path leads to it; it lives as long as it is open
}

// FS is a read-only tree of files in memory, the same for all runs. What a run
// writes goes to /tmp, which each run gets empty.
type FS struct {
	root  *node
	nodes uint64
}

// NewFS returns a tree with /tmp and /dev.
func NewFS() *FS {
	f := &FS{}
	f.root = f.node(dir, nil)
	f.Add("tmp/x", nil)
	delete(f.root.children["tmp"].children, "x")
	for name, k := range map[string]kind{"stdin": stdin, "stdout": stdout, "stderr": stderr, "null": null, "urandom": random, "random": random} {
		f.Add("dev/"+name, nil).kind = k
	}
	return f
}

func (f *FS) node(k kind, parent *node) *node {
	f.nodes++
	n := &node{kind: k, inode: f.nodes, parent: parent}
	if k == dir {
		n.children = map[string]*node{}
	}
	return n
}

// Add puts a file into the tree, making folders as needed; data is not copied.
func (f *FS) Add(path string, data []byte) *node {
	at := f.root
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, p := range parts {
		next := at.children[p]
		if next == nil {
			k := dir
			if i == len(parts)-1 {
				k = file
			}
			next = f.node(k, at)
			at.children[p] = next
		}
		at = next
	}
	at.data = data
	return at
}

// session is the tree of one run: the shared one with a /tmp of its own.
type session struct {
	fs    *FS
	tmp   *node
	inode uint64 // the last one given
	nodes int    // files and folders that exist
	bytes int    // held by writable files
}

// The caps of /tmp.
const (
	maxTmpBytes = 16 << 20
	maxTmpNodes = 4096
	maxPath     = 4096
)

func (f *FS) session() *session {
	return &session{fs: f, tmp: &node{kind: dir, children: map[string]*node{}, writable: true, inode: 1 << 32, parent: f.root}}
}

// make adds a writable node to a writable folder.
func (s *session) make(in *node, name string, k kind, now int64) (*node, errno) {
	switch {
	case in.unlinked:
		return nil, eNOENT
	case !in.writable:
		return nil, eROFS
	}
	if s.nodes >= maxTmpNodes {
		return nil, eNOSPC
	}
	s.nodes++
	s.inode++
	n := &node{kind: k, inode: 1<<32 + s.inode, parent: in, writable: true, modified: now}
	if k == dir {
		n.children = map[string]*node{}
	}
	in.children[name] = n
	in.modified = now
	return n, 0
}

// keptCapacity is what a shortened file may hold on to beyond its length.
const keptCapacity = 4096

// resize sets the length of a writable file. One that shrinks gives its memory
// back: what is counted is lengths.
func (s *session) resize(n *node, size uint64) errno {
	if size > maxTmpBytes || s.bytes+int(size)-len(n.data) > maxTmpBytes {
		return eNOSPC
	}
	s.bytes += int(size) - len(n.data)
	if int(size) <= len(n.data) {
		n.data = n.data[:size]
		if cap(n.data) > 2*len(n.data)+keptCapacity {
			n.data = slices.Clone(n.data)
		}
		return 0
	}
	old := len(n.data)
	n.data = slices.Grow(n.data, int(size)-old)[:size]
	clear(n.data[old:])
	return 0
}

// child is the entry of a folder; /tmp is the session's.
func (s *session) child(n *node, name string) *node {
	c := n.children[name]
	if n == s.fs.root && name == "tmp" {
		return s.tmp
	}
	return c
}

// walk resolves a path from a folder. It can't leave the tree: ".." of the root
// is the root. The last element need not exist; then found is nil.
func (s *session) walk(from *node, path string) (in *node, name string, found *node, e errno) {
	if len(path) > maxPath {
		return nil, "", nil, eNAMETOOLONG
	}
	if strings.HasPrefix(path, "/") {
		from = s.fs.root
	}
	at := from
	parts := strings.Split(path, "/")
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" || p == "." })
	in, name = at, "."
	for i, p := range parts {
		if at.kind != dir {
			return nil, "", nil, eNOTDIR
		}
		var next *node
		if p == ".." {
			if next = at.parent; next == nil {
				next = at
			}
		} else {
			next = s.child(at, p)
		}
		in, name = at, p
		if next == nil {
			if i == len(parts)-1 {
				return in, name, nil, 0
			}
			return nil, "", nil, eNOENT
		}
		at = next
	}
	if strings.HasSuffix(path, "/") && at.kind != dir {
		return nil, "", nil, eNOTDIR
	}
	return in, name, at, 0
}

// names lists a folder in order.
func (s *session) names(n *node) []string { return slices.Sorted(maps.Keys(n.children)) }

// remove unlinks a file or an empty folder.
func (s *session) remove(from *node, path string, folder bool) errno {
	in, name, n, e := s.walk(from, path)
	switch {
	case e != 0:
		return e
	case n == nil:
		return eNOENT
	case !in.writable || n == s.tmp || name == ".." || name == ".":
		return eROFS
	case folder && n.kind != dir:
		return eNOTDIR
	case !folder && n.kind == dir:
		return eISDIR
	case folder && len(n.children) > 0:
		return eNOTEMPTY
	}
	delete(in.children, name)
	s.unlink(n)
	return 0
}

// unlink counts a node out that no path leads to any more. An open file keeps
// its data until it is closed.
func (s *session) unlink(n *node) {
	n.unlinked = true
	s.release(n)
}

// release gives back what a node holds that is neither reached by a path nor
// open.
func (s *session) release(n *node) {
	if !n.unlinked || n.open > 0 || !n.writable {
		return
	}
	s.nodes--
	s.bytes -= len(n.data)
	n.data, n.writable = nil, false
}

// rename moves a node inside /tmp.
func (s *session) rename(fromDir *node, from string, toDir *node, to string) errno {
	in, name, n, e := s.walk(fromDir, from)
	if e != 0 {
		return e
	}
	toIn, toName, old, e := s.walk(toDir, to)
	switch {
	case e != 0:
		return e
	case n == nil:
		return eNOENT
	case !in.writable || !toIn.writable || name == ".." || name == "." || toName == ".." || toName == "." || n == s.tmp:
		return eROFS
	case old == n:
		return 0
	case old != nil && old.kind == dir && (n.kind != dir || len(old.children) > 0):
		return eNOTEMPTY
	case old != nil && old.kind != dir && n.kind == dir:
		return eNOTDIR
	}
	for p := toIn; p != nil; p = p.parent {
		if p == n {
			return eINVAL
		}
	}
	if old != nil {
		s.unlink(old)
	}
	delete(in.children, name)
	toIn.children[toName] = n
	n.parent = toIn
	return 0
}
