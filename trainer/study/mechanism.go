package study

import (
	"context"
	"math"

	"troupe/data/store"
	"troupe/trainer/metrics"
)

// Mechanism is what the log says about one role of a cell. A quantity that was
// not measured is NaN.
type Mechanism struct {
	Role          string
	Amplification float64 // mean over the run
	MassShare     float64 // mean over the run; shared policies only
	CaptureFirst  float64 // nats a token, first and last measurement
	CaptureLast   float64
	SurpriseFirst float64 // perplexity of the replies under the base, first and last
	SurpriseLast  float64
	Readable      float64 // share of replies in the form asked for, last iteration
}

// mechanismQuery has one row for each role and metric: mean, first and last.
const mechanismQuery = `SELECT DISTINCT role, metric,
  avg(value) OVER w, first_value(value) OVER (w ORDER BY iteration), first_value(value) OVER (w ORDER BY iteration DESC)
FROM role_steps WHERE run = :run AND slot = -1 AND value IS NOT NULL
  AND metric IN ('actor/amplification', 'actor/mass_share', 'actor/capture', 'actor/ppl_base', 'parse/primary')
WINDOW w AS (PARTITION BY role, metric)
ORDER BY role, metric`

func mechanisms(ctx context.Context, db *store.DB, run string) ([]Mechanism, error) {
	rows, err := db.Query(ctx, mechanismQuery, run)
	if err != nil {
		return nil, err
	}
	var all []Mechanism
	for r := rows.Next(); r != nil; r = rows.Next() {
		role, _ := r[0].(string)
		metric, _ := r[1].(string)
		mean, _ := r[2].(float64)
		first, _ := r[3].(float64)
		end, _ := r[4].(float64)
		if len(all) == 0 || all[len(all)-1].Role != role {
			no := math.NaN()
			all = append(all, Mechanism{role, no, no, no, no, no, no, no})
		}
		m := &all[len(all)-1]
		switch metric {
		case "actor/amplification":
			m.Amplification = mean
		case "actor/mass_share":
			m.MassShare = mean
		case "actor/capture":
			m.CaptureFirst, m.CaptureLast = first, end
		case "actor/ppl_base":
			m.SurpriseFirst, m.SurpriseLast = first, end
		case "parse/primary":
			m.Readable = end
		}
	}
	return all, rows.Close()
}

// Compare sets the ends of two cells against each other on the same tasks: Base
// is a's final accuracy, Final is b's.
func Compare(a, b Result) Change { return compare(a.outcome, b.outcome) }

// compare is the change from before to after, which are of the same tasks.
func compare(before, after []bool) Change {
	c := Change{N: len(before), P: 1}
	if c.N == 0 || len(after) != c.N {
		return c
	}
	c.Base = metrics.Point{Right: before}.Accuracy()
	c.Final = metrics.Point{Right: after}.Accuracy()
	c.Lost, c.Gained = metrics.Discordant(before, after)
	c.P, _ = metrics.McNemar(c.Lost, c.Gained)
	return c
}

// SE is the standard error of the gain, from the tasks on which the two sides
// differ.
func (c Change) SE() float64 {
	if c.N == 0 {
		return math.NaN()
	}
	n, differ, net := float64(c.N), float64(c.Gained+c.Lost), float64(c.Gained-c.Lost)
	return math.Sqrt(max(0, differ-net*net/n)) / n
}
