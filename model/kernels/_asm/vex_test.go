package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// instruction is one with its text in Go's order of operands.
type instruction struct {
	code []byte
	text string
}

func instructionOf(code []int, text string) instruction {
	i := instruction{text: text}
	for _, c := range code {
		i.code = append(i.code, byte(c))
	}
	return i
}

// Encodings as GNU as 2.40 gives them.
func TestKnownEncodings(t *testing.T) {
	for _, c := range []struct {
		got  instruction
		want string
	}{
		{instructionOf(ldtilecfg(memory{base: "AX"})), "c4 e2 78 49 00"},
		{instructionOf(tilerelease()), "c4 e2 78 49 c0"},
		{instructionOf(tilezero(0)), "c4 e2 7b 49 c0"},
		{instructionOf(tilezero(7)), "c4 e2 7b 49 f8"},
		{instructionOf(tileloadd(memory{base: "SI", index: "R12"}, 4)), "c4 a2 7b 4b 24 26"},
		{instructionOf(tileloaddt1(memory{base: "DX", index: "R13"}, 6)), "c4 a2 79 4b 34 2a"},
		{instructionOf(tilestored(0, memory{base: "R9", index: "AX"})), "c4 c2 7a 4b 04 01"},
		{instructionOf(tdpbf16ps(6, 4, 0)), "c4 e2 4a 5c c4"},
		{instructionOf(vdpbf16ps(31, 30, 0)), "62 92 0e 40 52 c7"},
		{instructionOf(vcvtneps2bf16(0, 2)), "62 f2 7e 48 72 d0"},
	} {
		if got := fmt.Sprintf("% x", c.got.code); got != c.want {
			t.Errorf("%s is %s, want %s", c.got.text, got, c.want)
		}
	}
}

// everyForm lists the instructions with all kinds of operands.
func everyForm() (all []instruction) {
	add := func(code []int, text string) { all = append(all, instructionOf(code, text)) }
	for base := range registerNumber {
		for _, disp := range []int{0, 64, -128, 128, 1024, -129} {
			add(ldtilecfg(memory{base: base, disp: disp}))
			for index := range registerNumber {
				if index == "SP" { // can't be an index
					continue
				}
				m := memory{base, index, disp}
				t := len(all) % 8
				add(tileloadd(m, t))
				add(tileloaddt1(m, t))
				add(tilestored(t, m))
			}
		}
	}
	add(tilerelease())
	for a := range 8 {
		add(tilezero(a))
		for b := range 8 {
			for c := range 8 {
				if a != b && a != c && b != c {
					add(tdpbf16ps(a, b, c))
				}
			}
		}
	}
	for a := range 32 {
		for b := range 32 {
			add(vcvtneps2bf16(a, b))
			for _, c := range []int{0, 7, 8, 15, 16, 31} {
				add(vdpbf16ps(a, b, c))
			}
		}
	}
	return all
}

var operandParts = regexp.MustCompile(`(-?\d*)\((\w+)\)(?:\((\w+)\*1\))?`)

// gnu is the text in GNU's syntax, whose order of operands is Go's.
func (i instruction) gnu() string {
	name, operands, _ := strings.Cut(i.text, " ")
	register := func(r string) string {
		if n := registerNumber[r]; n < 8 {
			return "%r" + strings.ToLower(r)
		}
		return "%" + strings.ToLower(r)
	}
	var out []string
	for _, o := range strings.Split(operands, ", ") {
		switch m := operandParts.FindStringSubmatch(o); {
		case m != nil && m[3] != "":
			o = fmt.Sprintf("%s(%s,%s,1)", m[1], register(m[2]), register(m[3]))
		case m != nil:
			o = fmt.Sprintf("%s(%s)", m[1], register(m[2]))
		case strings.HasPrefix(o, "TMM"):
			o = "%" + strings.ToLower(o)
		case o != "":
			n, err := strconv.Atoi(o[1:])
			if err != nil {
				panic(err)
			}
			o = fmt.Sprintf("%%%smm%d", strings.ToLower(o[:1]), n)
		}
		out = append(out, o)
	}
	return strings.ToLower(name) + " " + strings.Join(out, ",")
}

func TestEncodingsAgainstGNUAssembler(t *testing.T) {
	for _, tool := range []string{"as", "objcopy"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs GNU binutils: no ", tool)
		}
	}
	var source strings.Builder
	var want []byte
	all := everyForm()
	for _, i := range all {
		fmt.Fprintln(&source, i.gnu())
		want = append(want, i.code...)
	}
	dir := t.TempDir()
	object, text := filepath.Join(dir, "x.o"), filepath.Join(dir, "x.text")
	as := exec.Command("as", "--64", "-o", object, "-")
	as.Stdin = strings.NewReader(source.String())
	if out, err := as.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "no such instruction") || strings.Contains(string(out), "unrecognized option") {
			t.Skipf("this as does not know AMX of 64-bit x86: %.200s", out)
		}
		t.Fatalf("as: %v\n%.1000s", err, out)
	}
	if out, err := exec.Command("objcopy", "-O", "binary", "-j", ".text", object, text).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	got, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, i := range all {
		if !bytes.HasPrefix(got[min(at, len(got)):], i.code) {
			t.Fatalf("%s is % x, as gives % x", i.text, i.code, got[min(at, len(got)):min(at+12, len(got))])
		}
		at += len(i.code)
	}
	if at != len(got) {
		t.Errorf("%d bytes, as gives %d", at, len(got))
	}
	t.Logf("%d instructions are as GNU as has them", len(all))
}
