//go:build !purego

package kernels

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// emulator runs the machine code of one AMX kernel, the bytes that the assembler
// put into this test binary, and checks what the processor would not forgive:
// tile shapes, the order of configuration and release, and with regions every byte
// that is read or written.
type emulator struct {
	regs    [16]uint64
	zero    bool // the flag
	ip      uintptr
	entry   uintptr
	ready   bool // tiles are configured
	tiles   [8]emulatedTile
	stack   *[4]uint64
	regions []region // nil: any access
	steps   int
	dots    int // TDPBF16PS done
	fetched int // prefetches done
	flaw    flaw
}

// emulatedTile is a tile register with its shape.
type emulatedTile struct {
	rows, bytes int
	data        [16][tileRow]byte
}

// region is memory that a kernel may use; rows of tiles in an aligned one may not
// cross cache lines.
type region struct {
	name           string
	at, end        uintptr
	write, aligned bool
}

// regionOf is the memory of a slice.
func regionOf[T any](name string, s []T, write, aligned bool) region {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	return region{name, p, p + uintptr(len(s))*unsafe.Sizeof(*new(T)), write, aligned}
}

// amxMachineCode is where the code of a kernel begins. The value of a Go function in
// assembly is a wrapper that takes the argument from a register and calls it.
func amxMachineCode(f func(*tileCall)) (uintptr, error) {
	wrapper := **(**uintptr)(unsafe.Pointer(&f))
	name := runtime.FuncForPC(wrapper).Name()
	for at := wrapper; at < wrapper+64; at++ {
		code := codeAt(at, 5)
		if code[0] != 0xe8 {
			continue
		}
		d := x86decoder{code: code[1:]}
		target := at + 5 + uintptr(d.signed(4))
		if fn := runtime.FuncForPC(target); fn != nil && fn.Entry() == target && strings.HasPrefix(fn.Name(), name) {
			return target, nil
		}
	}
	return 0, fmt.Errorf("the wrapper of %s calls no assembly", name)
}

// codeAt is n bytes of this program's code.
func codeAt(at uintptr, n int) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), n)
}

// emulatedStacks are never on a goroutine's stack, which moves when it grows.
var emulatedStacks = sync.Pool{New: func() any { return new([4]uint64) }}

const (
	returnAddress = 0xbadc0de // of the kernel; never executed
	x86SP         = 4
	x86BP         = 5
	x86G          = 14
)

// run executes the kernel at entry until it returns. What c points to must not be
// on a goroutine's stack.
func (e *emulator) run(entry uintptr, c *tileCall) error {
	e.entry, e.ip, e.stack = entry, entry, emulatedStacks.Get().(*[4]uint64)
	defer emulatedStacks.Put(e.stack)
	e.stack[0], e.stack[1] = returnAddress, uint64(uintptr(unsafe.Pointer(c)))
	sp := uint64(uintptr(unsafe.Pointer(e.stack)))
	for i := range e.regs {
		e.regs[i] = 0xdead0000 + uint64(i) // nothing may depend on it
	}
	e.regs[x86SP] = sp
	if e.regions != nil {
		e.regions = append(e.regions, regionOf("stack", e.stack[:], false, false),
			regionOf("call", unsafe.Slice(c, 1), false, false), regionOf("config", c.config[:], false, false))
	}
	const most = 1 << 24
	for ; e.steps < most; e.steps++ {
		i, err := decodeX86(codeAt(e.ip, 15))
		if err != nil {
			return fmt.Errorf("%s+%#x: %w", runtime.FuncForPC(entry).Name(), e.ip-entry, err)
		}
		at := e.ip - entry
		e.ip += uintptr(i.length)
		if err := e.execute(i); err != nil {
			return fmt.Errorf("%s+%#x: %v: %w", runtime.FuncForPC(entry).Name(), at, i, err)
		}
		if i.op == opReturn {
			break
		}
	}
	switch {
	case e.steps == most:
		return fmt.Errorf("no return after %d instructions", most)
	case e.ip != returnAddress || e.regs[x86SP] != sp+8:
		return fmt.Errorf("returns to %#x with the stack moved by %d", e.ip, e.regs[x86SP]-sp)
	case e.regs[x86BP] != 0xdead0000+x86BP || e.regs[x86G] != 0xdead0000+x86G:
		return fmt.Errorf("frame pointer or goroutine register is overwritten")
	case e.ready:
		return fmt.Errorf("returns without TILERELEASE")
	}
	return nil
}

