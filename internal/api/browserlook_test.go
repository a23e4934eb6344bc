//go:build browser

package api

import (
	"fmt"
	"slices"
	"strings"
)

// visit opens an address from scratch and waits until it is drawn.
func (p *page) visit(s *Server, hash string) {
	p.t.Helper()
	p.call("Page.navigate", map[string]any{"url": "about:blank"})
	p.waitFor("location.href === 'about:blank'")
	p.call("Page.navigate", map[string]any{"url": "http://" + s.Addr() + "/" + hash})
	p.waitFor(fmt.Sprintf("location.protocol === 'http:' && document.body && document.body.dataset.drawn === %q", hash))
}

// shows looks for texts on the page, those of closed parts included.
func (p *page) shows(where string, want []string) {
	p.t.Helper()
	var text string
	p.eval(`document.getElementById("main").textContent.replaceAll("\u00a0", " ")`, &text)
	for _, w := range want {
		if !strings.Contains(text, w) {
			p.t.Errorf("%s lacks %q", where, w)
		}
	}
	var markup int
	p.eval("document.querySelectorAll('main script, main [onclick], main [style]').length", &markup)
	if markup != 0 {
		p.t.Errorf("%s: text of a run became markup", where)
	}
}

// fits refuses a page that must be moved sideways, and on a phone cards whose
// values are cut off or broken into lines.
func (p *page) fits(where string, width int) {
	p.t.Helper()
	var wide int
	p.eval("document.documentElement.scrollWidth", &wide)
	if wide > width {
		p.t.Errorf("%s is %d pixels wide on a screen of %d", where, wide, width)
	}
	if width > 640 {
		return
	}
	var bad []string
	p.eval(`[...document.querySelectorAll(".cards:not(.plain) td")].filter(e => e.scrollWidth > e.clientWidth + 1 || e.classList.contains("n") && e.clientHeight > 44)
		.map(e => e.dataset.label + ": " + e.textContent).slice(0, 5)`, &bad)
	for _, x := range bad {
		p.t.Errorf("%s: the value of a card does not fit: %s", where, x)
	}
}

// axNode is a node of the tree that a screen reader gets.
type axNode struct {
	Ignored    bool
	Role, Name struct{ Value any }
	Properties []struct {
		Name  string
		Value struct{ Value any }
	}
}

func (n axNode) property(name string) any {
	for _, q := range n.Properties {
		if q.Name == name {
			return q.Value.Value
		}
	}
	return nil
}

// named checks what a screen reader is told: landmarks, a name for everything
// one can act on or look at, one first heading and no level left out.
func (p *page) named(where string) {
	p.t.Helper()
	var tree struct{ Nodes []axNode }
	p.call("Accessibility.getFullAXTree", nil, &tree)
	must := []string{"link", "button", "combobox", "searchbox", "textbox", "image", "img", "table", "region", "heading", "figure", "DisclosureTriangle", "progressbar", "columnheader", "rowheader"}
	seen := map[string]int{}
	level := 0
	for _, n := range tree.Nodes {
		role, name := str(n.Role.Value), strings.TrimSpace(str(n.Name.Value))
		if n.Ignored {
			continue
		}
		seen[role]++
		if slices.Contains(must, role) && name == "" {
			p.t.Errorf("%s: a %s has no name", where, role)
		}
		if role == "heading" {
			l, _ := n.property("level").(float64)
			if int(l) > level+1 {
				p.t.Errorf("%s: heading %q of level %v follows level %d", where, name, l, level)
			}
			level = int(l)
		}
	}
	for role, n := range map[string]int{"main": 1, "banner": 1, "contentinfo": 1} {
		if seen[role] != n {
			p.t.Errorf("%s: %d landmarks %s, want %d", where, seen[role], role, n)
		}
	}
	if seen["navigation"] < 1 {
		p.t.Errorf("%s: no navigation", where)
	}
	var first int
	p.eval("document.querySelectorAll('h1').length", &first)
	if first != 1 {
		p.t.Errorf("%s: %d headings of the first level", where, first)
	}
}

// contrastScript lists texts whose colour is too near to what is behind them,
// by the formula of WCAG 2.
const contrastScript = `(() => {
  const rgb = c => { const m = /color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)(?: \/ ([\d.]+))?\)/.exec(c);
    if (m) return [m[1] * 255, m[2] * 255, m[3] * 255, m[4] === undefined ? 1 : +m[4]];
    const n = c.match(/[\d.]+/g).map(Number); return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = c => [0, 1, 2].map(i => { const v = c[i] / 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const behind = e => { const stack = []; for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3]) { stack.push(c); if (c[3] === 1) break; } }
    return stack.reverse().reduce((under, c) => over(c, under), [255, 255, 255, 1]); };
  const bad = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, box = e.getBoundingClientRect();
    if (!walk.currentNode.data.trim() || !box.width || box.left < -100 || e.closest("noscript, .hidden, :disabled")) continue;
    const style = getComputedStyle(e), back = behind(e), ink = over(rgb(e.namespaceURI.endsWith("svg") ? style.fill : style.color), back);
    const [a, b] = [light(ink), light(back)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) bad.add(ratio.toFixed(2) + " " + e.tagName + "." + (e.getAttribute("class") || "") + " " + walk.currentNode.data.trim().slice(0, 30));
  }
  return [...bad].slice(0, 10);
})()`

// contrast refuses text that is hard to read.
func (p *page) contrast(where string) {
	p.t.Helper()
	var bad []string
	p.eval(contrastScript, &bad)
	for _, x := range bad {
		p.t.Errorf("%s: contrast %s", where, x)
	}
}

// focused describes where the keyboard is.
type focused struct {
	At      int // place among all controls of the page
	What    string
	Seen    bool
	Outline bool
}

const focusScript = `(() => {
  const e = document.activeElement, all = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(x => !x.disabled && x.getClientRects().length);
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  return { at: all.indexOf(e), what: e.tagName + " " + (e.getAttribute("aria-label") || e.textContent).trim().slice(0, 40),
    seen: box.width > 0 && box.left > -1 && box.top > -1 && box.bottom < innerHeight + 1, outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
})()`

// walk goes through a page with the tab key.
func (p *page) walk(where string) {
	p.t.Helper()
	var controls int
	p.eval(`[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(x => !x.disabled && x.getClientRects().length).length`, &controls)
	for i := range controls {
		p.press("Tab", 9, "")
		var f focused
		p.eval(focusScript, &f)
		if f.At != i || !f.Outline {
			p.t.Errorf("%s: tab %d of %d reaches %q, which is control %d, outline %v", where, i+1, controls, f.What, f.At, f.Outline)
			return
		}
		if !f.Seen && f.At > 0 && !strings.HasPrefix(f.What, "DIV") { // a table may be taller than the screen
			p.t.Errorf("%s: the focus on %q can't be seen", where, f.What)
		}
	}
}

func str(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
