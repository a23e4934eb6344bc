package code

import (
	"strings"
	"testing"
)

func TestExtract(t *testing.T) {
	loose := Extraction{Unclosed: true}
	think := Extraction{SkipThink: true}
	for _, c := range []struct {
		name, reply, want string
		x                 Extraction
	}{
		{"one block", "Here:\n```python\nprint(1)\n```\nDone.", "print(1)\n", Extraction{}},
		{"last of two", "```\na\n```\ntext\n```py\nb\n```", "b\n", Extraction{}},
		{"no tag", "```\nx = 1\n```", "x = 1\n", Extraction{}},
		{"tags of any kind", "```c++\nint\n```\n```python3.11\nx\n```", "x\n", Extraction{}},
		{"tag with attributes", "```python title=\"a.py\"\nx\n```", "x\n", Extraction{}},
		{"CRLF", "```python\r\nx\r\ny\r\n```\r\n", "x\ny\n", Extraction{}},
		{"fence inside a string", "```python\ns = '```'\nt = 1\n```", "s = '```'\nt = 1\n", Extraction{}},
		{"longer fence", "````python\n```\nx\n```\n````", "```\nx\n```\n", Extraction{}},
		{"tildes", "~~~python\nx\n~~~", "x\n", Extraction{}},
		{"indented fence", "1. So:\n   ```python\n   if x:\n       y\n   ```", "if x:\n    y\n", Extraction{}},
		{"closing fence with blanks", "```python\nx\n```   ", "x\n", Extraction{}},
		{"inline code is no fence", "Use ```x``` here", "", Extraction{}},
		{"nothing", "I don't know.", "", Extraction{}},
		{"empty reply", "", "", Extraction{}},
		{"empty block", "```python\n```", "", Extraction{}},
		{"blank block", "```python\n\n  \n```", "", Extraction{}},
		{"unclosed", "```python\nx = 1\n", "", Extraction{}},
		{"unclosed, accepted", "```python\nx = 1", "x = 1\n", loose},
		{"unclosed after a closed one", "```\na\n```\n```\nb", "a\n", Extraction{}},
		{"unclosed after a closed one, accepted", "```\na\n```\n```\nb", "b\n", loose},
		{"in thought", "<think>\n```\na\n```\n</think>\nno code", "a\n", Extraction{}},
		{"in thought, skipped", "<think>\n```\na\n```\n</think>\nno code", "", think},
		{"after thought", "<think>\n```\na\n```\n</think>\n```\nb\n```", "b\n", think},
		{"endless thought", "<think>\n```\na\n```", "", think},
		{"four blanks are no fence", "```\nx\n    ```\n```", "x\n    ```\n", Extraction{}},
		{"text after the closing fence is code", "```\nx\n``` y\n```", "x\n``` y\n", Extraction{}},
	} {
		got, found := c.x.Extract(c.reply)
		if !found {
			got = ""
		}
		if got != c.want || found != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", c.name, got, found, c.want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("```python\nprint(1)\n```", true, false)
	f.Add("~~~\r\nx\r\n~~~\n<think>", false, true)
	f.Fuzz(func(t *testing.T, reply string, unclosed, think bool) {
		program, found := Extraction{unclosed, think}.Extract(reply)
		if found && strings.TrimSpace(program) == "" {
			t.Error("an empty program was found")
		}
		// A program that is put in a block comes out as it was.
		if strings.ContainsAny(program, "`~\r<") || !found {
			return
		}
		again, ok := Extraction{}.Extract("text\n```\n" + program + "```\n")
		if !ok || again != program {
			t.Errorf("%q became %q", program, again)
		}
	})
}

func TestPreambleAt(t *testing.T) {
	for _, c := range []struct{ before, after string }{
		{"", "x = 1\n"},
		{"# comment\n\n", "import os\n"},
		{"\"\"\"Doc.\n\nMore.\"\"\"\n", "x = 1\n"},
		{"'doc'  # why\n", "x\n"},
		{"r'''a\\n'''\n", "x\n"},
		{"from __future__ import annotations\n", "x\n"},
		{"# c\n'''d'''\n\nfrom __future__ import (annotations,\n    division)\n# e\n", "x\n"},
		{"from __future__ import annotations, \\\n    division\n", "x\n"},
		{"from __future__ import annotations; ", "import os\n"},
		{"", "'a' + 'b'\n"},
		{"", "'never closed\n"},
		{"", "'''never closed\n"},
		{"", "f'not a docstring'\n"},
		{"'doc'\n", "'second string'\n"},
		{"#!/usr/bin/python3\n# -*- coding: utf-8 -*-\n", "print()"},
	} {
		if at := preambleAt(c.before + c.after); at != len(c.before) {
			t.Errorf("%q: at %d, want %d", c.before+c.after, at, len(c.before))
		}
	}
	if s := withPreamble("# only"); !strings.HasPrefix(s, "# only\n") {
		t.Errorf("no line of its own: %.40q", s)
	}
}

func FuzzPreamble(f *testing.F) {
	f.Add("'''doc'''\nfrom __future__ import annotations\nx = 1\n")
	f.Fuzz(func(t *testing.T, source string) {
		at := preambleAt(source)
		if at < 0 || at > len(source) {
			t.Fatalf("offset %d of %d", at, len(source))
		}
		if s := withPreamble(source); len(s) < len(source)+len(preamble) {
			t.Error("something was lost")
		}
	})
}
