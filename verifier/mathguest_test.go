package verifier

import (
	"bufio"
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"troupe/sandbox"
	"troupe/verifier/mathans"
)

// mathGuest opens a pool that runs only modules.
func mathGuest(t testing.TB) *MathGuest {
	t.Helper()
	pool, err := sandbox.Open(context.Background(), sandbox.Options{Workers: 2, Cache: t.TempDir(), Modules: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	m, err := NewMathGuest(pool)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMathGuestAgreesWithNative(t *testing.T) {
	f, err := os.Open("mathans/testdata/cases.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var qs []mathans.Question
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if c := strings.Split(sc.Text(), "\t"); len(c) == 4 {
			qs = append(qs, mathans.Question{Gold: c[0], Reply: "Answer: " + c[1]})
		}
	}
	got, err := mathGuest(t).JudgeBatch(context.Background(), qs)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range qs {
		if want := mathans.Judge(q.Gold, q.Reply, q.Options); got[i] != want {
			t.Errorf("gold %q, reply %q: guest %v, native %v", q.Gold, q.Reply, got[i], want)
		}
	}
}

func TestMathGuestHammer(t *testing.T) {
	m := mathGuest(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 40 {
				gold, reply, want := `\sqrt{8}`, `\boxed{2\sqrt2}`, mathans.Equal
				if (g+i)%2 == 0 {
					reply, want = `\boxed{2\sqrt3}`, mathans.Unequal
				}
				if r, err := m.Judge(context.Background(), gold, reply, mathans.Options{}); err != nil || r.Outcome != want {
					t.Errorf("%s: %v %v", reply, r, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestMathGuestIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mathGuest(t).Judge(ctx, `\pi`, `\boxed{\pi r}`, mathans.Options{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
