package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestDataAndModelFetch(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	row := `{"problem":"1+1","answer":"2"}` + "\n"
	git := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(row), row))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/datasets/HuggingFaceH4/MATH-500/"), strings.HasPrefix(r.URL.Path, "/api/models/Qwen/Qwen3-0.6B/"):
			var files []string
			for _, name := range []string{"test.jsonl", "config.json", "model.bin", "onnx/config.json"} {
				files = append(files, fmt.Sprintf(`{"rfilename":%q,"size":%d,"blobId":%q}`, name, len(row), hex.EncodeToString(git[:])))
			}
			fmt.Fprintf(w, `{"sha":%q,"siblings":[%s]}`, commit, strings.Join(files, ","))
		case strings.Contains(r.URL.Path, "/resolve/"+commit+"/"):
			fmt.Fprint(w, row)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	t.Setenv("HF_ENDPOINT", server.URL)
	t.Setenv("HF_HOME", t.TempDir())
	t.Setenv("TROUPE_OFFLINE", "")
	troupe := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := run(args, nil, &out, &errs)
		return code, strings.TrimSpace(out.String()), errs.String()
	}
	code, path, errs := troupe("data", "fetch", "math500")
	if b, err := os.ReadFile(path); code != 0 || err != nil || string(b) != row {
		t.Fatalf("exit code %d, output %q, %s", code, path, errs)
	}
	if code, out, errs := troupe("data", "show", path); code != 0 || !strings.Contains(out, "1+1") {
		t.Errorf("show: exit code %d, output %q, %s", code, out, errs)
	}
	code, dir, errs := troupe("model", "fetch", "Qwen/Qwen3-0.6B")
	found, err := os.ReadDir(dir)
	if code != 0 || err != nil || len(found) != 1 || found[0].Name() != "config.json" {
		t.Errorf("model fetch: exit code %d, %v in %q, %s", code, found, dir, errs)
	}
	if code, _, errs := troupe("data", "fetch", "math50"); code != exitUsage || !strings.Contains(errs, `did you mean "math500"?`) {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if code, _, errs := troupe("data", "fetch", "no/such"); code != exitInput || !strings.Contains(errs, "no/such@main: not found") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	t.Setenv("TROUPE_OFFLINE", "1")
	if code, out, errs := troupe("data", "fetch", "math500"); code != 0 || out != path {
		t.Errorf("offline: exit code %d, output %q, %s", code, out, errs)
	}
}
