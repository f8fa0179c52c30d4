package graduate

import (
	"fmt"
	"slices"

	"axiommind/activities/graduate/obligation"
	"axiommind/schema"
)

// sessionRule promotes an entry to a stage on the evidence of its session alone.
type sessionRule struct {
	to    schema.Stage
	needs []sessionCondition
}

// sessionCondition is a condition on an entry, and the reason to record if it holds.
type sessionCondition struct {
	holds  func(sessionCase) bool
	reason func(sessionCase) string
}

// sessionRules are in the order of the stages. A stage can be reached only if the one before it is.
var sessionRules = []sessionRule{
	{schema.StageCandidate, []sessionCondition{isAligned, isFormed, isStated}},
	{schema.StageVerified, []sessionCondition{isProven, isChecked}},
}

// formal are the obligations of the entry itself, independent of its evidence.
var formal = []string{"identified", "typed", "titled", "confident", "evidenced", "readable"}

var (
	isAligned = sessionCondition{
		func(c sessionCase) bool { return c.entry.EvidenceAligned },
		func(c sessionCase) string { return quotes(c, "is found", "are found") + " in the session" },
	}
	isFormed = sessionCondition{
		func(c sessionCase) bool {
			return !slices.ContainsFunc(c.failed, func(f obligation.Failure) bool { return slices.Contains(formal, f.Obligation) })
		},
		func(sessionCase) string { return "type, title, confidence and texts are as the schema asks" },
	}
	isStated = sessionCondition{
		func(c sessionCase) bool { return c.module != "" },
		func(c sessionCase) string {
			return "module " + c.module[:min(12, len(c.module))] + " states its obligations"
		},
	}
	isProven = sessionCondition{
		func(c sessionCase) bool { return c.entry.EvidenceProven },
		func(c sessionCase) string { return quotes(c, "is", "are") + " whole sentences or lines" },
	}
	isChecked = sessionCondition{
		func(c sessionCase) bool { return c.verifier != "" && len(c.failed) == 0 },
		func(c sessionCase) string { return fmt.Sprintf("all %d obligations hold, by %s", c.obligations, c.by) },
	}
)

func quotes(c sessionCase, one, many string) string {
	if n := len(c.entry.Evidence); n != 1 {
		return fmt.Sprintf("all %d quotes %s", n, many)
	}
	return "the quote " + one
}

// sessionCase is the input of the session rules.
type sessionCase struct {
	entry schema.Entry
	// module is the hash of the module that states its obligations, or empty.
	module string
	// verifier is one of the schema.Verifier constants, or empty if no accepted verifier has checked the entry. by
	// describes it for people.
	verifier, by string
	obligations  int
	failed       []obligation.Failure
}

// reached returns the highest stage that the rules promote the entry to, and why. It is empty if there is none.
func reached(c sessionCase) (to schema.Stage, reasons []string) {
	for _, rule := range sessionRules {
		for _, need := range rule.needs {
			if !need.holds(c) {
				return to, reasons
			}
		}
		to = rule.to
		for _, need := range rule.needs {
			reasons = append(reasons, string(rule.to)+": "+need.reason(c))
		}
	}
	return to, reasons
}
