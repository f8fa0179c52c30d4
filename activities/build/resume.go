package build

import (
	"fmt"
	"slices"

	"axiommind/schema"
)

// retryable returns an error with the remedy unless the build with the id is the session's latest one and left
// something to do. An interrupted build that was itself a retry of the one with the id continues. The windows are the
// number of abandoned ones that are asked about once more.
func (l Last) retryable(key schema.SessionKey, id string, windows int) error {
	started := l.Started
	switch {
	case started.Ordinal == 0:
		return fmt.Errorf("retry build %q: session %q of project %q, user %q, agent %q has no build: check these names",
			id, key.SessionID, key.Project, key.User, key.Agent)
	case started.BuildID == id:
	case l.Finished == nil && started.Input.Retry == id:
		return nil
	default:
		for ordinal := 1; ordinal < started.Ordinal; ordinal++ {
			if ID(key, ordinal) == id {
				return fmt.Errorf("retry build %q: it is not the latest of session %q, which is %q (%s): give that one if it left something to do",
					id, key.SessionID, started.BuildID, l.status())
			}
		}
		return fmt.Errorf("retry build %q: session %q has no such build; its latest is %q (%s)",
			id, key.SessionID, started.BuildID, l.status())
	}
	if l.Finished == nil || l.undone(windows) != "" {
		return nil
	}
	if l.Finished.Counts.GivenUp > 0 {
		return fmt.Errorf("retry build %q: it left only windows that are too small to be halved: give ask_given_up to ask about them once more", id)
	}
	return fmt.Errorf("retry build %q: it ended as %s and left nothing to do: process the session again if it has grown, "+
		"or with from_log to extract from it with another extractor", id, l.Finished.Status)
}

// status describes the state of the build, for people.
func (l Last) status() string {
	if l.Finished == nil {
		return "interrupted"
	}
	return string(l.Finished.Status)
}

// retriedInput returns the input of the latest build, which is retried, without the messages. An interrupted build
// continues where it stopped.
func (l Last) retriedInput(askGivenUp bool) *schema.ProcessSessionInput {
	in := l.Started.Input
	in.Messages, in.Retry = nil, ""
	in.AskGivenUp = askGivenUp || l.Finished == nil && in.AskGivenUp
	return &in
}

// derivedSteps are done together. The next build begins with the first of them, and finds the events of it that are stored.
var derivedSteps = []string{schema.StepExtract, schema.StepAlign, schema.StepMaterialize, schema.StepCheck}

// Derived reports whether a build that goes on at the step has derived all of its entries.
func Derived(step string) bool {
	return slices.Contains(resumableSteps, step) && !slices.Contains(derivedSteps, step)
}

// resumableSteps are the steps that a build can go on with, in order.
var resumableSteps = append(slices.Clone(derivedSteps), schema.StepTasks, schema.StepMemory, schema.StepProject, schema.StepIndex, schema.StepCloseBuild)

// undone returns the first step of the finished build that left something to do, or "". Windows that were given up, in
// this build or an earlier one, are only left to do if they are asked about once more: the given number.
func (l Last) undone(windows int) string {
	f := l.Finished
	step := ""
	switch {
	case f.Status == schema.BuildFailed:
		step = f.FailedStep
	case f.Counts.IndexFailed > 0:
		step = schema.StepIndex
	}
	// A window without a complete answer is asked about again.
	if open := f.Counts.Quarantined - f.Counts.GivenUp + windows; open > 0 && (step == "" || slices.Contains(resumableSteps, step)) {
		step = schema.StepExtract
	}
	return step
}

// resumable returns the build to go on with, if there is one: the software has not changed since. An interrupted build
// goes on with the build that it would have gone on with.
func (l Last) resumable(spec schema.BuildSpec, windows int) *schema.ResumableBuild {
	if l.Finished == nil {
		if l.Before == nil {
			return nil
		}
		l = *l.Before
	}
	step := l.undone(windows)
	counts := countsBefore(step, l.Finished.Counts)
	if slices.Contains(derivedSteps, step) {
		step = derivedSteps[0]
	}
	if !slices.Contains(resumableSteps, step) || l.Started.Source.SHA256 == "" || !sameSoftware(spec, l.Started.Spec) {
		return nil
	}
	return &schema.ResumableBuild{
		ResumedBuild: schema.ResumedBuild{BuildID: l.Started.BuildID, Step: step},
		SHA256:       l.Started.Source.SHA256, Counts: counts,
	}
}

func sameSoftware(a, b schema.BuildSpec) bool {
	return a.Extractor.ID() == b.Extractor.ID() && a.EmbeddingVersion == b.EmbeddingVersion && a.SchemaVersion == b.SchemaVersion
}

// countsBefore returns the counts of the steps between ingest and the given one.
func countsBefore(step string, c schema.BuildCounts) (before schema.BuildCounts) {
	at := slices.Index(resumableSteps, step)
	if at > slices.Index(resumableSteps, schema.StepExtract) {
		before.Windows, before.Quarantined, before.GivenUp, before.Rejected = c.Windows, c.Quarantined, c.GivenUp, c.Rejected
	}
	if at > slices.Index(resumableSteps, schema.StepCheck) {
		before = c
		before.Messages, before.NewMessages, before.SkippedLines, before.Redacted, before.Indexed, before.IndexFailed = 0, 0, 0, 0, 0, 0
	}
	if at > slices.Index(resumableSteps, schema.StepIndex) {
		before.Indexed, before.IndexFailed = c.Indexed, c.IndexFailed
	}
	return before
}
