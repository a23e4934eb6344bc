//go:build !purego

package kernels

import "fmt"

// A decoder of the machine code that the AMX kernels consist of, and of nothing
// else: what it does not know is an error.

// x86op is an operation of the emulator.
type x86op int

const (
	opNop x86op = iota
	opMove
	opMoveImmediate
	opAdd
	opAddImmediate
	opTest
	opDecrement
	opJump
	opJumpZero
	opJumpNotZero
	opReturn
	opPrefetch
	opLdtilecfg
	opTilerelease
	opTilezero
	opTileload
	opTileloadT1
	opTilestored
	opTdpbf16ps
)

// x86place is an operand in a register, or in memory at disp(base)(index*1).
type x86place struct {
	memory      bool
	reg         int
	base, index int // -1: no index
	disp        int64
}

var x86names = [16]string{"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}

func (p x86place) String() string {
	s := ""
	if p.disp != 0 {
		s = fmt.Sprint(p.disp)
	}
	s += "(" + x86names[p.base] + ")"
	if p.index >= 0 {
		s += "(" + x86names[p.index] + "*1)"
	}
	return s
}

// x86instruction is one decoded instruction. reg and place are the two operands
// of ModRM, third is the one that VEX adds.
type x86instruction struct {
	op        x86op
	reg       int
	place     x86place
	third     int
	immediate int64 // also the distance of a jump
	toPlace   bool  // place is the destination
	length    int
}

// String is the text of an AMX instruction in the operand order of Go's assembler.
func (i x86instruction) String() string {
	switch i.op {
	case opLdtilecfg:
		return fmt.Sprintf("LDTILECFG %v", i.place)
	case opTilerelease:
		return "TILERELEASE"
	case opTilezero:
		return fmt.Sprintf("TILEZERO TMM%d", i.reg)
	case opTileload:
		return fmt.Sprintf("TILELOADD %v, TMM%d", i.place, i.reg)
	case opTileloadT1:
		return fmt.Sprintf("TILELOADDT1 %v, TMM%d", i.place, i.reg)
	case opTilestored:
		return fmt.Sprintf("TILESTORED TMM%d, %v", i.reg, i.place)
	case opTdpbf16ps:
		return fmt.Sprintf("TDPBF16PS TMM%d, TMM%d, TMM%d", i.third, i.place.reg, i.reg)
	}
	return fmt.Sprintf("operation %d", i.op)
}

// x86decoder reads one instruction.
type x86decoder struct {
	code []byte
	at   int
	// bits of REX or VEX: register extensions
	r, x, b int
	wide    bool
}

// errShort is raised by next and turned into an error by decode.
type errShort struct{}

func (d *x86decoder) next() byte {
	if d.at >= len(d.code) {
		panic(errShort{})
	}
	d.at++
	return d.code[d.at-1]
}

// signed reads a little-endian number of n bytes.
func (d *x86decoder) signed(n int) int64 {
	var v uint64
	for i := range n {
		v |= uint64(d.next()) << (8 * i)
	}
	return int64(v<<(64-8*n)) >> (64 - 8*n)
}

// modrm reads the register and the register or memory operand.
func (d *x86decoder) modrm() (reg int, p x86place, err error) {
	m := int(d.next())
	reg, p = m>>3&7|d.r<<3, x86place{index: -1}
	mod, rm := m>>6, m&7
	if mod == 3 {
		p.reg = rm | d.b<<3
		return reg, p, nil
	}
	p.memory, p.base = true, rm|d.b<<3
	if rm == 4 {
		sib := int(d.next())
		p.base = sib&7 | d.b<<3
		if index := sib>>3&7 | d.x<<3; index != 4 {
			p.index = index
		}
		if sib>>6 != 0 {
			return 0, p, fmt.Errorf("scale %d", 1<<(sib>>6))
		}
	}
	switch {
	case mod == 0 && p.base&7 == 5:
		return 0, p, fmt.Errorf("no base register")
	case mod == 1:
		p.disp = d.signed(1)
	case mod == 2:
		p.disp = d.signed(4)
	}
	return reg, p, nil
}

// decodeX86 decodes the instruction at the start of code.
func decodeX86(code []byte) (i x86instruction, err error) {
	d := &x86decoder{code: code}
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(errShort); !ok {
				panic(p)
			}
			err = fmt.Errorf("% x: code ends inside an instruction", code)
		}
	}()
	first := d.next()
	for first == 0x66 { // of nothing but long no-operations
		first = d.next()
		if first != 0x66 && first != 0x0f && first != 0x90 {
			return i, fmt.Errorf("prefix 66 before % x", code[:d.at])
		}
	}
	if first == 0xc4 {
		err = d.vex(&i)
	} else {
		if first&0xf0 == 0x40 {
			d.wide, d.r, d.x, d.b = first&8 != 0, int(first>>2&1), int(first>>1&1), int(first&1)
			first = d.next()
		}
		err = d.integer(&i, first)
	}
	i.length = d.at
	if err != nil {
		err = fmt.Errorf("% x: %w", code[:d.at], err)
	}
	return i, err
}

