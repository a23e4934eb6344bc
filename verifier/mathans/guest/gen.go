//go:build ignore

// Command gen builds the math guest and records what it was built from.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

func main() {
	log.SetFlags(0)
	sources, err := hashSources()
	if err != nil {
		log.Fatal(err)
	}
	tmp, err := os.MkdirTemp("", "mathguest")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "mathans.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, "troupe/verifier/mathans/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=", "GOEXPERIMENT=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatal("build math guest: ", err)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		log.Fatal(err)
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := z.Write(wasm); err != nil {
		log.Fatal(err)
	}
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
	sum := fmt.Sprintf("sources %s\ntoolchain %s\nwasm %x\n", sources, runtime.Version(), sha256.Sum256(wasm))
	if err := os.WriteFile("mathans.wasm.gz", packed.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("mathans.sum", []byte(sum), 0o644); err != nil {
		log.Fatal(err)
	}
}

// hashSources hashes the names and contents of the files that go into the
// module. The test has the same function.
func hashSources() (string, error) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		return "", err
	}
	files = append(files, "main.go")
	sort.Strings(files)
	h := sha256.New()
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", filepath.Base(f), len(b))
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
