//go:build linux && !troupe_fallback

package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"troupe/internal/reexec"
)

// probes are what a worker taken over by its guest might try. Each returns nil
// if it got through.
var probes = map[string]func() error{
	"read a file":     func() error { _, err := os.ReadFile("/etc/hostname"); return err },
	"list a folder":   func() error { _, err := os.ReadDir("/"); return err },
	"write a file":    func() error { return os.WriteFile("/tmp/troupe-probe", nil, 0o600) },
	"open a socket":   func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err },
	"unix socket":     func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"start a process": func() error { return exec.Command("/bin/true").Run() },
	"fork": func() error {
		_, _, e := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0)
		return errnoOrNil(e)
	},
	"kill the parent":  func() error { return unix.Kill(os.Getppid(), 0) },
	"trace the parent": func() error { return unix.PtraceAttach(os.Getppid()) },
	"executable memory": func() error {
		_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
		return err
	},
	"io_uring":            func() error { _, _, e := syscall.RawSyscall(unix.SYS_IO_URING_SETUP, 1, 0, 0); return errnoOrNil(e) },
	"read other memory":   func() error { _, err := unix.ProcessVMReadv(os.Getppid(), nil, nil, 0); return err },
	"change a limit":      func() error { return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1000, Max: 1000}) },
	"mount":               func() error { return unix.Mount("x", "/tmp", "tmpfs", 0, "") },
	"new namespace":       func() error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"change identity":     func() error { return unix.Setuid(12345) },
	"memory file":         func() error { _, err := unix.MemfdCreate("x", 0); return err },
	"user fault handling": func() error { _, _, e := syscall.RawSyscall(unix.SYS_USERFAULTFD, 0, 0, 0); return errnoOrNil(e) },
}

func errnoOrNil(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func init() {
	reexec.Register("harden-probe", func(args []string) int {
		if missing := harden(); len(missing) > 0 {
			fmt.Println("missing:", missing)
			return 0
		}
		if err := probes[args[0]](); err != nil {
			fmt.Println("refused:", err)
			return 0
		}
		fmt.Println("got through")
		return 0
	})
}

func TestAHardenedProcessReachesNothing(t *testing.T) {
	for name := range probes {
		cmd, err := reexec.Command(t.Context(), "harden-probe", name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.Output()
		if strings.Contains(string(out), "missing:") {
			t.Skipf("this kernel lacks some hardening: %s", out)
		}
		if strings.Contains(string(out), "got through") {
			t.Errorf("%s: %s", name, out)
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); err != nil && (!ok || !status.Signaled() || status.Signal() != syscall.SIGSYS) {
			t.Errorf("%s: ended by %v instead of SIGSYS", name, err)
		}
	}
}
