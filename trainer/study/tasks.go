package study

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"troupe/data"
)

// tasks are all problems of both kinds, each in the split that its own hash
// puts it in.
func tasks() map[data.Kind][]data.Task {
	all := map[data.Kind][]data.Task{}
	add := func(p problem) {
		t := data.Task{Kind: p.kind, Text: p.text}
		h := sha256.Sum256([]byte("tiny study\x00" + p.text))
		t.ID = "tiny-" + string(p.kind) + "/" + hex.EncodeToString(h[:6])
		held := 0.2
		if p.kind == data.Code {
			held = 0.3
			for n := range 10 {
				t.Tests = append(t.Tests, data.Test{Input: fmt.Sprintln(n), Output: fmt.Sprintln(p.value(n))})
			}
		} else {
			t.Gold = p.answer()
		}
		switch u := float64(binary.LittleEndian.Uint32(h[8:])) / (1 << 32); {
		case u < held:
			t.Split = data.Held
		case u < held+0.1:
			t.Split = data.Dev
		default:
			t.Split = data.Train
		}
		all[p.kind] = append(all[p.kind], t)
	}
	for a := range 100 {
		for b := range 100 {
			add(problem{kind: data.Math, op: sum, a: a, b: b, text: fmt.Sprintf("%02d+%02d=", a, b)})
			if a >= b {
				add(problem{kind: data.Math, op: difference, a: a, b: b, text: fmt.Sprintf("%02d-%02d=", a, b)})
			}
		}
	}
	for o := plus; o <= squareLess; o++ {
		for _, p := range functions(o) {
			p.text = fmt.Sprintf("%d,%d,%d>", p.value(0), p.value(1), p.value(2))
			add(p)
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b data.Task) int { return strings.Compare(a.ID, b.ID) })
	}
	return all
}

// functions are all programs of one operation.
func functions(o op) []problem {
	var ps []problem
	for c := 1; c <= largestConstant; c++ {
		switch o {
		case timesPlus, timesLess:
			for f := 2; f <= largestFactor; f++ {
				ps = append(ps, problem{kind: data.Code, op: o, a: f, b: c})
			}
		case times:
			if c >= 2 && c <= largestFactor {
				ps = append(ps, problem{kind: data.Code, op: o, a: c})
			}
		default:
			ps = append(ps, problem{kind: data.Code, op: o, a: c})
		}
	}
	return ps
}

// tasksSum is the content hash of a list of tasks.
func tasksSum(list []data.Task) string {
	h := sha256.New()
	for _, t := range list {
		fmt.Fprintln(h, t.ID, t.Kind, t.Text, t.Gold, t.Split, t.Tests)
	}
	return hex.EncodeToString(h.Sum(nil))
}
