package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"troupe/internal/jsonschema"
	"troupe/sandbox"
	"troupe/verifier"
	"troupe/verifier/verdict"
)

// withPrograms are options for a server that runs programs.
func withPrograms(p *sandbox.Pool) Options {
	return Options{Token: token, Pool: p, Judge: verifier.New(verifier.Options{Pool: p}), Workers: p.Workers(), OpenDropIn: true}
}

// judgeNothing stands for the command line's judges, whose own records its
// tests check.
func judgeNothing(context.Context, int, json.RawMessage) (any, verdict.Code, error) {
	return map[string]any{}, verdict.AC, nil
}

// TestOpenAPIDocumentsEveryRoute compares the document with the router: every
// route and method is in both.
func TestOpenAPIDocumentsEveryRoute(t *testing.T) {
	opt := withPrograms(pool(t))
	opt.DB, opt.VerifyCode, opt.VerifyMath = runLog(t), judgeNothing, judgeNothing
	s := start(t, opt)
	var served []string
	err := chi.Walk(s.http.Handler.(chi.Router), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		served = append(served, method+" "+route)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for path, methods := range document(t).At("paths").(map[string]any) {
		for m := range methods.(map[string]any) {
			documented = append(documented, strings.ToUpper(m)+" "+path)
		}
	}
	for _, r := range served {
		if !slices.Contains(documented, r) {
			t.Errorf("%s is served and not documented", r)
		}
	}
	for _, r := range documented {
		if !slices.Contains(served, r) {
			t.Errorf("%s is documented and not served", r)
		}
	}
	if status, body := (request{path: "/openapi.json"}).do(t, s); status != 200 || body != string(openAPIText) {
		t.Errorf("the document is not served: %d", status)
	}
}

func document(t *testing.T) *jsonschema.Document {
	t.Helper()
	d, err := jsonschema.Parse(openAPIText)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := d.At("openapi").(string); !strings.HasPrefix(v, "3.1.") {
		t.Fatalf("the document is of OpenAPI %q", v)
	}
	return d
}

// exchange is a request under a documented route; status is the answer's.
type exchange struct {
	method, route, path, body string
	status                    int
}

// TestAnswersAreAsDocumented sends requests to every documented route that
// answers with JSON and checks requests and answers against the schemas.
func TestAnswersAreAsDocumented(t *testing.T) {
	opt := withPrograms(pool(t))
	opt.DB = runLog(t)
	s := start(t, opt)
	d := document(t)
	checked := map[string]bool{}
	for _, x := range documentedExchanges {
		header := map[string]string{}
		if x.body != "" {
			header["Content-Type"] = "application/json"
			if x.status == 200 {
				schema := d.At("paths", x.route, "post", "requestBody", "content", "application/json", "schema")
				if err := d.Check(schema, []byte(x.body)); err != nil {
					t.Errorf("request to %s is not as documented: %v", x.route, err)
				}
			}
		}
		status, body := request{method: x.method, path: x.path, body: x.body, header: header}.do(t, s)
		if status != x.status {
			t.Errorf("%s %s %s: status %d, want %d: %s", x.method, x.path, x.body, status, x.status, body)
			continue
		}
		schema := d.At("paths", x.route, strings.ToLower(x.method), "responses", fmt.Sprint(status), "content", "application/json", "schema")
		if schema == nil {
			t.Errorf("%s %s: status %d is not documented", x.method, x.route, status)
		} else if err := d.Check(schema, []byte(body)); err != nil {
			t.Errorf("%s %s: %v\n%s", x.method, x.path, err, body)
		}
		if status == 200 {
			checked[x.method+" "+x.route] = true
		}
	}
	for path, methods := range d.At("paths").(map[string]any) {
		for m, operation := range methods.(map[string]any) {
			name := strings.ToUpper(m) + " " + path
			isJSON := d.At("paths", path, m, "responses", "200", "content", "application/json") != nil
			if isJSON && !checked[name] && !strings.HasPrefix(path, "/v1/verify/") { // those: in cmd/troupe
				t.Errorf("no answer of %s was checked", name)
			}
			if operation.(map[string]any)["summary"] == nil {
				t.Errorf("%s has no summary", name)
			}
		}
	}
}

// TestRefusalsAreAsDocumented provokes on every documented route what every route
// can answer; a status that the route does not list itself falls under its default.
func TestRefusalsAreAsDocumented(t *testing.T) {
	opt := withPrograms(pool(t))
	opt.DB, opt.VerifyCode, opt.VerifyMath = runLog(t), judgeNothing, judgeNothing
	s := start(t, opt)
	d := document(t)
	for path, methods := range d.At("paths").(map[string]any) {
		real := strings.NewReplacer("{id}", "abc", "{n}", "1", "{file}", "none.js").Replace(path)
		for m := range methods.(map[string]any) {
			for name, r := range map[string]struct {
				request
				status int
			}{
				"malformed query": {request{path: real + "?a=%zz"}, 400},
				"foreign origin":  {request{path: real, header: map[string]string{"Origin": "http://evil.example"}}, 403},
				"other method":    {request{path: real, method: "DELETE"}, 405},
				"no JSON":         {request{path: real, body: "x", header: map[string]string{"Content-Type": "text/plain"}}, 415},
			} {
				if r.method == "" {
					r.method = strings.ToUpper(m)
				}
				if r.status == 415 && m != "post" {
					continue
				}
				status, body := r.do(t, s)
				responses := d.At("paths", path, m, "responses").(map[string]any)
				schema := d.At("components", "schemas", "Error")
				if _, own := responses[fmt.Sprint(status)]; own {
					schema = d.At("paths", path, m, "responses", fmt.Sprint(status), "content", "application/json", "schema")
				} else if responses["default"] == nil {
					t.Errorf("%s %s: %s is not documented", m, path, name)
				}
				if status != r.status {
					t.Errorf("%s %s, %s: status %d, want %d: %s", m, path, name, status, r.status, body)
				} else if err := d.Check(schema, []byte(body)); err != nil {
					t.Errorf("%s %s, %s: %v: %s", m, path, name, err, body)
				}
			}
		}
	}
}

var documentedExchanges = []exchange{
	{"GET", "/healthz", "/healthz", "", 200},
	{"GET", "/openapi.json", "/openapi.json", "", 200},
	{"GET", "/api/runs", "/api/runs", "", 200},
	{"GET", "/api/runs/{id}", "/api/runs/abc", "", 200},
	{"GET", "/api/runs/{id}", "/api/runs/none", "", 404},
	{"GET", "/api/runs/{id}/metrics", "/api/runs/abc/metrics?limit=1", "", 200},
	{"GET", "/api/runs/{id}/metrics", "/api/runs/abc/metrics?limit=x", "", 400},
	{"GET", "/api/runs/{id}/metrics", "/api/runs/none/metrics", "", 404},
	{"GET", "/api/runs/{id}/metrics/names", "/api/runs/abc/metrics/names", "", 200},
	{"GET", "/api/runs/{id}/metrics/names", "/api/runs/none/metrics/names", "", 404},
	{"GET", "/api/runs/{id}/series", "/api/runs/abc/series?metric=actor/grad_norm&points=100&slots=1", "", 200},
	{"GET", "/api/runs/{id}/series", "/api/runs/abc/series?points=-1", "", 400},
	{"GET", "/api/runs/{id}/events", "/api/runs/abc/events", "", 200},
	{"GET", "/api/runs/{id}/events", "/api/runs/abc/events?from=x", "", 400},
	{"GET", "/api/runs/{id}/stream", "/api/runs/none/stream", "", 404},
	{"GET", "/api/runs/{id}/stream", "/api/runs/abc/stream?after=x", "", 400},
	{"GET", "/api/runs/{id}/iterations", "/api/runs/abc/iterations", "", 200},
	{"GET", "/api/runs/{id}/iterations/{n}/episodes", "/api/runs/abc/iterations/1/episodes?split=train&limit=10", "", 200},
	{"GET", "/api/runs/{id}/iterations/{n}/episodes", "/api/runs/abc/iterations/x/episodes", "", 400},
	{"GET", "/api/runs/{id}/iterations/{n}/episode", "/api/runs/abc/iterations/1/episode?split=train&temperature=1&task=t&rollout=0", "", 200},
	{"GET", "/api/runs/{id}/iterations/{n}/episode", "/api/runs/abc/iterations/1/episode?split=train&temperature=1&task=none", "", 404},
	{"GET", "/api/runs/{id}/iterations/{n}/episode", "/api/runs/abc/iterations/1/episode", "", 400},
	{"GET", "/api/grid", "/api/grid", "", 200},
	{"GET", "/api/compare", "/api/compare?a=abc&b=abc", "", 200},
	{"GET", "/api/compare", "/api/compare?a=abc", "", 400},
	{"GET", "/api/compare", "/api/compare?a=abc&b=none", "", 404},
	{"GET", "/ui/{file}", "/ui/none.js", "", 404},
	{"GET", "/v1/ping", "/v1/ping", "", 200},
	{"GET", "/health", "/health", "", 200},
	{"GET", "/api/v2/runtimes", "/api/v2/runtimes", "", 200},
	{"POST", "/run_code", "/run_code", `{"code": "print(1)", "language": "python"}`, 200},
	{"POST", "/run_code", "/run_code", `{"code": "1/0", "language": "python", "run_timeout": 1}`, 200},
	{"POST", "/run_code", "/run_code", `{"code": "while 1: pass", "language": "python", "run_timeout": 0.05}`, 200},
	{"POST", "/run_code", "/run_code", `{"code": "x", "language": "rust"}`, 200},
	{"POST", "/run_code", "/run_code", `{"code": "x"}`, 422},
	{"POST", "/run_code", "/run_code", `{"code": "", "language": "python"}`, 200},
	{"POST", "/run_code", "/run_code", `{`, 422},
	{"POST", "/submit", "/submit", `{"id": 7, "completion": "` + "```python\\nprint(int(input()) + 1)\\n```" + `", "config": {"dataset_type": "CommonOJDataset",
		"language": "python", "provided_data": {"test": [{"input": {"stdin": "1"}, "output": {"stdout": "2"}}, {"input": {"stdin": "1"}, "output": {"stdout": "3"}}]}}}`, 200},
	{"POST", "/submit", "/submit", `{"id": "a", "completion": "", "config": {"language": "python", "dataset_type": "LiveCodeBenchDataset"}}`, 400},
	{"POST", "/submit", "/submit", `[`, 422},
	{"POST", "/api/v2/execute", "/api/v2/execute", `{"language": "python", "version": "*", "files": [{"content": "print(1)"}]}`, 200},
	{"POST", "/api/v2/execute", "/api/v2/execute", `{"language": "python", "version": "*", "files": [{"content": "while 1: pass"}], "run_timeout": 50}`, 200},
	{"POST", "/api/v2/execute", "/api/v2/execute", `{"language": "cf_python3", "version": "*", "files": [{"name": "main.python", "content": "print(1)"},
		{"name": "input.txt", "content": ""}, {"name": "correct_output.txt", "content": "1"}]}`, 200},
	{"POST", "/api/v2/execute", "/api/v2/execute", `{"language": "cobol", "version": "*", "files": [{"content": ""}]}`, 400},
	{"POST", "/api/v2/execute", "/api/v2/execute", `{`, 400},
	{"POST", "/test_program", "/test_program", `{"program": "x = 1", "tests": ["assert x == 1", "assert x == 2"]}`, 200},
	{"POST", "/test_program", "/test_program", `{"program": "x = 1", "tests": {"a": 1}}`, 422},
	{"POST", "/test_program", "/test_program", `x`, 422},
	{"POST", "/test_program_stdio", "/test_program_stdio", `{"program": "print(input())", "tests": [{"input": "1", "output": "1"}]}`, 200},
	{"POST", "/test_program_stdio", "/test_program_stdio", `{"program": "print(input())", "tests": "no"}`, 422},
	{"POST", "/test_program_stdio", "/test_program_stdio", `x`, 422},
}
