package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// No line is lost, whether or not it has an end and wherever the reader's
// buffer does; one that is too long is passed over.
func TestRecordLines(t *testing.T) {
	defer func(n int) { maxRecord = n }(maxRecord)
	maxRecord = 50
	full := strings.Repeat("x", 16) // the buffer's size
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"a\r\n\nb", []string{"a", "", "b"}},
		{full, []string{full}},
		{full + "\n", []string{full}},
		{full + full, []string{full + full}},
		{full + full + "\nb", []string{full + full, "b"}},
		{full[1:] + "\r\nb", []string{full[1:], "b"}},
		{full + full + full + full + "\nb\n", []string{"too long", "b"}},
		{full + full + full + full, []string{"too long"}},
	} {
		r := bufio.NewReaderSize(strings.NewReader(c.text), 16)
		var got []string
		for {
			line, err := readLine(r)
			if err == io.EOF {
				break
			}
			switch {
			case errors.Is(err, errLongRecord):
				got = append(got, "too long")
			case err != nil:
				t.Fatal(err)
			default:
				got = append(got, string(line))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: lines %q, want %q", c.text, got, c.want)
		}
	}
}

// endless is an input without end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = "1\n"[i%2]
	}
	return len(b) &^ 1, nil
}

// fullAfter is an output that takes so many lines.
type fullAfter struct{ lines int }

func (f *fullAfter) Write(b []byte) (int, error) {
	if f.lines--; f.lines < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// When the output takes no more, nothing more is read or judged.
func TestVerifyStopsWhenNothingCanBeWritten(t *testing.T) {
	judge := func(context.Context, int, []byte) (judgement, error) { return judgement{out: 1, word: "AC"}, nil }
	var said strings.Builder
	s := &stream{env: &environment{Ctx: t.Context(), Stdout: &fullAfter{3}, Stderr: &said}, what: "answers", workers: 2, judge: judge}
	if err := s.run(endless{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v, want that of the output", err)
	}
	if s.total < 4 {
		t.Errorf("%d lines were judged, 4 were asked to be written", s.total)
	}
}

// A line that is too long is a bad record, and what follows is judged.
func TestVerifyPassesOverALongLine(t *testing.T) {
	defer func(n int) { maxRecord = n }(maxRecord)
	maxRecord = 10
	judge := func(context.Context, int, []byte) (judgement, error) { return judgement{out: 1, word: "AC"}, nil }
	bad := func(_ int, why string) judgement { return judgement{out: why, word: "bad"} }
	var out, said strings.Builder
	s := &stream{env: &environment{Ctx: t.Context(), Stdout: &out, Stderr: &said}, what: "answers", workers: 2, judge: judge, bad: bad}
	if err := s.run(strings.NewReader("1\n" + strings.Repeat("x", 100) + "\n2\n")); err != nil {
		t.Error(err)
	}
	if want := "1\n\"line 2: the line is too long: more than 10 bytes\"\n1\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}
