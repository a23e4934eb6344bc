package main

import (
	"errors"
	"math"

	"troupe/model"
)

type scoreCmd struct {
	checkpointFlags

	In          string   `default:"-" placeholder:"FILE" help:"JSON lines of {\"id\", \"ids\" | \"text\"}; - is standard input."`
	Text        []string `sep:"none" placeholder:"TEXT" help:"A text instead of --in; repeatable."`
	Temperature float32  `default:"1" placeholder:"T" help:"Divide the logits by this first."`
	JSON        bool     `name:"json" help:"Has no effect: the output is always JSON lines."`
}

// Help is the long text of `troupe score --help`.
func (scoreCmd) Help() string {
	return `Output, a line for each input: {"id", "ids": [int], "logprobs": [num],
"perplexity": num|null}. logprobs[i] is for ids[i+1] given what comes before it;
the perplexity of fewer than two ids is null.

  echo '{"text": "The river runs to the sea."}' | troupe score --model DIR`
}

// scored is a line of the output.
type scored struct {
	ID         recordID  `json:"id"`
	IDs        []int32   `json:"ids"`
	LogProbs   []float32 `json:"logprobs"`
	Perplexity *float64  `json:"perplexity"`
}

// scoreBatch is the number of ids that are scored together; results are
// written before the next ones start.
const scoreBatch = 1 << 15

// scorer is a score command at work.
type scorer struct {
	*scoreCmd
	ck      *loadedModel
	env     *environment
	out     *jsonWriter
	waiting []scored
	tokens  int
}

// Run scores every record.
func (c *scoreCmd) Run(env *environment) error {
	if !(c.Temperature > 0 && c.Temperature < 1e6) {
		return usagef("--temperature %v: above 0", c.Temperature)
	}
	ck, err := c.load(env)
	if err != nil {
		return err
	}
	s := &scorer{scoreCmd: c, ck: ck, env: env, out: newJSONWriter(env.Stdout)}
	if len(c.Text) > 0 {
		for i := range c.Text {
			if err := s.add("", textRecord{Text: &c.Text[i]}); err != nil {
				return inputf("--text %d: %w", i+1, err)
			}
		}
	} else if err := eachRecord(env, c.In, s.add); err != nil {
		return err
	}
	return s.flush()
}

// add takes one record in, and works off a full batch.
func (s *scorer) add(_ string, r textRecord) error {
	if !one(r.Text != nil, r.IDs != nil) || r.Messages != nil {
		return errors.New("want exactly one of ids and text")
	}
	ids := r.IDs
	if r.Text != nil {
		if err := s.ck.needTokenizer(); err != nil {
			return err
		}
		ids = append([]int32{}, s.ck.tok.Encode(*r.Text)...)
	}
	if err := s.ck.checkIDs(ids); err != nil {
		return err
	}
	s.waiting = append(s.waiting, scored{ID: r.ID, IDs: ids, LogProbs: []float32{}})
	if s.tokens += len(ids); s.tokens >= scoreBatch {
		return s.flush()
	}
	return nil
}

// flush scores what waits and writes it in order.
func (s *scorer) flush() error {
	var seqs []model.Sequence
	for _, w := range s.waiting {
		if len(w.IDs) > 1 {
			seqs = append(seqs, model.Sequence{Prompt: w.IDs[:1], Action: w.IDs[1:], Adapter: s.ck.lora})
		}
	}
	results, err := s.ck.model.Score(s.env.Ctx, seqs, s.Temperature)
	if err != nil {
		return err
	}
	for _, w := range s.waiting {
		if len(w.IDs) > 1 {
			w.LogProbs = results[0].LogProbs
			w.Perplexity = perplexity(w.LogProbs)
			results = results[1:]
		}
		if err := s.out.write(w); err != nil {
			return err
		}
	}
	s.waiting, s.tokens = s.waiting[:0], 0
	return nil
}

// perplexity is the exponential of the mean negative log-probability, nil
// where JSON can't hold it.
func perplexity(logprobs []float32) *float64 {
	sum := 0.0
	for _, l := range logprobs {
		sum -= float64(l)
	}
	p := math.Exp(sum / float64(len(logprobs)))
	if math.IsInf(p, 0) || math.IsNaN(p) {
		return nil
	}
	return &p
}
