package grpo

import (
	"encoding/json"
	"testing"

	"troupe/internal/golden"
)

type lossInput struct {
	Old  [][]num `json:"old_log_prob"`
	New  [][]num `json:"log_prob"`
	Adv  [][]num `json:"advantages"`
	Mask [][]int
}

func (in lossInput) rows() (rows []Row, lengths []int) {
	for i := range in.New {
		r := Row{LogProb: floats(in.New[i]), Old: floats(in.Old[i]), TokenAdvantage: floats(in.Adv[i]), Mask: make([]bool, len(in.Mask[i]))}
		for t, m := range in.Mask[i] {
			r.Mask[t] = m == 1
		}
		rows = append(rows, r)
		lengths = append(lengths, r.Len())
	}
	return rows, lengths
}

type lossCase struct {
	Input, Oracle, Loss, Agg string
	IS                       [][]num `json:"rollout_is_weights"`
	Params                   struct {
		Low      float64 `json:"clip_low"`
		High     float64 `json:"clip_high"`
		C        float64 `json:"c"`
		EpsHigh  float64 `json:"eps_high"`
		EpsLow   float64 `json:"eps_low"`
		Delta    float64 `json:"delta"`
		NumItems int     `json:"num_items"`
		Longest  int     `json:"max_completion_length"`
		Level    string  `json:"level"`
	}
	Out struct {
		Loss        num
		ClipFrac    *num `json:"pg_clipfrac"`
		ClipFracLow *num `json:"pg_clipfrac_lower"`
		KL          *num `json:"ppo_kl"`
		Grad        [][]num
	}
}

// settings translates a case into ours; ok is false for losses that are not on
// our menu.
func (c lossCase) settings(width int) (l Loss, w WeightOptions, ok bool) {
	p := c.Params
	if c.Oracle == "verl" {
		w.Aggregation = Aggregation(c.Agg)
		l = Loss{ClipLow: p.Low, ClipHigh: p.High, DualClip: p.C, Clamp: 20}
		switch c.Loss {
		case "vanilla":
			l.Kind = PPO
		case "gspo":
			l.Kind = GSPO
		case "gpg":
			l.Kind = REINFORCE
		default:
			return l, w, false
		}
		if c.Agg == "seq-mean-token-sum-norm" {
			return l, w, false // divides by the padded width: an artefact of padding, which we do not have
		}
		return l, w, true
	}
	if p.Level != "" {
		return l, w, false
	}
	l = Loss{Kind: PPO, ClipLow: p.EpsLow, ClipHigh: p.EpsHigh, DualClip: p.Delta}
	switch c.Loss {
	case "grpo":
		w = WeightOptions{Aggregation: SeqMeanTokenMean, CountEmpty: true}
	case "bnpo", "dapo":
		w = WeightOptions{Aggregation: TokenMean}
	case "dr_grpo":
		w = WeightOptions{Aggregation: DrGRPO, Longest: p.Longest}
	case "cispo":
		l = Loss{Kind: CISPO, Cap: p.EpsHigh}
		w = WeightOptions{Aggregation: TokenMean}
	default:
		return l, w, false
	}
	return l, w, true
}

func TestGoldenLosses(t *testing.T) {
	var g struct {
		Inputs map[string]lossInput
		Cases  []lossCase
	}
	golden.JSON(t, &g, "grpo", "losses.json")
	checked := map[string]int{}
	for n, c := range g.Cases {
		in := g.Inputs[c.Input]
		rows, lengths := in.rows()
		loss, wopt, ok := c.settings(len(in.Mask[0]))
		if !ok {
			continue
		}
		w, err := TokenWeights(lengths, wopt)
		if err != nil {
			t.Fatal(err)
		}
		if c.Params.NumItems > 0 { // TRL's denominator: tokens of the whole optimizer step
			for i := range w {
				w[i] = 1 / float64(c.Params.NumItems)
			}
		}
		var s Stats
		for i, r := range rows {
			grad := make([]float64, len(r.LogProb))
			if c.IS != nil {
				r.ISWeight = floats(c.IS[i])
			}
			s.Add(loss.Row(r, w[i], grad))
			for k, want := range c.Out.Grad[i] {
				if !close64(grad[k], float64(want), 1e-10, 1e-12) {
					t.Errorf("case %d (%s %s on %s), gradient %d,%d: %v, want %v", n, c.Oracle, c.Loss, c.Input, i, k, grad[k], want)
				}
			}
		}
		check := func(what string, got float64, want *num) {
			if want != nil && !close64(got, float64(*want), 1e-10, 1e-12) {
				t.Errorf("case %d (%s %s %s on %s): %s %v, want %v", n, c.Oracle, c.Loss, c.Agg, c.Input, what, got, *want)
			}
		}
		check("loss", s.Loss, &c.Out.Loss)
		check("clip fraction", s.ClipFrac(), c.Out.ClipFrac)
		check("lower clip fraction", s.ClipFracLower(), c.Out.ClipFracLow)
		check("kl", s.PPOKL(), c.Out.KL)
		checked[c.Oracle+" "+c.Loss]++
	}
	for _, want := range []string{"verl vanilla", "verl gspo", "verl gpg", "trl grpo", "trl dapo", "trl dr_grpo", "trl cispo"} {
		if checked[want] == 0 {
			t.Errorf("no case of %s was checked", want)
		}
	}
	t.Logf("checked %v", checked)
}

