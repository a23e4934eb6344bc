package main

import "fmt"

// Numbers of the general registers in machine code.
var registerNumber = map[string]int{
	"AX": 0, "CX": 1, "DX": 2, "BX": 3, "SP": 4, "BP": 5, "SI": 6, "DI": 7,
	"R8": 8, "R9": 9, "R10": 10, "R11": 11, "R12": 12, "R13": 13, "R14": 14, "R15": 15,
}

// The mandatory prefixes of VEX.
const (
	prefixNone = iota
	prefix66
	prefixF3
	prefixF2
)

// memory is an operand disp(base)(index*1); index may be empty.
type memory struct {
	base, index string
	disp        int
}

func (m memory) String() string {
	s := ""
	if m.disp != 0 {
		s = fmt.Sprint(m.disp)
	}
	s += "(" + m.base + ")"
	if m.index != "" {
		s += "(" + m.index + "*1)"
	}
	return s
}

// tileMemory encodes an instruction of AMX that names a tile and memory: VEX with
// three bytes, map 0F38, W and L zero. Tile loads and stores need an index.
func tileMemory(prefix, opcode, tile int, m memory) []int {
	base, index := registerNumber[m.base], 4 // 4: no index
	if m.index != "" {
		index = registerNumber[m.index]
	}
	code := []int{0xc4, 0x80 | (^(index>>3)&1)<<6 | (^(base>>3)&1)<<5 | 2, 15<<3 | prefix, opcode}
	mod, disp := 0, []int(nil)
	switch {
	case m.disp == 0 && base&7 != 5:
	case -128 <= m.disp && m.disp < 128:
		mod, disp = 1, []int{m.disp & 255}
	default:
		mod, disp = 2, []int{m.disp & 255, m.disp >> 8 & 255, m.disp >> 16 & 255, m.disp >> 24 & 255}
	}
	if m.index == "" && base&7 != 4 {
		code = append(code, mod<<6|tile<<3|base&7)
	} else {
		code = append(code, mod<<6|tile<<3|4, index&7<<3|base&7)
	}
	return append(code, disp...)
}

// tileRegisters encodes an instruction of AMX on tiles alone.
func tileRegisters(prefix, opcode, reg, rm, third int) []int {
	return []int{0xc4, 0xe2, (^third&15)<<3 | prefix, opcode, 0xc0 | reg<<3 | rm}
}

// The instructions of AMX in the operand order of Go's assembler: code and text.

func ldtilecfg(m memory) (code []int, text string) {
	return tileMemory(prefixNone, 0x49, 0, m), fmt.Sprintf("LDTILECFG %v", m)
}

func tilerelease() (code []int, text string) {
	return tileRegisters(prefixNone, 0x49, 0, 0, 0), "TILERELEASE"
}

func tilezero(t int) (code []int, text string) {
	return tileRegisters(prefixF2, 0x49, t, 0, 0), fmt.Sprintf("TILEZERO TMM%d", t)
}

func tileloadd(m memory, t int) (code []int, text string) {
	return tileMemory(prefixF2, 0x4b, t, m), fmt.Sprintf("TILELOADD %v, TMM%d", m, t)
}

func tileloaddt1(m memory, t int) (code []int, text string) {
	return tileMemory(prefix66, 0x4b, t, m), fmt.Sprintf("TILELOADDT1 %v, TMM%d", m, t)
}

func tilestored(t int, m memory) (code []int, text string) {
	return tileMemory(prefixF3, 0x4b, t, m), fmt.Sprintf("TILESTORED TMM%d, %v", t, m)
}

// tdpbf16ps adds the products of tiles a and b to c.
func tdpbf16ps(b, a, c int) (code []int, text string) {
	return tileRegisters(prefixF3, 0x5c, c, a, b), fmt.Sprintf("TDPBF16PS TMM%d, TMM%d, TMM%d", b, a, c)
}

// vdpbf16ps adds the products of pairs in a and b to acc, 16 lanes.
func vdpbf16ps(b, a, acc int) (code []int, text string) {
	bit := func(v, n int) int { return ^(v >> n) & 1 }
	return []int{0x62, bit(acc, 3)<<7 | bit(b, 4)<<6 | bit(b, 3)<<5 | bit(acc, 4)<<4 | 2,
		(^a&15)<<3 | 4 | prefixF3, 0x40 | bit(a, 4)<<3, 0x52, 0xc0 | acc&7<<3 | b&7}, fmt.Sprintf("VDPBF16PS Z%d, Z%d, Z%d", b, a, acc)
}

// vcvtneps2bf16 rounds 16 floats to bfloat16.
func vcvtneps2bf16(from, to int) (code []int, text string) {
	return []int{0x62, (^(to>>3)&1)<<7 | (^(from>>4)&1)<<6 | (^(from>>3)&1)<<5 | (^(to>>4)&1)<<4 | 2,
		0x7c | prefixF3, 0x48, 0x72, 0xc0 | to&7<<3 | from&7}, fmt.Sprintf("VCVTNEPS2BF16 Z%d, Y%d", from, to)
}

// encoded is code as the assembler takes it.
func encoded(code []int) string {
	s := ""
	for i, c := range code {
		if i > 0 {
			s += "; "
		}
		s += fmt.Sprintf("BYTE $%#02x", c)
	}
	return s
}

// e writes an instruction that the assembler does not know.
func (f *file) e(code []int, text string) { f.p("\t%s // %s", encoded(code), text) }
