// Package wasi is a WASI preview 1 of our own, as much of it as the sandbox's
// guests need: a read-only tree of files in memory with a small writable /tmp,
// standard streams with caps, a clock that follows the fuel, seeded randomness.
// There is nothing of the host in it: no socket, no process, no path, no
// environment. All state belongs to one run and goes away with it.
package wasi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
)

// The reasons for which the host ends a run from inside a call; they come out
// of the guest call as errors.
var (
	// ErrOutput means that standard output went over its cap.
	ErrOutput = errors.New("output limit exceeded")
	// ErrFrozen means that the guest asked to be frozen and stands still.
	ErrFrozen = errors.New("guest is frozen")
	// ErrReport means that a channel to the host went over its cap.
	ErrReport = errors.New("report limit exceeded")
)

// ExitError means that the guest called proc_exit.
type ExitError struct{ Code uint32 }

func (e *ExitError) Error() string { return fmt.Sprintf("guest exited with code %d", e.Code) }

// The channels through which a prepared guest talks to the host: descriptors
// that it opens by these paths before it is frozen, and keeps. No
// path leads to them afterwards, and they give nothing unless the host feeds
// them. (They must be opened, not merely be there: the guest's C library has a
// table of what it opened.)
const (
	JobPath    = "/dev/job"    // what the host tells the guest
	ReportPath = "/dev/report" // what the guest's harness reports
	NotePath   = "/dev/note"   // how a program ended; the last write counts
	SleepPath  = "/dev/sleep"  // nanoseconds in decimal; some C libraries can't sleep
)

var channels = map[string]*node{JobPath: {kind: job}, ReportPath: {kind: report}, NotePath: {kind: note}, SleepPath: {kind: sleep}}

// Config is what one run starts with.
type Config struct {
	Args      []string
	Stdin     []byte
	MaxOutput int
	Seed      uint64
	// Elapsed gives the virtual nanoseconds since the run began, Spend makes the
	// guest pay for them when it sleeps.
	Elapsed func() int64
	Spend   func(nanoseconds int64)
	// Pay makes the guest pay for what the host does for it.
	Pay   func(ticks int64)
	Files map[string][]byte // put into /tmp
	// Freeze lets the guest open the channels and ends the call with ErrFrozen
	// when it reads the clock after a report.
	Freeze bool
	// Open is what Descriptors told of the frozen guest: the channels that are
	// open from the beginning.
	Open map[int32]string
}

// System is the state of one guest.
type System struct {
	fs      *FS
	cfg     Config
	session *session
	fds     map[int32]*descriptor
	rng     *rand.ChaCha8
	ticks   int64 // clock reads, so that time never stands still
	garbage int   // bytes of Go's heap that calls used up since the last collection

	stdin  int // read so far
	stdout []byte
	stderr []byte
	job    []byte
	report []byte
	note   []byte
}

// descriptor is an open file.
type descriptor struct {
	node    *node
	at      uint64
	read    bool
	write   bool
	append  bool
	preopen bool
	list    []string // of a folder, fixed when reading begins
}

const (
	maxDescriptors = 128
	maxStderr      = 64 << 10 // kept; of more, the tail
	maxReport      = 64 << 20
	maxNote        = 64 << 10
)

// NewSystem returns a system on a tree of files. Reset it before use.
func NewSystem(fs *FS) *System { return &System{fs: fs} }

// Reset begins a run: everything is as new.
func (s *System) Reset(cfg Config) {
	*s = System{fs: s.fs, cfg: cfg, session: s.fs.session(), stdout: s.stdout[:0], garbage: s.garbage}
	if cap(s.stdout) > 1<<20 {
		s.stdout = nil // not kept through runs that print little
	}
	s.fds = map[int32]*descriptor{
		0: {node: s.fs.root.children["dev"].children["stdin"], read: true},
		1: {node: s.fs.root.children["dev"].children["stdout"], write: true},
		2: {node: s.fs.root.children["dev"].children["stderr"], write: true},
		3: {node: s.fs.root, preopen: true, read: true},
	}
	for fd, path := range cfg.Open {
		n := channels[path]
		s.fds[fd] = &descriptor{node: n, read: n.kind == job, write: n.kind != job}
	}
	for name, data := range cfg.Files {
		if n, e := s.session.make(s.session.tmp, name, file, 0); e == 0 {
			n.data = slices.Clone(data)
			s.session.bytes += len(data)
		}
	}
}

