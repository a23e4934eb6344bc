package wasi

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const moduleName = "wasi_snapshot_preview1"

// args are the parameters of one call.
type args struct {
	mem api.Memory
	v   []uint64
}

func (a args) u32(i int) uint32   { return uint32(a.v[i]) }
func (a args) fd(i int) int32     { return int32(uint32(a.v[i])) }
func (a args) ptr(i int) uint32   { return uint32(a.v[i]) }
func (a args) u64(i int) uint64   { return a.v[i] }
func (a args) flags(i int) uint32 { return uint32(a.v[i]) }

// text reads a path given by pointer and length.
func (s *System) text(a args, ptr, length int) (string, errno) {
	s.litter(pathGarbage + 20*int(min(a.u32(length), maxPath)))
	if a.u32(length) > maxPath {
		return "", eNAMETOOLONG
	}
	b, ok := a.mem.Read(a.u32(ptr), a.u32(length))
	if !ok {
		return "", eFAULT
	}
	return string(b), 0
}

// pathGarbage is about what resolving a path leaves behind, beside its parts.
const pathGarbage = 500

func (a args) put32(at uint32, v uint32) errno {
	if !a.mem.WriteUint32Le(at, v) {
		return eFAULT
	}
	return 0
}

func (a args) put64(at uint32, v uint64) errno {
	if !a.mem.WriteUint64Le(at, v) {
		return eFAULT
	}
	return 0
}

// buffers reads a list of (pointer, length) and calls f for each, until it
// says stop.
func (a args) buffers(list, count int, f func(b []byte) (more bool)) errno {
	at, n := a.u32(list), a.u32(count)
	if n > 1024 {
		return eINVAL
	}
	for i := range n {
		p, ok1 := a.mem.ReadUint32Le(at + 8*i)
		l, ok2 := a.mem.ReadUint32Le(at + 8*i + 4)
		b, ok3 := a.mem.Read(p, l)
		if !ok1 || !ok2 || !ok3 {
			return eFAULT
		}
		if !f(b) {
			break
		}
	}
	return 0
}

// signature letters: i is i32, I is i64; every function but proc_exit returns
// an errno.
type call struct {
	params string
	do     func(*System, args) errno
}

// unsupported stands for what no guest gets.
func unsupported(*System, args) errno { return eNOTSUP }
func succeed(*System, args) errno     { return 0 }

var calls = map[string]call{
	"args_get":                {"ii", (*System).argsGet},
	"args_sizes_get":          {"ii", (*System).argsSizesGet},
	"environ_get":             {"ii", succeed},
	"environ_sizes_get":       {"ii", (*System).environSizesGet},
	"clock_res_get":           {"ii", (*System).clockResGet},
	"clock_time_get":          {"iIi", (*System).clockTimeGet},
	"fd_advise":               {"iIIi", succeed},
	"fd_allocate":             {"iII", (*System).fdAllocate},
	"fd_close":                {"i", (*System).fdClose},
	"fd_datasync":             {"i", succeed},
	"fd_fdstat_get":           {"ii", (*System).fdFdstatGet},
	"fd_fdstat_set_flags":     {"ii", (*System).fdFdstatSetFlags},
	"fd_fdstat_set_rights":    {"iII", succeed},
	"fd_filestat_get":         {"ii", (*System).fdFilestatGet},
	"fd_filestat_set_size":    {"iI", (*System).fdFilestatSetSize},
	"fd_filestat_set_times":   {"iIIi", succeed},
	"fd_pread":                {"iiiIi", (*System).fdPread},
	"fd_prestat_get":          {"ii", (*System).fdPrestatGet},
	"fd_prestat_dir_name":     {"iii", (*System).fdPrestatDirName},
	"fd_pwrite":               {"iiiIi", (*System).fdPwrite},
	"fd_read":                 {"iiii", (*System).fdRead},
	"fd_readdir":              {"iiiIi", (*System).fdReaddir},
	"fd_renumber":             {"ii", (*System).fdRenumber},
	"fd_seek":                 {"iIii", (*System).fdSeek},
	"fd_sync":                 {"i", succeed},
	"fd_tell":                 {"ii", (*System).fdTell},
	"fd_write":                {"iiii", (*System).fdWrite},
	"path_create_directory":   {"iii", (*System).pathCreateDirectory},
	"path_filestat_get":       {"iiiii", (*System).pathFilestatGet},
	"path_filestat_set_times": {"iiiiIIi", succeed},
	"path_link":               {"iiiiiii", unsupported},
	"path_open":               {"iiiiiIIii", (*System).pathOpen},
	"path_readlink":           {"iiiiii", (*System).pathReadlink},
	"path_remove_directory":   {"iii", (*System).pathRemoveDirectory},
	"path_rename":             {"iiiiii", (*System).pathRename},
	"path_symlink":            {"iiiii", unsupported},
	"path_unlink_file":        {"iii", (*System).pathUnlinkFile},
	"poll_oneoff":             {"iiii", (*System).pollOneoff},
	"proc_raise":              {"i", unsupported},
	"sched_yield":             {"", succeed},
	"random_get":              {"ii", (*System).randomGet},
	"sock_accept":             {"iii", unsupported},
	"sock_recv":               {"iiiiii", unsupported},
	"sock_send":               {"iiiii", unsupported},
	"sock_shutdown":           {"ii", unsupported},
}

