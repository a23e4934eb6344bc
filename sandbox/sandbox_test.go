package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"troupe/internal/reexec"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

// testCache is the user's cache, so that tests fetch the guest once.
func testCache(t testing.TB) string {
	if dir := os.Getenv("TROUPE_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "troupe")
}

// open opens a pool on the pinned guest.
func open(t testing.TB, workers int) *Pool {
	t.Helper()
	p, err := Open(t.Context(), Options{Workers: workers, Cache: testCache(t), Log: t.Logf})
	if errors.Is(err, ErrNoGuest) && os.Getenv("TROUPE_OFFLINE") == "1" {
		t.Skip("TROUPE_OFFLINE=1 and no guest in the cache")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// runOn runs one program on a worker of its own lease.
func runOn(t testing.TB, p *Pool, prog Python) Result {
	t.Helper()
	w, err := p.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	r, err := w.Run(t.Context(), prog)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAProgramReadsAndPrints(t *testing.T) {
	p := open(t, 1)
	r := runOn(t, p, Python{Program: "print(sum(map(int, input().split())))", Stdin: []byte("1 2 3\n")})
	if r.Outcome != OK || string(r.Stdout) != "6\n" || r.Fuel == 0 || r.MemoryRefused {
		t.Errorf("%+v", r)
	}
}
