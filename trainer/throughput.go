package trainer

import (
	"strings"
	"time"
)

// Phases of a rollout in the log; together they are all of it.
const (
	phaseRollout = "rollout"                 // the rest: encoding, waiting for one another
	phasePrefill = phaseRollout + "/prefill" // of prompts
	phaseDecode  = phaseRollout + "/decode"
	phaseVerify  = phaseRollout + "/verify" // verdicts, as far as nothing was computed meanwhile
)

// isRollout reports whether a phase is a part of a rollout.
func isRollout(phase string) bool {
	return phase == phaseRollout || strings.HasPrefix(phase, phaseRollout+"/")
}

// measured forgets what was computed and judged so far: a rollout begins.
func (t *Trainer) measured() {
	t.engine.meter.Take()
	t.live.judgement()
}

// apportion takes the time of the rollout that has just ended apart.
func (t *Trainer) apportion(log *record) {
	for i := range log.Timings {
		if log.Timings[i].Phase != phaseRollout {
			continue
		}
		rest := log.Timings[i].Seconds
		take := func(phase string, d time.Duration) {
			s := min(rest, d.Seconds())
			rest -= s
			log.spent(phase, s)
		}
		read := t.engine.meter.Take()
		take(phasePrefill, read.Prefill.Time)
		take(phaseDecode, read.Decode.Time)
		take(phaseVerify, t.live.judgement())
		log.Timings[i].Seconds = rest
		return
	}
}

// judging counts a verdict in the making, or one that has come.
func (l *live) judging(by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == 0 {
		l.opened = time.Now()
	}
	if l.open += by; l.open == 0 {
		l.judged += time.Since(l.opened)
	}
}

// judgement is the time since it was last asked for in which verdicts were in
// the making.
func (l *live) judgement() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.judged
	l.judged = 0
	return d
}