func TestGoldenMicrobatch(t *testing.T) {
	var g struct {
		Weights []struct {
			Rows     int
			Size     int  `json:"mini_batch_rows"`
			Steps    int  `json:"optimizer_steps"`
			OnPolicy bool `json:"on_policy"`
			Mini     []struct {
				Rows   int
				Weight float64 `json:"weight_of_every_row"`
			} `json:"mini_batches"`
		} `json:"row_weights_512"`
		Order struct {
			Cases []struct {
				Parallel int   `json:"data_parallel"`
				Lengths  []int `json:"sequence_lengths"`
				Order    json.RawMessage
			}
		} `json:"length_balanced_order"`
	}
	golden.JSON(t, &g, "grpo", "microbatch.json")
	for _, c := range g.Weights {
		mini := MiniBatches(c.Rows, c.Size)
		if len(mini) != c.Steps || (len(mini) == 1) != c.OnPolicy {
			t.Errorf("%d rows: %d steps, want %d", c.Rows, len(mini), c.Steps)
			continue
		}
		for k, m := range c.Mini {
			lengths := make([]int, mini[k].To-mini[k].From)
			for i := range lengths {
				lengths[i] = 1 + i%7
			}
			w, err := TokenWeights(lengths, WeightOptions{Aggregation: SeqMeanTokenMean, Rows: c.Size})
			if err != nil || len(w) != m.Rows {
				t.Fatalf("%d rows, step %d: %d weights, %v", c.Rows, k, len(w), err)
			}
			for i := range w {
				if got := w[i] * float64(lengths[i]); !close64(got, m.Weight, 1e-12, 0) {
					t.Fatalf("%d rows, step %d, row %d weighs %v, want %v", c.Rows, k, i, got, m.Weight)
				}
			}
		}
	}
	checked := 0
	for _, c := range g.Order.Cases {
		var want []int
		if c.Parallel != 1 || json.Unmarshal(c.Order, &want) != nil {
			continue
		}
		got := LengthBalanced(c.Lengths)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("lengths %v: order %v, want %v", c.Lengths, got, want)
				break
			}
		}
		checked++
	}
	if checked == 0 {
		t.Error("no length-balanced order was checked")
	}
}

// TestGoldenSteps takes whole optimizer steps: mini-batches in their order, a
// short last one weighing less, with the gradient of every token. Cases whose
// numbers depend on how a mini-batch is cut into micro-batches are left out.
func TestGoldenSteps(t *testing.T) {
	var g struct {
		Small struct {
			Old   [][]num `json:"old_log_prob"`
			New   [][]num `json:"log_prob"`
			Adv   []num   `json:"row_advantage"`
			Rows  int     `json:"mini_batch_rows"`
			Clip  [2]float64
			C     float64
			Cases []struct {
				Agg     Aggregation
				Lengths []int
				Empty   bool `json:"row_1_empty"`
				Steps   []struct {
					Micro [][]int `json:"micro_batches"`
					Grad  map[int][]num
				} `json:"optimizer_steps"`
			}
		}
	}
	golden.JSON(t, &g, "grpo", "microbatch.json")
	loss := Loss{Kind: PPO, ClipLow: g.Small.Clip[0], ClipHigh: g.Small.Clip[1], DualClip: g.Small.C, Clamp: 20}
	checked := map[Aggregation]int{}
	for n, c := range g.Small.Cases {
		mini := MiniBatches(len(c.Lengths), g.Small.Rows)
		if len(mini) != len(c.Steps) {
			t.Fatalf("case %d: %d steps, want %d", n, len(mini), len(c.Steps))
		}
		for k, step := range c.Steps {
			if len(step.Micro) > 1 && (c.Agg == TokenMean || c.Empty) {
				continue
			}
			lengths := c.Lengths[mini[k].From:mini[k].To]
			w, err := TokenWeights(lengths, WeightOptions{Aggregation: c.Agg, Rows: g.Small.Rows})
			if err != nil {
				t.Fatal(err)
			}
			for i, length := range lengths {
				row := mini[k].From + i
				grad := make([]float64, length)
				loss.Row(Row{LogProb: floats(g.Small.New[row])[:length], Old: floats(g.Small.Old[row])[:length], Advantage: float64(g.Small.Adv[row])}, w[i], grad)
				for j, want := range step.Grad[row][:length] {
					if !close64(grad[j], float64(want), 1e-10, 1e-12) {
						t.Errorf("case %d (%s), step %d, row %d, token %d: %v, want %v", n, c.Agg, k, row, j, grad[j], want)
					}
				}
			}
			checked[c.Agg]++
		}
	}
	for _, agg := range []Aggregation{SeqMeanTokenMean, TokenMean, SeqMeanTokenSum} {
		if checked[agg] < 6 {
			t.Errorf("%d steps with %s were checked", checked[agg], agg)
		}
	}
}
