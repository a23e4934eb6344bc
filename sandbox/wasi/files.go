package wasi

import (
	"encoding/binary"
	"strings"
)

func (s *System) fdClose(a args) errno {
	fd := a.fd(0)
	if s.fds[fd] == nil {
		return eBADF
	}
	s.close(fd)
	return 0
}

// close ends a descriptor, if there is one.
func (s *System) close(fd int32) {
	d := s.fds[fd]
	if d == nil {
		return
	}
	delete(s.fds, fd)
	if d.node.writable {
		d.node.open--
		s.session.release(d.node)
	}
}

// open gives a number to a descriptor. Nodes of the shared tree are not counted.
func (s *System) open(fd int32, d *descriptor) {
	if d.node.writable {
		d.node.open++
	}
	s.fds[fd] = d
}

func (s *System) fdRenumber(a args) errno {
	from, to := a.fd(0), a.fd(1)
	if s.fds[from] == nil || s.fds[to] == nil {
		return eBADF
	}
	if from == to {
		return 0
	}
	d := s.fds[from]
	s.close(to)
	delete(s.fds, from)
	s.fds[to] = d
	return 0
}

// filetype is WASI's number for the type of a node. Standard input is a
// regular file, as with `< file`; the outputs are streams.
func filetype(k kind) byte {
	switch k {
	case dir:
		return 3
	case file, stdin:
		return 4
	case stdout, stderr, job, report, note, sleep:
		return 6
	}
	return 2
}

const allRights = 1<<30 - 1

func (s *System) fdFdstatGet(a args) errno {
	var b [24]byte
	d := s.fds[a.fd(0)]
	if d == nil {
		return eBADF
	}
	b[0] = filetype(d.node.kind)
	if d.append {
		b[2] = 1
	}
	binary.LittleEndian.PutUint64(b[8:], allRights)
	binary.LittleEndian.PutUint64(b[16:], allRights)
	if !a.mem.Write(a.ptr(1), b[:]) {
		return eFAULT
	}
	return 0
}

func (s *System) fdFdstatSetFlags(a args) errno {
	d := s.fds[a.fd(0)]
	if d == nil {
		return eBADF
	}
	d.append = a.flags(1)&1 != 0
	return 0
}

// size is what stat says of a node's length.
func (s *System) size(n *node) int {
	if n.kind == stdin {
		return len(s.cfg.Stdin)
	}
	return len(n.data)
}

func (s *System) stat(a args, at uint32, n *node) errno {
	var b [64]byte
	le := binary.LittleEndian
	le.PutUint64(b[0:], 1)
	le.PutUint64(b[8:], n.inode)
	b[16] = filetype(n.kind)
	le.PutUint64(b[24:], 1)
	le.PutUint64(b[32:], uint64(s.size(n)))
	for _, o := range []int{40, 48, 56} {
		le.PutUint64(b[o:], uint64(epoch+n.modified))
	}
	if !a.mem.Write(at, b[:]) {
		return eFAULT
	}
	return 0
}

func (s *System) fdFilestatGet(a args) errno {
	d := s.fds[a.fd(0)]
	if d == nil {
		return eBADF
	}
	return s.stat(a, a.ptr(1), d.node)
}

func (s *System) fdFilestatSetSize(a args) errno {
	d := s.fds[a.fd(0)]
	switch {
	case d == nil:
		return eBADF
	case d.node.kind != file || !d.write:
		return eINVAL
	}
	return s.resize(d.node, a.u64(1))
}

func (s *System) fdAllocate(a args) errno {
	d := s.fds[a.fd(0)]
	switch {
	case d == nil:
		return eBADF
	case d.node.kind != file || !d.write:
		return eINVAL
	case a.u64(1) > maxTmpBytes || a.u64(2) > maxTmpBytes:
		return eNOSPC
	}
	if end := a.u64(1) + a.u64(2); end > uint64(len(d.node.data)) {
		return s.resize(d.node, end)
	}
	return 0
}

func (s *System) fdPrestatGet(a args) errno {
	d := s.fds[a.fd(0)]
	if d == nil || !d.preopen {
		return eBADF
	}
	if e := a.put32(a.ptr(1), 0); e != 0 {
		return e
	}
	return a.put32(a.ptr(1)+4, 1)
}

func (s *System) fdPrestatDirName(a args) errno {
	d := s.fds[a.fd(0)]
	switch {
	case d == nil || !d.preopen:
		return eBADF
	case a.u32(2) < 1:
		return eNAMETOOLONG
	case !a.mem.WriteByte(a.ptr(1), '/'):
		return eFAULT
	}
	return 0
}

