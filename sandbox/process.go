package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"troupe/internal/reexec"
)

// process is a running worker process as its parent sees it.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errs   tail        // of its standard error
	killed atomic.Bool // by us, at the backstop
	ended  chan struct{}
	once   sync.Once
}

// tail keeps the first lines of what a worker writes to standard error: the
// reason of its death. What follows is a trace of every goroutine.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 600

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[:min(tailBytes-len(t.b), len(p))]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, _, _ := strings.Cut(string(t.b), "\n\n")
	return strings.Join(strings.Fields(s), " ")
}

// startTimeout bounds how long a worker may take to stand ready. Compiling on a
// busy machine takes seconds.
const startTimeout = 3 * time.Minute

// start starts a worker process, hands it preamble, and waits for it to stand
// ready. It returns what hardening the worker lacks.
func start(ctx context.Context, child string, args []string, preamble []byte) (*process, []string, error) {
	// The process outlives ctx, which is that of one call.
	cmd, err := reexec.Command(context.WithoutCancel(ctx), child, args...)
	if err != nil {
		return nil, nil, err
	}
	isolate(cmd)
	p := &process{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &p.errs
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	p.out = bufio.NewReaderSize(out, 64<<10)
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start sandbox worker: %w", err)
	}
	hello, err := p.exchange(ctx, preamble, startTimeout, 1<<20)
	if err != nil {
		p.stop()
		return nil, nil, fmt.Errorf("start sandbox worker: %w", err)
	}
	d := &decoder{b: hello}
	failure, missing := d.str(), d.strs()
	if failure != "" || d.err != nil {
		p.stop()
		return nil, nil, fmt.Errorf("start sandbox worker: %w", errors.Join(errors.New(failure), d.err))
	}
	return p, missing, nil
}

// errBackstop means that a worker was stopped by the wall clock.
var errBackstop = errors.New("stopped by the wall-clock backstop")

// exchange sends a message, if there is one, and waits for the answer. When the
// wall-clock time is over or ctx is done, the worker is killed: a guest can't
// be interrupted in any other way.
func (p *process) exchange(ctx context.Context, request []byte, wall time.Duration, limit int) ([]byte, error) {
	timer := time.AfterFunc(wall, func() {
		p.killed.Store(true)
		p.kill()
	})
	defer timer.Stop()
	defer context.AfterFunc(ctx, p.kill)()
	var answer []byte
	var err error
	if request != nil {
		err = writeFrame(p.in, request)
	}
	if err == nil {
		answer, err = readFrame(p.out, limit)
	}
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.killed.Load():
		return nil, errBackstop
	}
	p.stop()
	return nil, fmt.Errorf("worker died: %w (%v): %s", err, p.cmd.ProcessState, p.errs.String())
}

func (p *process) kill() { p.cmd.Process.Kill() }

// stop kills and reaps the process. It may be called more than once.
func (p *process) stop() {
	p.once.Do(func() {
		p.in.Close()
		p.kill()
		p.cmd.Wait()
		close(p.ended)
	})
	<-p.ended
}
