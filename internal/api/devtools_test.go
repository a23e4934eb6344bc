//go:build browser

package api

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium that is driven through its DevTools protocol
// over two pipes: messages are JSON, each ended by a zero byte.
type browser struct {
	to      io.Writer
	mu      sync.Mutex
	next    int
	replies map[int]chan devtoolsReply
	events  map[string]func(method string, params json.RawMessage) // by session
}

type devtoolsReply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// openBrowser starts Debian's chromium and ends it with the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	theirIn, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
		"--force-color-profile=srgb", "--user-data-dir="+home, "--remote-debugging-pipe", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{to: to, replies: map[int]chan devtoolsReply{}, events: map[string]func(string, json.RawMessage){}}
	go b.listen(from)
	t.Cleanup(func() {
		b.call(t, "", "Browser.close", nil)
		cmd.Wait()
		to.Close()
		from.Close()
	})
	return b
}

// listen hands replies to those who wait for them, and events to their page.
func (b *browser) listen(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			for _, c := range b.replies {
				close(c)
			}
			b.replies = nil
			b.mu.Unlock()
			return
		}
		var m struct {
			ID        int
			SessionID string
			Method    string
			Params    json.RawMessage
			devtoolsReply
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		waiting, on := b.replies[m.ID], b.events[m.SessionID]
		delete(b.replies, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID != 0 && waiting != nil:
			waiting <- m.devtoolsReply
		case m.Method != "" && on != nil:
			on(m.Method, m.Params)
		}
	}
}

// call sends a command and decodes what it gives into out, if there is one.
func (b *browser) call(t *testing.T, session, method string, params map[string]any, out ...any) {
	t.Helper()
	b.mu.Lock()
	b.next++
	id, answer := b.next, make(chan devtoolsReply, 1)
	if b.replies == nil {
		b.mu.Unlock()
		t.Fatalf("%s: the browser is gone", method)
	}
	b.replies[id] = answer
	b.mu.Unlock()
	m := map[string]any{"id": id, "method": method}
	if session != "" {
		m["sessionId"] = session
	}
	if params != nil {
		m["params"] = params
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	select {
	case r, ok := <-answer:
		if !ok && method != "Browser.close" {
			t.Fatalf("%s: the browser is gone", method)
		}
		if r.Error != nil {
			t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if len(out) > 0 {
			if err := json.Unmarshal(r.Result, out[0]); err != nil {
				t.Fatalf("%s: %v in %s", method, err, r.Result)
			}
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s: no answer in a minute", method)
	}
}

// page is one tab with what its console complained about.
type page struct {
	t          *testing.T
	b          *browser
	session    string
	mu         sync.Mutex
	complaints []string
}

// screen is what a page is shown on.
type screen struct {
	width, height int
	dark          bool
}

func (s screen) String() string {
	if s.dark {
		return fmt.Sprintf("%d-dark", s.width)
	}
	return fmt.Sprintf("%d-light", s.width)
}

// open makes a tab of the given width and colour scheme.
func (b *browser) open(t *testing.T, s screen) *page {
	t.Helper()
	var target struct{ TargetID string }
	b.call(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call(t, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &page{t: t, b: b, session: attached.SessionID}
	b.mu.Lock()
	b.events[p.session] = p.heard
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Accessibility", "Performance"} {
		p.call(domain+".enable", nil)
	}
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": s.width, "height": s.height, "deviceScaleFactor": 1, "mobile": s.width < 500})
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	t.Cleanup(func() { b.call(t, "", "Target.closeTarget", map[string]any{"targetId": target.TargetID}) })
	return p
}

func (p *page) call(method string, params map[string]any, out ...any) {
	p.t.Helper()
	p.b.call(p.t, p.session, method, params, out...)
}

// heard notes errors and warnings of the console, and exceptions.
func (p *page) heard(method string, params json.RawMessage) {
	var m struct {
		Type  string
		Entry struct{ Level, Text, URL string }
	}
	json.Unmarshal(params, &m)
	bad := method == "Runtime.exceptionThrown" ||
		method == "Runtime.consoleAPICalled" && (m.Type == "error" || m.Type == "warning") ||
		method == "Log.entryAdded" && (m.Entry.Level == "error" || m.Entry.Level == "warning")
	if bad {
		p.mu.Lock()
		p.complaints = append(p.complaints, fmt.Sprintf("%s %s", method, params))
		p.mu.Unlock()
	}
}

// quiet fails the test for everything that the console said.
func (p *page) quiet(where string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.complaints {
		p.t.Errorf("%s: console: %s", where, c)
	}
	p.complaints = nil
}

// eval runs a script in the page and decodes its value into out.
func (p *page) eval(script string, out any) {
	p.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		p.t.Fatalf("script: %s", r.ExceptionDetails.Exception.Description)
	}
	if out != nil {
		if err := json.Unmarshal(r.Result.Value, out); err != nil {
			p.t.Fatalf("script gave %s: %v", r.Result.Value, err)
		}
	}
}

// waitFor asks until a condition of the page holds.
func (p *page) waitFor(condition string) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		p.eval("Boolean("+condition+")", &ok)
		if ok {
			return
		}
		if time.Now().After(deadline) {
			var text string
			p.eval("document.body.innerText.slice(0, 400)", &text)
			p.t.Fatalf("the page never came to %s; it says: %s", condition, text)
		}
	}
}

// press types a key.
func (p *page) press(key string, code int, text string) {
	p.t.Helper()
	down := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
	if text != "" {
		down["text"] = text
	}
	p.call("Input.dispatchKeyEvent", down)
	p.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code})
}

// shoot writes a picture of the page's pixels from top on, at most height of
// them, and reports whether there are more. Without a folder it does nothing.
func (p *page) shoot(dir, name string, width, top, height int) (more bool) {
	p.t.Helper()
	if dir == "" {
		return false
	}
	var tall int
	p.eval("Math.ceil(document.documentElement.getBoundingClientRect().height)", &tall)
	var picture struct{ Data string }
	p.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
		"clip": map[string]any{"x": 0, "y": top, "width": width, "height": min(max(tall-top, 300), height), "scale": 1}}, &picture)
	b, err := base64.StdEncoding.DecodeString(picture.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644); err != nil {
		p.t.Fatal(err)
	}
	return tall > top+height
}
