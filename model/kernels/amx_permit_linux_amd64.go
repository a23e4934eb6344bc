//go:build !purego

package kernels

import (
	"syscall"
	"unsafe"
)

// Codes of arch_prctl.
const (
	archGetPermission = 0x1022
	archReqPermission = 0x1023
)

// request holds for all threads of the process, present and later ones.
func (amxHardware) request() error {
	if _, _, e := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, archReqPermission, tileData, 0); e != 0 {
		return e
	}
	return nil
}

func (amxHardware) permitted() (mask uint64, err error) {
	if _, _, e := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, archGetPermission, uintptr(unsafe.Pointer(&mask)), 0); e != 0 {
		return 0, e
	}
	return mask, nil
}
