package sharedtest

import (
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Share divides the inputs of tests that only compute: it is 1 unless AXIOMMIND_TEST_SHARE names a greater number. The race
// detector makes such tests ten times as slow and finds nothing in them.
func Share() int {
	n, _ := strconv.Atoi(os.Getenv("AXIOMMIND_TEST_SHARE"))
	return max(1, n)
}

// Check is [rapid.Check]. Where inputs are shared out, it draws a [Share] of 100.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if Share() == 1 {
		rapid.Check(t, property)
		return
	}
	CheckFew(t, 100/Share(), property)
}

// CheckFew is [rapid.Check] with a limit on the draws. A draw that fails is made smaller without a limit.
func CheckFew(t *testing.T, draws int, property func(*rapid.T)) {
	t.Helper()
	n, failed := 0, false
	rapid.Check(t, func(r *rapid.T) {
		if n++; n > draws && !failed {
			return
		}
		failed = true
		property(r)
		failed = false
	})
}
