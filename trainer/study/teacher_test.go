package study

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"troupe/data"
	"troupe/model/tokenizer"
	"troupe/trainer/workflow"
)

func studyTokenizer(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	dir := t.TempDir()
	if err := writeTokenizer(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, tokenizer.FileName)); err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestEveryTaskParsesBack(t *testing.T) {
	all, err := tasks()
	if err != nil {
		t.Fatal(err)
	}
	for kind, list := range all {
		splits := map[data.Split]int{}
		for _, task := range list {
			splits[task.Split]++
			p, err := parseProblem(task)
			if err != nil {
				t.Fatal(err)
			}
			if kind == data.Math && p.answer() != task.Gold {
				t.Fatalf("%s: answer %s, gold %s", task.Text, p.answer(), task.Gold)
			}
		}
		t.Log(kind, len(list), splits)
		if splits[data.Held] < 600 || splits[data.Dev] < warmTasks {
			t.Errorf("%s: splits %v", kind, splits)
		}
	}
}

// Every transcript consists of few tokens, and its text survives the tokenizer.
func TestTranscriptsInTokens(t *testing.T) {
	tok := studyTokenizer(t)
	if n := len(tok.EOS()); n != 1 || tok.EOS()[0] != endOfTurnID {
		t.Fatalf("end tokens %v", tok.EOS())
	}
	all, err := tasks()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for kind, list := range all {
		teach := teacher{kind, workflow.OwnPrompts()}
		longest, reply := 0, map[string]int{}
		for range 20000 {
			p, err := parseProblem(list[rng.IntN(len(list))])
			if err != nil {
				t.Fatal(err)
			}
			tr := teach.write(rng, p)
			s := encodeTranscript(tok, tr)
			if got := tok.Decode(s.Prompt, true) + tok.Decode(s.Action, true); got != tr.prompt+tr.reply {
				t.Fatalf("%q came back as %q", tr.prompt+tr.reply, got)
			}
			longest = max(longest, len(s.Prompt)+len(s.Action))
			reply[tr.role] = max(reply[tr.role], len(s.Action))
		}
		t.Log(kind, longest, reply)
		for role, n := range reply {
			if n > replyTokens[role] {
				t.Errorf("%s %s: a right reply has %d tokens, the budget is %d", kind, role, n, replyTokens[role])
			}
		}
		if longest > maxPositions {
			t.Errorf("%s: %d tokens", kind, longest)
		}
	}
}
