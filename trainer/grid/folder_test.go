package grid

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMarksOfAStudy(t *testing.T) {
	dir := t.TempDir()
	f, other := Folder{Dir: dir, Study: StudyID([]string{"--seeds", "2"})}, Folder{Dir: dir, Study: StudyID([]string{"--seeds", "3"})}
	for _, m := range []string{Prepared, CellMark(1)} {
		if err := f.Mark(m); err != nil {
			t.Fatal(err)
		}
		if err := f.Mark(m); err != nil {
			t.Errorf("a mark set again: %v", err)
		}
	}
	if got := f.Missing(Prepared, CellMark(0), CellMark(1), CellMark(2)); !slices.Equal(got, []string{"cell-0", "cell-2"}) {
		t.Errorf("missing %v", got)
	}
	if got := other.Missing(Prepared); len(got) != 1 {
		t.Error("one study's mark counts for another")
	}
}

func TestAwait(t *testing.T) {
	f := Folder{Dir: t.TempDir(), Study: "s"}
	go func() {
		for i := range 3 {
			time.Sleep(time.Millisecond)
			if err := f.Mark(CellMark(i)); err != nil {
				t.Error(err)
			}
		}
	}()
	if err := f.Await(t.Context(), time.Millisecond, CellMark(0), CellMark(1), CellMark(2)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := f.Await(ctx, time.Millisecond, CellMark(1), CellMark(3)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "cell-3") {
		t.Errorf("error %v", err)
	}
}