// Instantiate puts the functions of preview 1 into a runtime, all of them
// working on s.
func Instantiate(ctx context.Context, rt wazero.Runtime, s *System) error {
	b := rt.NewHostModuleBuilder(moduleName)
	for name, c := range calls {
		params := make([]api.ValueType, len(c.params))
		for i, p := range c.params {
			params[i] = api.ValueTypeI32
			if p == 'I' {
				params[i] = api.ValueTypeI64
			}
		}
		f := api.GoModuleFunc(func(_ context.Context, m api.Module, stack []uint64) {
			s.pay(priceCall)
			stack[0] = uint64(c.do(s, args{m.Memory(), stack}))
		})
		b.NewFunctionBuilder().WithGoModuleFunction(f, params, []api.ValueType{api.ValueTypeI32}).Export(name)
	}
	exit := api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
		panic(&ExitError{uint32(stack[0])})
	})
	b.NewFunctionBuilder().WithGoModuleFunction(exit, []api.ValueType{api.ValueTypeI32}, nil).Export("proc_exit")
	_, err := b.Instantiate(ctx)
	return err
}

func (s *System) argsSizesGet(a args) errno {
	n := 0
	for _, v := range s.cfg.Args {
		n += len(v) + 1
	}
	if e := a.put32(a.ptr(0), uint32(len(s.cfg.Args))); e != 0 {
		return e
	}
	return a.put32(a.ptr(1), uint32(n))
}

func (s *System) argsGet(a args) errno {
	list, text := a.ptr(0), a.ptr(1)
	for i, v := range s.cfg.Args {
		if e := a.put32(list+4*uint32(i), text); e != 0 {
			return e
		}
		if !a.mem.WriteString(text, v+"\x00") {
			return eFAULT
		}
		text += uint32(len(v)) + 1
	}
	return 0
}

func (s *System) environSizesGet(a args) errno {
	if e := a.put32(a.ptr(0), 0); e != 0 {
		return e
	}
	return a.put32(a.ptr(1), 0)
}

func (s *System) clockResGet(a args) errno { return a.put64(a.ptr(1), 1000) }

// clockTimeGet knows the wall clock (0) and clocks that begin with the run.
func (s *System) clockTimeGet(a args) errno {
	if s.cfg.Freeze && len(s.report) > 0 {
		panic(ErrFrozen)
	}
	t := s.now()
	switch a.u32(0) {
	case 0:
		t += epoch
	case 1:
		t += 1e9 // a monotonic clock that starts at 0 surprises programs
	case 2, 3:
	default:
		return eINVAL
	}
	return a.put64(a.ptr(2), uint64(t))
}

func (s *System) randomGet(a args) errno {
	b, ok := a.mem.Read(a.ptr(0), a.u32(1))
	if !ok {
		return eFAULT
	}
	s.fill(b)
	return 0
}

// pollOneoff answers clock subscriptions by letting virtual time pass, and
// says that every descriptor is ready.
func (s *System) pollOneoff(a args) errno {
	in, out, n := a.ptr(0), a.ptr(1), a.u32(2)
	if n == 0 || n > 256 {
		return eINVAL
	}
	sleep, clock := int64(-1), false
	ready := uint32(0)
	event := func(user uint64, typ byte) {
		var b [32]byte
		for i := range 8 {
			b[i] = byte(user >> (8 * i))
		}
		b[10] = typ
		a.mem.Write(out+32*ready, b[:])
		ready++
	}
	for i := range n {
		sub, ok := a.mem.Read(in+48*i, 48)
		if !ok {
			return eFAULT
		}
		user, typ := le64(sub), sub[8]
		if typ != 0 {
			event(user, typ)
			continue
		}
		d := int64(min(le64(sub[24:]), 1<<62))
		if sub[40]&1 != 0 { // absolute
			base := s.now()
			switch sub[16] {
			case 0:
				base += epoch
			case 1:
				base += 1e9
			}
			d = max(d-base, 0)
		}
		if !clock || d < sleep {
			sleep, clock = d, true
		}
	}
	if ready == 0 && clock {
		if s.cfg.Spend != nil {
			s.cfg.Spend(sleep)
		}
		for i := range n {
			sub, _ := a.mem.Read(in+48*i, 48)
			event(le64(sub), 0)
		}
	}
	return a.put32(a.ptr(3), ready)
}

func le64(b []byte) (v uint64) {
	for i := range 8 {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}
