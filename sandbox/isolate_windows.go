package sandbox

import (
	"os/exec"
	"syscall"
)

// isolate puts a worker into a process group of its own, so that Ctrl-C reaches
// the parent alone.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