// Tell queues bytes for the guest to read from its job channel, replacing what was left.
func (s *System) Tell(b []byte) { s.job = b }

// Stdout is what the guest printed; valid until the next Reset.
func (s *System) Stdout() []byte { return s.stdout }

// Stderr is the tail of what the guest wrote to standard error.
func (s *System) Stderr() []byte { return s.stderr[max(0, len(s.stderr)-maxStderr):] }

// Report is what the guest reported to the host so far; it is taken.
func (s *System) Report() []byte {
	r := s.report
	s.report = nil
	return r
}

// Note is the last note of the guest.
func (s *System) Note() []byte { return s.note }

// Descriptors lists the channels that the guest has open. Everything else a
// frozen guest may have open is an error: it would be lost by a Reset.
func (s *System) Descriptors() (map[int32]string, error) {
	open := map[int32]string{}
	for fd, d := range s.fds {
		if fd <= 3 {
			continue
		}
		for path, n := range channels {
			if n == d.node {
				open[fd] = path
			}
		}
		if open[fd] == "" {
			return nil, fmt.Errorf("descriptor %d was left open", fd)
		}
	}
	if len(open) != len(channels) {
		return nil, fmt.Errorf("%d of %d channels are open", len(open), len(channels))
	}
	return open, nil
}

// epoch is when every run begins: 2026-01-01 00:00:00 UTC.
const epoch = 1767225600 * 1e9

// now is the virtual time since the run began.
func (s *System) now() int64 {
	s.ticks++
	if s.cfg.Elapsed == nil {
		return s.ticks * 1000
	}
	return s.cfg.Elapsed() + s.ticks
}

// What the host's work costs in ticks, about as long as the guest's own would
// take: a call, bytes copied, bytes made up or taken from the system.
const (
	priceCall   = 50
	shiftCopied = 5
	shiftMade   = 3
)

func (s *System) pay(ticks int) {
	if s.cfg.Pay != nil {
		s.cfg.Pay(int64(ticks))
	}
}

// maxGarbage is after how many bytes a call collects. The worker's collector is
// off while a guest runs, because it would wait for the guest; in a call it need
// not wait.
const maxGarbage = 32 << 20

func (s *System) litter(bytes int) {
	if s.garbage += bytes; s.garbage > maxGarbage {
		s.garbage = 0
		runtime.GC()
	}
}

// fill gives random bytes, the same ones for the same seed.
func (s *System) fill(b []byte) {
	if s.rng == nil {
		var key [32]byte
		binary.LittleEndian.PutUint64(key[:], s.cfg.Seed)
		copy(key[8:], "troupe guest randomness")
		s.rng = rand.NewChaCha8(key)
	}
	s.pay(len(b) >> shiftMade)
	s.rng.Read(b)
}

// write appends to an output.
func (s *System) write(k kind, b []byte) {
	switch k {
	case stdout:
		if room := s.cfg.MaxOutput - len(s.stdout); len(b) > room {
			s.stdout = append(s.stdout, b[:room]...)
			panic(ErrOutput)
		}
		s.stdout = append(s.stdout, b...)
	case stderr:
		if len(b) > maxStderr {
			b = b[len(b)-maxStderr:]
		}
		if len(s.stderr)+len(b) > 2*maxStderr {
			keep := s.stderr[len(s.stderr)-maxStderr:]
			s.stderr = s.stderr[:copy(s.stderr, keep)]
		}
		s.stderr = append(s.stderr, b...)
	case sleep:
		if ns, err := strconv.ParseInt(string(b), 10, 64); err == nil && ns > 0 && s.cfg.Spend != nil {
			s.cfg.Spend(ns)
		}
	case note:
		s.note = append(s.note[:0], b[:min(len(b), maxNote)]...)
	case report:
		if len(s.report)+len(b) > maxReport {
			panic(ErrReport)
		}
		s.report = append(s.report, b...)
	}
}

// lowest is the smallest free descriptor number.
func (s *System) lowest() (int32, errno) {
	if len(s.fds) >= maxDescriptors {
		return 0, eMFILE
	}
	for n := int32(0); ; n++ {
		if s.fds[n] == nil {
			return n, 0
		}
	}
}