// integer decodes what is neither VEX nor EVEX.
func (d *x86decoder) integer(i *x86instruction, opcode byte) (err error) {
	needWide := true
	switch {
	case opcode == 0x8b || opcode == 0x89:
		i.op, i.toPlace = opMove, opcode == 0x89
		i.reg, i.place, err = d.modrm()
	case opcode == 0x03 || opcode == 0x01:
		i.op, i.toPlace = opAdd, opcode == 0x01
		i.reg, i.place, err = d.modrm()
	case opcode == 0x85:
		i.op = opTest
		i.reg, i.place, err = d.modrm()
	case opcode == 0x81 || opcode == 0x83:
		err = d.arithmetic(i, map[byte]int{0x81: 4, 0x83: 1}[opcode])
	case opcode == 0xff:
		i.op = opDecrement
		var kind int
		if kind, i.place, err = d.modrm(); err == nil && kind&7 != 1 {
			err = fmt.Errorf("operation %d of group ff", kind&7)
		}
	case opcode == 0xc7:
		i.op = opMoveImmediate
		_, i.place, err = d.modrm()
		i.immediate = d.signed(4)
	case opcode&0xf8 == 0xb8 && !d.wide: // clears the upper half
		i.op, needWide = opMoveImmediate, false
		i.place.reg = int(opcode&7) | d.b<<3
		i.immediate = int64(uint32(d.signed(4)))
	case opcode == 0x0f:
		needWide = false
		err = d.twoByte(i)
	case opcode == 0x90:
		needWide = false
	case opcode == 0xc3:
		i.op, needWide = opReturn, false
	case opcode == 0xeb || opcode == 0xe9:
		i.op, i.immediate, needWide = opJump, d.signed(map[byte]int{0xeb: 1, 0xe9: 4}[opcode]), false
	case opcode == 0x74 || opcode == 0x75:
		i.op, i.immediate, needWide = map[byte]x86op{0x74: opJumpZero, 0x75: opJumpNotZero}[opcode], d.signed(1), false
	default:
		return fmt.Errorf("opcode %#x is not known", opcode)
	}
	if err == nil && needWide && !d.wide {
		err = fmt.Errorf("opcode %#x is not on 64 bits", opcode)
	}
	return err
}

// arithmetic decodes an addition, or a subtraction, of a constant.
func (d *x86decoder) arithmetic(i *x86instruction, size int) error {
	kind, p, err := d.modrm()
	if err != nil {
		return err
	}
	i.op, i.place, i.immediate = opAddImmediate, p, d.signed(size)
	switch kind & 7 {
	case 0:
	case 5:
		i.immediate = -i.immediate
	default:
		return fmt.Errorf("operation %d with a constant", kind&7)
	}
	return nil
}

func (d *x86decoder) twoByte(i *x86instruction) (err error) {
	switch opcode := d.next(); opcode {
	case 0x18:
		i.op = opPrefetch
		i.reg, i.place, err = d.modrm()
	case 0x1f:
		_, i.place, err = d.modrm()
	case 0x84, 0x85:
		i.op, i.immediate = opJumpZero+x86op(opcode-0x84), d.signed(4)
	default:
		err = fmt.Errorf("opcode 0f %x is not known", opcode)
	}
	return err
}

// vex decodes an instruction of AMX: VEX of three bytes, map 0F38, W and L zero.
func (d *x86decoder) vex(i *x86instruction) error {
	p0, p1, opcode := d.next(), d.next(), d.next()
	d.r, d.x, d.b = int(^p0>>7&1), int(^p0>>6&1), int(^p0>>5&1)
	if p0&31 != 2 || p1&0x84 != 0 {
		return fmt.Errorf("map %d, W and L %#x", p0&31, p1&0x84)
	}
	i.third = int(^p1 >> 3 & 15)
	reg, place, err := d.modrm()
	if err != nil {
		return err
	}
	i.reg, i.place = reg, place
	type key struct{ opcode, prefix byte }
	const none, p66, pf3, pf2 = 0, 1, 2, 3
	memory := map[key]x86op{{0x49, none}: opLdtilecfg, {0x4b, pf2}: opTileload, {0x4b, p66}: opTileloadT1, {0x4b, pf3}: opTilestored}
	registers := map[key]x86op{{0x49, none}: opTilerelease, {0x49, pf2}: opTilezero, {0x5c, pf3}: opTdpbf16ps}
	table := registers
	if place.memory {
		table = memory
	}
	op, ok := table[key{opcode, p1 & 3}]
	i.op = op
	switch {
	case !ok:
		return fmt.Errorf("VEX opcode %#x with prefix %d is not known", opcode, p1&3)
	case op == opTdpbf16ps && (i.third > 7 || reg > 7 || place.reg > 7):
		return fmt.Errorf("tile above 7")
	case op != opTdpbf16ps && i.third != 0:
		return fmt.Errorf("a third operand in vvvv")
	case opcode == 0x4b && (place.index < 0 || reg > 7):
		return fmt.Errorf("tile memory without index")
	case opcode == 0x49 && place.memory && reg != 0, op == opTilerelease && (reg != 0 || place.reg != 0), op == opTilezero && place.reg != 0:
		return fmt.Errorf("reserved bits in ModRM")
	}
	return nil
}
