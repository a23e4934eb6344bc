package sandbox

import (
	"bufio"
	"bytes"
	"reflect"
	"testing"

	"troupe/sandbox/python"
)

func TestMessagesRoundTrip(t *testing.T) {
	j := python.Job{Program: "p", Name: "n", Args: []string{"a", ""}, Stdin: []byte("in"), Harness: "h", Data: []byte{0, 255}, Fuel: 1 << 62, Memory: 1 << 40, Output: 7, Seed: 9}
	if got, err := decodeJob(encodeJob(j)); err != nil || !reflect.DeepEqual(got, j) {
		t.Errorf("%+v, %v", got, err)
	}
	r := Result{Outcome: Memory, ExitCode: 137, Stdout: []byte("o"), Stderr: []byte("e"), Report: []byte("r"), Fuel: 5, TimeS: 0.25, MemoryRefused: true, MissingModule: "m", Exception: "x", HarnessReached: true}
	if got, err := decodeResult(encodeResult(r)); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v, %v", got, err)
	}
	m := Module{Args: []string{"a"}, Stdin: []byte("in"), Fuel: 3, MemoryMB: 4, OutputKB: 5}
	if got, err := decodeModule(encodeModule(m)); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v, %v", got, err)
	}
	var b bytes.Buffer
	if err := writeFrame(&b, []byte("frame")); err != nil {
		t.Fatal(err)
	}
	if _, err := readFrame(bufio.NewReader(bytes.NewReader(b.Bytes())), 4); err == nil {
		t.Error("a frame over the limit was read")
	}
	if got, err := readFrame(bufio.NewReader(&b), 5); err != nil || string(got) != "frame" {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzDecode feeds damaged messages: a worker that its guest has taken over may
// send anything.
func FuzzDecode(f *testing.F) {
	f.Add(encodeResult(Result{Outcome: OK, Stdout: []byte("x")}))
	f.Add(encodeJob(python.Job{Args: []string{"a"}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeResult(b); err == nil && len(r.Stdout)+len(r.Stderr)+len(r.Report) > len(b) {
			t.Error("more than was sent")
		}
		decodeJob(b)
		decodeModule(b)
	})
}
