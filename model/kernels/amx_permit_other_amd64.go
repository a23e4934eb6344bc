//go:build !linux && !purego

package kernels

import "errors"

var errNoPermission = errors.New("asking for tiles is only known on Linux")

func (amxHardware) request() error { return errNoPermission }

func (amxHardware) permitted() (uint64, error) { return 0, errNoPermission }