// Flags of path_open.
const (
	openCreate    = 1
	openDirectory = 2
	openExclusive = 4
	openTruncate  = 8

	rightRead  = 1 << 1
	rightWrite = 1 << 6
)

func (s *System) pathOpen(a args) errno {
	from := s.fds[a.fd(0)]
	path, e := s.text(a, 2, 3)
	switch {
	case e != 0:
		return e
	case from == nil:
		return eBADF
	case from.node.kind != dir:
		return eNOTDIR
	}
	flags, rights := a.flags(4), a.u64(5)
	d := &descriptor{read: rights&rightRead != 0, write: rights&rightWrite != 0, append: a.flags(7)&1 != 0}
	in, name, n, e := s.session.walk(from.node, path)
	if s.cfg.Freeze {
		n, e = s.channel(path, n, e)
	}
	if e != 0 {
		return e
	}
	if n == nil {
		if flags&openCreate == 0 {
			return eNOENT
		}
		if n, e = s.session.make(in, name, file, s.now()); e != 0 {
			return e
		}
	} else if e := openable(n, d, flags); e != 0 {
		return e
	}
	if flags&openTruncate != 0 && n.kind == file {
		s.resize(n, 0)
	}
	d.node = n
	fd, e := s.lowest()
	if e != 0 {
		return e
	}
	s.open(fd, d)
	return a.put32(a.ptr(8), uint32(fd))
}

// channel is the channel of a path, or else what the path led to.
func (s *System) channel(path string, n *node, e errno) (*node, errno) {
	if c := channels["/"+strings.TrimPrefix(path, "/")]; c != nil {
		return c, 0
	}
	return n, e
}

// resize sets the length of a writable file.
func (s *System) resize(n *node, size uint64) errno {
	before := cap(n.data)
	e := s.session.resize(n, size)
	if grown := cap(n.data) - before; grown > 0 {
		s.litter(grown)
	}
	s.pay(int(min(size, maxTmpBytes)) >> shiftMade)
	return e
}

// openable says whether an existing node may be opened as asked.
func openable(n *node, d *descriptor, flags uint32) errno {
	switch {
	case flags&openCreate != 0 && flags&openExclusive != 0:
		return eEXIST
	case flags&openDirectory != 0 && n.kind != dir:
		return eNOTDIR
	case n.kind == dir && (d.write && flags&openDirectory == 0 || flags&openTruncate != 0):
		return eISDIR
	case n.kind == file && !n.writable && (d.write || flags&openTruncate != 0):
		return eROFS
	case n.kind == stdin && d.write, (n.kind == stdout || n.kind == stderr) && d.read && !d.write:
		return eACCES
	}
	return 0
}

// at resolves the folder and path parameters of a path call.
func (s *System) at(a args, fd, path, length int) (*node, string, errno) {
	d := s.fds[a.fd(fd)]
	if d == nil {
		return nil, "", eBADF
	}
	p, e := s.text(a, path, length)
	return d.node, p, e
}

func (s *System) pathFilestatGet(a args) errno {
	from, path, e := s.at(a, 0, 2, 3)
	if e != 0 {
		return e
	}
	_, _, n, e := s.session.walk(from, path)
	if e != 0 {
		return e
	}
	if n == nil {
		return eNOENT
	}
	return s.stat(a, a.ptr(4), n)
}

func (s *System) pathCreateDirectory(a args) errno {
	from, path, e := s.at(a, 0, 1, 2)
	if e != 0 {
		return e
	}
	in, name, n, e := s.session.walk(from, path)
	if e != 0 {
		return e
	}
	if n != nil {
		return eEXIST
	}
	_, e = s.session.make(in, name, dir, s.now())
	return e
}

func (s *System) pathReadlink(a args) errno {
	from, path, e := s.at(a, 0, 1, 2)
	if e != 0 {
		return e
	}
	if _, _, n, e := s.session.walk(from, path); e != 0 {
		return e
	} else if n == nil {
		return eNOENT
	}
	return eINVAL // there are no links
}

func (s *System) pathRemoveDirectory(a args) errno {
	from, path, e := s.at(a, 0, 1, 2)
	if e != 0 {
		return e
	}
	return s.session.remove(from, path, true)
}

func (s *System) pathUnlinkFile(a args) errno {
	from, path, e := s.at(a, 0, 1, 2)
	if e != 0 {
		return e
	}
	return s.session.remove(from, path, false)
}

func (s *System) pathRename(a args) errno {
	from, path, e := s.at(a, 0, 1, 2)
	if e != 0 {
		return e
	}
	to, target, e := s.at(a, 3, 4, 5)
	if e != 0 {
		return e
	}
	return s.session.rename(from, path, to, target)
}