// execute runs one instruction.
func (e *emulator) execute(i x86instruction) error {
	switch i.op {
	case opNop:
		return nil
	case opPrefetch: // may point anywhere
		e.fetched++
		return nil
	case opJump, opJumpZero, opJumpNotZero:
		if i.op == opJump || e.zero == (i.op == opJumpZero) {
			e.ip += uintptr(i.immediate)
			if f := runtime.FuncForPC(e.ip); f == nil || f.Entry() != e.entry {
				return fmt.Errorf("jumps out of the kernel")
			}
		}
		return nil
	case opReturn:
		v, err := e.word(uintptr(e.regs[x86SP]))
		e.ip = uintptr(v)
		e.regs[x86SP] += 8
		return err
	case opMove, opMoveImmediate, opAdd, opAddImmediate, opTest, opDecrement:
		return e.integer(i)
	}
	return e.tile(i)
}

// integer runs an instruction on general registers.
func (e *emulator) integer(i x86instruction) error {
	source, to := uint64(0), &e.regs[i.place.reg]
	switch {
	case i.op == opMoveImmediate || i.op == opAddImmediate:
		source = uint64(i.immediate)
	case i.toPlace || i.op == opTest:
		source = e.regs[i.reg]
	default:
		to = &e.regs[i.reg]
		source = e.regs[i.place.reg]
		if i.place.memory {
			var err error
			if source, err = e.word(e.address(i.place)); err != nil {
				return err
			}
		}
	}
	if i.place.memory && (i.toPlace || i.op != opMove && i.op != opAdd) {
		return fmt.Errorf("general registers are stored")
	}
	switch i.op {
	case opMove, opMoveImmediate:
		*to = source
	case opAdd, opAddImmediate:
		*to += source
		e.zero = *to == 0
	case opTest:
		e.zero = source&*to == 0
	case opDecrement:
		e.regs[i.place.reg]--
		e.zero = e.regs[i.place.reg] == 0
	}
	return nil
}

// address is what a memory operand points to.
func (e *emulator) address(p x86place) uintptr {
	return uintptr(e.regs[p.base] + uint64(p.disp))
}

// word reads 8 bytes.
func (e *emulator) word(at uintptr) (uint64, error) {
	b, err := e.access(at, 8, false)
	if err != nil {
		return 0, err
	}
	return *(*uint64)(unsafe.Pointer(&b[0])), nil
}

// access returns n bytes of memory if the kernel may use them.
func (e *emulator) access(at uintptr, n int, write bool) ([]byte, error) {
	end := at + uintptr(n)
	for _, r := range e.regions {
		if r.at <= at && end <= r.end {
			switch {
			case write && !r.write:
				return nil, fmt.Errorf("writes to %s", r.name)
			case r.aligned && at&^63 != (end-1)&^63:
				return nil, fmt.Errorf("%d bytes at %#x of %s cross a cache line", n, at-r.at, r.name)
			}
			return codeAt(at, n), nil
		}
	}
	if e.regions != nil {
		return nil, fmt.Errorf("%d bytes at %#x are outside of %s", n, at, e.where(at))
	}
	return codeAt(at, n), nil
}

// where names the region next to an address.
func (e *emulator) where(at uintptr) string {
	name, best := "all memory", uintptr(math.MaxInt64)
	for _, r := range e.regions {
		for _, edge := range [2]uintptr{r.at, r.end} {
			if d := max(edge, at) - min(edge, at); d < best {
				name, best = fmt.Sprintf("%s (%d bytes from its edge)", r.name, d), d
			}
		}
	}
	return name
}
