package command

import (
	"errors"

	"axiommind/worker/settings"
)

// Check is one line of the doctor's report.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Note string `json:"note"`
	// Mend is the remedy if OK is false.
	Mend string `json:"mend,omitempty"`
	// Everyone is true if the texts may name other users than the one who asks.
	Everyone bool `json:"-"`
}

// FailedCheck returns a check that failed, with the remedy.
func FailedCheck(name string, err error, mend string) Check {
	if errors.Is(err, settings.ErrInvalid) {
		mend = "correct that setting"
	}
	return Check{Name: name, Note: Reason(err), Mend: mend}
}
