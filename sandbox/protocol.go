package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"troupe/sandbox/python"
)

// Parent and worker speak in frames: four bytes of length, then the fields of
// one message, one after another.

// maxRequest bounds what a worker accepts.
const maxRequest = 1 << 30

func writeFrame(w io.Writer, b []byte) error {
	if len(b) > maxRequest {
		return fmt.Errorf("message of %d bytes is too long", len(b))
	}
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(b)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

func readFrame(r *bufio.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n > limit {
		return nil, fmt.Errorf("message of %d bytes, at most %d expected", n, limit)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return b, nil
}

// encoder appends fields.
type encoder []byte

func (e *encoder) num(v uint64)    { *e = binary.AppendUvarint(*e, v) }
func (e *encoder) float(v float64) { *e = binary.LittleEndian.AppendUint64(*e, math.Float64bits(v)) }
func (e *encoder) str(s string)    { e.num(uint64(len(s))); *e = append(*e, s...) }
func (e *encoder) bytes(b []byte)  { e.num(uint64(len(b))); *e = append(*e, b...) }
func (e *encoder) flag(v bool) {
	if v {
		e.num(1)
	} else {
		e.num(0)
	}
}
func (e *encoder) strs(v []string) {
	e.num(uint64(len(v)))
	for _, s := range v {
		e.str(s)
	}
}

var errMessage = errors.New("damaged message")

// decoder reads fields; the first error sticks. Byte fields share the
// message's memory.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) num() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.err, d.b = errMessage, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.num()
	if n > uint64(len(d.b)) {
		d.err, d.b = errMessage, nil
		return nil
	}
	s := d.b[:n:n]
	d.b = d.b[n:]
	return s
}

func (d *decoder) float() float64 {
	if len(d.b) < 8 {
		d.err, d.b = errMessage, nil
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	return v
}

func (d *decoder) str() string { return string(d.bytes()) }
func (d *decoder) flag() bool  { return d.num() != 0 }
func (d *decoder) strs() []string {
	n := d.num()
	if n > uint64(len(d.b)) {
		d.err, d.b = errMessage, nil
		return nil
	}
	v := make([]string, n)
	for i := range v {
		v[i] = d.str()
	}
	return v
}

func encodeJob(j python.Job) []byte {
	e := make(encoder, 0, len(j.Program)+len(j.Stdin)+len(j.Harness)+len(j.Data)+128)
	e.str(j.Program)
	e.str(j.Name)
	e.strs(j.Args)
	e.bytes(j.Stdin)
	e.str(j.Harness)
	e.bytes(j.Data)
	e.num(j.Fuel)
	e.num(j.Memory)
	e.num(uint64(j.Output))
	e.num(j.Seed)
	return e
}

func decodeJob(b []byte) (python.Job, error) {
	d := &decoder{b: b}
	j := python.Job{Program: d.str(), Name: d.str(), Args: d.strs(), Stdin: d.bytes(), Harness: d.str(), Data: d.bytes(),
		Fuel: d.num(), Memory: d.num(), Output: int(d.num()), Seed: d.num()}
	return j, d.err
}

func encodeResult(r Result) []byte {
	e := make(encoder, 0, len(r.Stdout)+len(r.Stderr)+len(r.Report)+256)
	e.str(string(r.Outcome))
	e.num(uint64(r.ExitCode))
	e.bytes(r.Stdout)
	e.bytes(r.Stderr)
	e.bytes(r.Report)
	e.num(r.Fuel)
	e.float(r.TimeS)
	e.flag(r.MemoryRefused)
	e.str(r.MissingModule)
	e.str(r.Exception)
	e.flag(r.HarnessReached)
	return e
}

func decodeResult(b []byte) (Result, error) {
	d := &decoder{b: b}
	r := Result{Outcome: Outcome(d.str()), ExitCode: int(d.num()), Stdout: d.bytes(), Stderr: d.bytes(), Report: d.bytes(),
		Fuel: d.num(), TimeS: d.float(), MemoryRefused: d.flag(), MissingModule: d.str(), Exception: d.str(),
		HarnessReached: d.flag()}
	return r, d.err
}

func encodeModule(m Module) []byte {
	e := make(encoder, 0, len(m.Stdin)+64)
	e.strs(m.Args)
	e.bytes(m.Stdin)
	e.num(m.Fuel)
	e.num(uint64(m.MemoryMB))
	e.num(uint64(m.OutputKB))
	return e
}

func decodeModule(b []byte) (Module, error) {
	d := &decoder{b: b}
	m := Module{Args: d.strs(), Stdin: d.bytes(), Fuel: d.num(), MemoryMB: int(d.num()), OutputKB: int(d.num())}
	return m, d.err
}
