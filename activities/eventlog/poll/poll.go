// Package poll looks again and again until something is so.
package poll

import (
	"context"
	"time"
)

// The first pause is the longest divided by firstDivisor.
const firstDivisor = 16

// Until calls look until it reports true or fails: at once, and then after pauses that double up to the longest, which
// is at least a microsecond. It returns the error of look, or that of the context.
func Until(ctx context.Context, longest time.Duration, look func() (bool, error)) error {
	longest = max(longest, time.Microsecond)
	for pause := longest / firstDivisor; ; pause = min(2*pause, longest) {
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
