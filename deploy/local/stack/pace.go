package stack

import "time"

// The limits of a server's restarts.
const (
	// RestartInterval is the least time between two starts.
	RestartInterval = time.Second
	// RestartsPerMinute is how many starts are allowed within RestartWindow.
	RestartsPerMinute = 5
	// RestartWindow is the time over which RestartsPerMinute counts.
	RestartWindow = time.Minute
)

// Pace decides when something that died may be started again. The zero value is ready.
type Pace struct{ starts []time.Time }

// Wait returns how long the next start must wait at the given time.
func (p *Pace) Wait(now time.Time) time.Duration {
	n := len(p.starts)
	if n == 0 {
		return 0
	}
	next := p.starts[n-1].Add(RestartInterval)
	if n >= RestartsPerMinute {
		if full := p.starts[n-RestartsPerMinute].Add(RestartWindow); full.After(next) {
			next = full
		}
	}
	return max(0, next.Sub(now))
}

// Started records a start.
func (p *Pace) Started(now time.Time) {
	p.starts = append(p.starts, now)
	if len(p.starts) > RestartsPerMinute {
		p.starts = p.starts[1:]
	}
}
