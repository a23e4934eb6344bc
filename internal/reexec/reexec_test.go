package reexec

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func init() {
	Register("echo", func(args []string) int {
		fmt.Print(strings.Join(args, ","))
		return 7
	})
}

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

func TestAChildRunsItsRegisteredFunction(t *testing.T) {
	cmd, err := Command(t.Context(), "echo", "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	if string(out) != "a,b" || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("output %q, error %v", out, err)
	}
}

func TestUnknownChildrenAndForgottenMainAreErrors(t *testing.T) {
	if _, err := Command(t.Context(), "nobody"); err == nil {
		t.Error("no error for an unregistered child")
	}
	called = false
	defer func() { called = true }()
	if _, err := Command(t.Context(), "echo"); !errors.Is(err, ErrNoMain) {
		t.Errorf("error %v", err)
	}
}
