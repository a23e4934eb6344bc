//go:build linux && !troupe_fallback

package sandbox

import (
	"fmt"
	"os"
	"runtime"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// harden takes from this process, once its guest is compiled and loaded, what a
// worker no longer needs. It is the wall behind the WebAssembly engine, so it
// degrades: what the kernel lacks is returned and logged, the rest stands.
func harden() (missing []string) {
	steps := []struct {
		name string
		do   func() error
	}{
		{"no_new_privs", func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }},
		{"dumpable", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }},
		{"rlimits", limitResources},
		{"landlock", confineFiles},
		{"seccomp", confineCalls},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", s.name, err))
		}
	}
	return missing
}

// limitResources bounds what the process can take from the machine whatever it
// runs. Address space is not bounded: a guest's memory is a reservation of 4
// GiB, of which its own limit decides how much is used.
func limitResources() error {
	for _, l := range []struct {
		what  int
		limit uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_NOFILE, 32},
		{unix.RLIMIT_MEMLOCK, 0},
		{unix.RLIMIT_MSGQUEUE, 0},
	} {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.limit, Max: l.limit}); err != nil {
			return fmt.Errorf("limit %d: %w", l.what, err)
		}
	}
	return nil
}

// confineFiles forbids every path and every TCP port, and signals and abstract
// sockets to the outside. The kernel's version of landlock decides how much of
// it there is; without any that is an error.
func confineFiles() error {
	if _, err := os.Stat("/"); err != nil {
		return err
	}
	if err := landlock.V6.BestEffort().Restrict(); err != nil {
		return err
	}
	if _, err := os.ReadDir("/"); err == nil {
		return fmt.Errorf("the kernel does not enforce it")
	}
	return nil
}

// needed are the system calls of a Go program that reads and writes two pipes
// and maps memory. Everything else ends the process.
var needed = []string{
	"read", "write", "close", "epoll_wait", "epoll_pwait", "epoll_pwait2", "epoll_ctl", "eventfd2", "fcntl",
	"futex", "nanosleep", "clock_nanosleep", "clock_gettime", "gettimeofday", "sched_yield", "sched_getaffinity",
	"munmap", "madvise", "mincore", "brk", "getrandom", "membarrier",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
	"getpid", "getppid", "gettid", "set_robust_list", "rseq", "exit", "exit_group",
	"timer_create", "timer_settime", "timer_delete", "setitimer", "prlimit64", "getrusage", "arch_prctl",
}

// confineCalls installs the allow list on all threads. Memory can't be made
// executable any more, threads can be started but processes can't, and signals
// reach this process only.
func confineCalls() error {
	conditions := []seccomp.NameWithConditions{
		{Name: "mmap", Conditions: seccomp.ArgumentConditions{{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}}},
		{Name: "mprotect", Conditions: seccomp.ArgumentConditions{{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}}},
		{Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD}}},
		{Name: "tgkill", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: uint64(os.Getpid())}}},
		{Name: "prctl", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: unix.PR_SET_VMA}}},
	}
	policy := seccomp.Policy{
		DefaultAction: refused,
		Syscalls: []seccomp.SyscallGroup{
			// clone3 takes its flags by pointer, where a filter can't see them; told
			// that there is no such call, callers use clone.
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
			{Action: seccomp.ActionAllow, Names: known(needed), NamesWithCondtions: conditions},
		},
	}
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: policy})
}

// known leaves out calls that this architecture does not have.
func known(names []string) []string {
	if runtime.GOARCH == "amd64" {
		return names
	}
	var have []string
	for _, n := range names {
		switch n {
		case "epoll_wait", "arch_prctl":
		default:
			have = append(have, n)
		}
	}
	return have
}
