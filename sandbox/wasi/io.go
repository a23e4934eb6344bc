package wasi

import "encoding/binary"

// readAt copies from a node at an offset.
func (s *System) readAt(n *node, at uint64, b []byte) int {
	data := n.data
	switch n.kind {
	case random:
		s.fill(b)
		return len(b)
	case job: // not paid: it is the host's own doing
		n := copy(b, s.job)
		s.job = s.job[n:]
		return n
	case stdin:
		data = s.cfg.Stdin
	}
	if at >= uint64(len(data)) {
		return 0
	}
	copied := copy(b, data[at:])
	s.pay(copied >> shiftCopied)
	return copied
}

// offset is where a descriptor reads next. Standard input has one offset
// whichever way it was opened.
func (s *System) offset(d *descriptor) uint64 {
	if d.node.kind == stdin {
		return uint64(s.stdin)
	}
	return d.at
}

func (s *System) setOffset(d *descriptor, at uint64) {
	if d.node.kind == stdin {
		s.stdin = int(min(at, uint64(len(s.cfg.Stdin))))
		return
	}
	d.at = at
}

func (s *System) fdRead(a args) errno {
	d, total := s.fds[a.fd(0)], uint32(0)
	switch {
	case d == nil || !d.read:
		return eBADF
	case d.node.kind == dir:
		return eISDIR
	}
	e := a.buffers(1, 2, func(b []byte) bool {
		n := s.readAt(d.node, s.offset(d), b)
		s.setOffset(d, s.offset(d)+uint64(n))
		total += uint32(n)
		return n == len(b)
	})
	if e != 0 {
		return e
	}
	return a.put32(a.ptr(3), total)
}

func (s *System) fdPread(a args) errno {
	d := s.fds[a.fd(0)]
	switch {
	case d == nil || !d.read:
		return eBADF
	case d.node.kind == dir:
		return eISDIR
	}
	at, total := a.u64(3), uint32(0)
	e := a.buffers(1, 2, func(b []byte) bool {
		n := s.readAt(d.node, at, b)
		at += uint64(n)
		total += uint32(n)
		return n == len(b)
	})
	if e != 0 {
		return e
	}
	return a.put32(a.ptr(4), total)
}

func (s *System) fdWrite(a args) errno {
	d, total := s.fds[a.fd(0)], uint32(0)
	if d == nil || !d.write || d.node.kind == dir {
		return eBADF
	}
	var failed errno
	e := a.buffers(1, 2, func(b []byte) bool {
		at := d.at
		if d.append {
			at = uint64(len(d.node.data))
		}
		if failed = s.writeAt(d.node, at, b); failed != 0 {
			return false
		}
		d.at = at + uint64(len(b))
		total += uint32(len(b))
		return true
	})
	if e == 0 && total == 0 {
		e = failed
	}
	if e != 0 {
		return e
	}
	return a.put32(a.ptr(3), total)
}

// writeAt writes to a node at an offset; streams have none.
func (s *System) writeAt(n *node, at uint64, b []byte) errno {
	s.pay(len(b) >> shiftCopied)
	if n.kind != file {
		s.write(n.kind, b)
		return 0
	}
	if at > maxTmpBytes {
		return eNOSPC
	}
	if end := at + uint64(len(b)); end > uint64(len(n.data)) {
		if e := s.resize(n, end); e != 0 {
			return e
		}
	}
	copy(n.data[at:], b)
	n.modified = s.now()
	return 0
}

func (s *System) fdPwrite(a args) errno {
	d := s.fds[a.fd(0)]
	if d == nil || !d.write || d.node.kind != file {
		return eBADF
	}
	at, total := a.u64(3), uint32(0)
	var failed errno
	e := a.buffers(1, 2, func(b []byte) bool {
		if failed = s.writeAt(d.node, at, b); failed != 0 {
			return false
		}
		at += uint64(len(b))
		total += uint32(len(b))
		return true
	})
	if e == 0 && total == 0 {
		e = failed
	}
	if e != 0 {
		return e
	}
	return a.put32(a.ptr(4), total)
}

func (s *System) fdSeek(a args) errno {
	d := s.fds[a.fd(0)]
	if d == nil {
		return eBADF
	}
	if d.node.kind != file && d.node.kind != stdin {
		return eSPIPE
	}
	base := int64(0)
	switch a.u32(2) {
	case 0:
	case 1:
		base = int64(s.offset(d))
	case 2:
		base = int64(s.size(d.node))
	default:
		return eINVAL
	}
	at := base + int64(a.u64(1))
	if at < 0 {
		return eINVAL
	}
	s.setOffset(d, uint64(at))
	return a.put64(a.ptr(3), s.offset(d))
}

func (s *System) fdTell(a args) errno {
	d := s.fds[a.fd(0)]
	switch {
	case d == nil:
		return eBADF
	case d.node.kind != file && d.node.kind != stdin:
		return eSPIPE
	}
	return a.put64(a.ptr(1), s.offset(d))
}

// fdReaddir writes directory entries from a cookie on; a last one may be cut.
func (s *System) fdReaddir(a args) errno {
	d := s.fds[a.fd(0)]
	if d == nil || d.node.kind != dir {
		return eBADF
	}
	buf, ok := a.mem.Read(a.ptr(1), a.u32(2))
	if !ok {
		return eFAULT
	}
	if d.list == nil || a.u64(3) == 0 {
		d.list = append([]string{".", ".."}, s.session.names(d.node)...)
		s.litter(len(d.list) * 64)
		s.pay(len(d.list))
	}
	used := 0
	for i := a.u64(3); i < uint64(len(d.list)) && used < len(buf); i++ {
		name := d.list[i]
		n := d.node
		if i >= 2 {
			if n = s.session.child(d.node, name); n == nil {
				continue // removed since
			}
		}
		s.litter(24 + len(name))
		s.pay(1)
		entry := make([]byte, 24, 24+len(name))
		binary.LittleEndian.PutUint64(entry, i+1)
		binary.LittleEndian.PutUint64(entry[8:], n.inode)
		binary.LittleEndian.PutUint32(entry[16:], uint32(len(name)))
		entry[20] = filetype(n.kind)
		used += copy(buf[used:], append(entry, name...))
	}
	return a.put32(a.ptr(4), uint32(used))
}
