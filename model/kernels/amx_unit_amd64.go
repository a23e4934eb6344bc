//go:build !purego

package kernels

import (
	"errors"
	"fmt"
	"sync"
)

// tileUnit is all that reaches the AMX hardware and the operating system's leave
// to use it. No tile instruction may run before detectTiles has said yes.
type tileUnit interface {
	cpuid(leaf, sub uint32) (a, b, c, d uint32)
	xgetbv() uint64 // XCR0; only where OSXSAVE is set
	// request asks the operating system for tile data in this process.
	request() error
	// permitted is the mask of the state components that the process may use.
	permitted() (uint64, error)
	run(k tileKernel, c *tileCall)
}

// amxHardware is the processor that runs this process.
type amxHardware struct{}

func (amxHardware) cpuid(leaf, sub uint32) (a, b, c, d uint32) { return cpuid(leaf, sub) }

func (amxHardware) xgetbv() uint64 { return xgetbv() }

func (amxHardware) run(k tileKernel, c *tileCall) { amxKernels[k](c) }

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

func xgetbv() uint64

// State components of XSAVE.
const (
	stateVectors  = 0xe6 // SSE, AVX, and the three of AVX-512
	stateTileConf = 1 << 17
	tileData      = 18
	stateTileData = 1 << tileData
)

// detectTiles tells whether the processor and the operating system offer what the
// kernels need, by feature bits and never by a model number, and then takes the
// permission. The error says what is missing.
func detectTiles(u tileUnit) error {
	if last, _, _, _ := u.cpuid(0, 0); last < 0x1e {
		return errors.New("the processor has no AMX")
	}
	if _, _, c, _ := u.cpuid(1, 0); c&(1<<27) == 0 {
		return errors.New("the operating system has not enabled XSAVE")
	}
	_, _, _, d := u.cpuid(7, 0)
	if d&(1<<24) == 0 || d&(1<<22) == 0 {
		return errors.New("the processor has no AMX tiles of bfloat16")
	}
	if a, _, _, _ := u.cpuid(7, 1); a&(1<<5) == 0 {
		return errors.New("the processor has no AVX-512 BF16, which converts the operands of tiles")
	}
	const need = stateVectors | stateTileConf | stateTileData
	if x := u.xgetbv(); x&need != need {
		return fmt.Errorf("the operating system does not keep tile state (XCR0 is %#x)", x)
	}
	a, b, c, _ := u.cpuid(0x1d, 1) // palette 1: bytes per tile; tiles, bytes per row; rows
	if a>>16 < 1024 || b>>16 < 8 || b&0xffff < tileRow || c&0xffff < 16 {
		return fmt.Errorf("the processor's tiles are too small (palette 1 is %#x %#x %#x)", a, b, c)
	}
	if err := u.request(); err != nil {
		return fmt.Errorf("the operating system refuses tiles: %w", err)
	}
	mask, err := u.permitted()
	if err != nil {
		return fmt.Errorf("the operating system does not tell whether tiles may be used: %w", err)
	}
	if mask&stateTileData == 0 {
		return fmt.Errorf("the operating system did not permit tiles (mask %#x)", mask)
	}
	return nil
}

// theTiles is the machine's tile unit; refused says why it can't be used, nil that
// it was detected, permitted and tested.
var theTiles struct {
	once    sync.Once
	unit    tileUnit
	refused error
}

// AMX returns nil if the AMX kernels are usable here, and otherwise why not: what
// the processor or the operating system lacks, or how the self-test failed.
func AMX() error {
	theTiles.once.Do(func() {
		theTiles.unit = amxHardware{}
		if theTiles.refused = detectTiles(theTiles.unit); theTiles.refused != nil {
			return
		}
		if !usable(avx512) {
			theTiles.refused = errors.New("the AVX-512 kernels are not usable")
			return
		}
		theTiles.refused = testTiles()
	})
	return theTiles.refused
}

func tilesActive() bool { return chosen == amx }
