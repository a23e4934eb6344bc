package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"troupe/verifier/verdict"
)

// TestBrokenRequestsAreNotWrongAnswers sends requests that leave out what there is
// to judge: they are refused by the name of the field.
func TestBrokenRequestsAreNotWrongAnswers(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	submit := func(completion, output string) string {
		return `{"id": 1, ` + completion + `"config": {"language": "python", "dataset_type": "CommonOJDataset", "provided_data": {"test": [` +
			`{"input": {"stdin": ""}, "output": {"stdout": ""}}, {"input": {"stdin": ""}, "output": {` + output + `}}]}}}`
	}
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/submit", submit("", `"stdout": ""`), 400, "completion is missing"},
		{"/submit", submit(`"completion": "x", `, ""), 400, "test[1].output.stdout is missing"},
		{"/submit", submit(`"completion": "", `, `"stdout": ""`), 200, `"accepted":false`},
		{"/test_program", `{"tests": ["assert True"]}`, 422, "program is required"},
		{"/test_program", `{"program": "", "tests": ["assert True"]}`, 200, `"results":[1]`},
		{"/test_program", `{"program": "", "tests": [ ]}`, 200, `"results":[]`},
		{"/test_program", `{"program": "", "tests": null}`, 422, "tests"},
		{"/test_program_stdio", `{"tests": [{"input": "", "output": ""}]}`, 422, "program is required"},
		{"/test_program_stdio", `{"program": "", "tests": [ ]}`, 200, `"results":[]`},
		{"/test_program_stdio", `{"program": ""}`, 422, "tests"},
		{"/api/v2/execute", `{"language": "python", "version": "*", "files": [{"content": ""}, {"name": "a"}]}`, 400, "files[1].content is required as a string"},
		{"/api/v2/execute", `{"language": "cf_python3", "version": "*", "files": [{"name": "main.python"}]}`, 400, "files[0].content is required as a string"},
	} {
		status, body := request{method: "POST", path: c.path, body: c.body, header: map[string]string{"Content-Type": "application/json"}}.do(t, s)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s %s: %d %s, want %d with %q", c.path, c.body, status, body, c.status, c.says)
		}
	}
}

// TestPanicsBesideTheHandler lets the judging of one record panic, alone and among
// others: that request gets a 500 with an id, and the server goes on.
func TestPanicsBesideTheHandler(t *testing.T) {
	opt := withPrograms(pool(t))
	opt.VerifyMath = func(_ context.Context, _ int, record json.RawMessage) (any, verdict.Code, error) {
		if strings.Contains(string(record), "bad") {
			panic("a fault of ours")
		}
		return map[string]any{"ok": true}, verdict.AC, nil
	}
	s := start(t, opt)
	header := map[string]string{"Content-Type": "application/json", "Authorization": "Bearer " + token}
	for body, want := range map[string]int{`{"a": "bad"}`: 500, `[{}, {"a": "bad"}, {}]`: 500, `[{}, {}]`: 200} {
		status, got := request{method: "POST", path: "/v1/verify/math", body: body, header: header}.do(t, s)
		if status != want || want == 500 && (!strings.Contains(got, "internal error ") || strings.Contains(got, "fault of ours")) {
			t.Errorf("%s: %d %s, want %d", body, status, got, want)
		}
	}
}

// TestPanicFreesThoseWhoWait lets a shared run panic: each of its clients gets the
// error, and the next equal request runs anew.
func TestPanicFreesThoseWhoWait(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	ctx := t.Context()
	entered, leave := make(chan struct{}), make(chan struct{})
	errs := make(chan error, 2)
	ask := func() {
		_, err := s.repeats.do(ctx, ctx, s, "the same", func(context.Context) (any, error) {
			close(entered)
			<-leave
			panic("a fault of ours")
		})
		errs <- err
	}
	go ask()
	<-entered
	go ask()
	for waiting := 0; waiting < 2; {
		s.repeats.mu.Lock()
		for _, r := range s.repeats.runs {
			waiting = r.waiting
		}
		s.repeats.mu.Unlock()
	}
	close(leave)
	for range 2 {
		if err := <-errs; err == nil || !strings.HasPrefix(err.Error(), "internal error ") {
			t.Errorf("got %v, want an internal error", err)
		}
	}
	if v, err := s.repeats.do(ctx, ctx, s, "the same", func(context.Context) (any, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}

// TestPanicInAQuestionFreesThoseWhoWait lets a question to the database panic while
// an equal one waits for it: both are a 500, and the next one is asked anew.
func TestPanicInAQuestionFreesThoseWhoWait(t *testing.T) {
	s := start(t, Options{DB: runLog(t)})
	entered, leave := make(chan struct{}), make(chan struct{})
	asked := 0
	h := s.answer(func(context.Context, *http.Request) (any, error) {
		if asked++; asked > 1 {
			return 7, nil
		}
		close(entered)
		<-leave
		panic("a fault of ours")
	})
	codes := make(chan int, 2)
	ask := func() {
		w := httptest.NewRecorder()
		h(w, httptest.NewRequest("GET", "/api/runs", nil))
		codes <- w.Code
	}
	go ask()
	<-entered
	go ask()
	time.Sleep(50 * time.Millisecond) // the second one most likely waits by now
	close(leave)
	first, second := <-codes, <-codes
	if first != 500 && second != 500 || first+second != 500+500 && first+second != 500+200 {
		t.Errorf("statuses %d and %d", first, second)
	}
	go ask()
	if code := <-codes; code != 200 {
		t.Errorf("afterwards: %d", code)
	}
}

// TestWhatWasNotJudgedSaysWhy: only what ran out of time is said to have.
func TestWhatWasNotJudgedSaysWhy(t *testing.T) {
	s := start(t, withPrograms(pool(t)))
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{fmt.Errorf("wait: %w", context.DeadlineExceeded), 504, "did not run in time"},
		{context.Canceled, 504, "did not run in time"},
		{errors.New("the sandbox failed: no memory"), 504, "was not judged: the sandbox failed: no memory"},
		{fmt.Errorf("judge: %w", internalError("ID")), 500, "internal error ID"},
	} {
		w := httptest.NewRecorder()
		s.unjudged(w, c.err)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
	}
}
