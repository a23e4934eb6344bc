package model

import (
	"context"
	"testing"
	"time"
)

// Every token of a generation that goes through the model is counted once: equal
// prompts once, and of the replies all tokens but the last.
func TestAMeterCountsWhatADecoderComputes(t *testing.T) {
	m := randomModel(t, tinyConfig(), 1)
	meter := &Meter{}
	reqs := []GenRequest{{Prompt: []int32{1, 2, 3}, MaxTokens: 5}, {Prompt: []int32{1, 2, 3}, MaxTokens: 4}, {Prompt: []int32{7, 8}, MaxTokens: 1}}
	if _, err := m.NewDecoder(DecoderOptions{Meter: meter}).Generate(context.Background(), reqs); err != nil {
		t.Fatal(err)
	}
	r := meter.Take()
	if r.Prefill.Tokens != 3+2 || r.Decode.Tokens != 4+3 {
		t.Errorf("%d tokens of prompts, %d of replies; want 5 and 7", r.Prefill.Tokens, r.Decode.Tokens)
	}
	if r.Prefill.Time <= 0 || r.Decode.Time <= 0 {
		t.Errorf("no time: %+v", r)
	}
	if meter.Take() != (Reading{}) {
		t.Error("a meter that was read is not at 0")
	}
	meter.add(30, 10, 2, 8*time.Second)
	if r = meter.Take(); r.Prefill.Time != 3*time.Second || r.Decode.Time != time.Second {
		t.Errorf("a mixed step of two lanes: %+v", r)
	}
}
