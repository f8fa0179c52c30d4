package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"axiommind/activities/graduate"
	"axiommind/schema"
)

const (
	passTitle = "review changes"
)

var graduations *graduate.Activities

// graduation is the only writer of the stream about entries across the sessions of a project. Sessions with changes
// wake it and do not wait for its results.
var graduation = writer[schema.GraduationInput]{
	updates: []updateHandler{
		update[graduate.Command, graduate.CommandResult]{
			name:     schema.UpdateCommand,
			title:    func(c graduate.Command) string { return string(c.Op) + " for " + c.Actor },
			activity: graduations.RunGraduationCommand,
			options:  storeWork,
			due:      passOfCommand,
		},
		update[graduate.PassInput, graduate.PassResult]{
			name:     schema.UpdateGraduate,
			title:    titleOfPass,
			activity: graduations.GraduateProject,
			options:  storeWork,
		},
		update[graduate.AskInput, graduate.AskResult]{
			name:     schema.UpdateAsk,
			title:    func(in graduate.AskInput) string { return "ask a model for " + in.Actor },
			activity: graduations.AskEntries,
			options:  modelWork,
			due:      passOfAnswer,
		},
		update[graduate.FindInput, graduate.FindResult]{
			name:     schema.UpdateFind,
			title:    func(in graduate.FindInput) string { return "ask a model about contradictions for " + in.Actor },
			activity: graduations.FindConflicts,
			options:  modelWork,
			due:      passOfFound,
		},
	},
	background: &background[schema.GraduationInput]{
		signal: schema.SignalWake,
		delay:  func(p schema.Timing, _ schema.GraduationInput) time.Duration { return p.Graduation },
		title:  passTitle,
		step:   considerNew,
		again:  backoff,
	},
}

// passOfCommand returns when a pass is due after a command: at once if the command stored events, which may change
// comparisons.
func passOfCommand(r graduate.CommandResult) time.Time {
	if r.Events == 0 {
		return time.Time{}
	}
	return atOnce
}

// passOfAnswer returns when a pass is due after a model was asked about entries: at once if entries became verified,
// which may corroborate others.
func passOfAnswer(r graduate.AskResult) time.Time {
	if r.Confirmed == 0 {
		return time.Time{}
	}
	return atOnce
}

// passOfFound returns when a pass is due after a model was asked for contradictions: at once if it found a conflict.
func passOfFound(r graduate.FindResult) time.Time {
	if r.Found == 0 {
		return time.Time{}
	}
	return atOnce
}

func titleOfPass(in graduate.PassInput) string {
	switch {
	case in.Apply:
		return passTitle + ", and demote entries past their half-life, for " + in.Actor
	case in.Demote:
		return passTitle + ", and list entries past their half-life"
	default:
		return passTitle
	}
}

// considerNew considers some of the sessions with changes. It is due again at once if others are left.
func considerNew(ctx workflow.Context, in schema.GraduationInput, head schema.StreamHead, _ bool) (after schema.StreamHead, due time.Time, err error) {
	pass := graduate.PassInput{Project: in.Project, At: workflow.Now(ctx).UTC(), Head: head}
	result, err := call(storeWork(ctx, passTitle), graduations.GraduateProject, pass)
	if err == nil && result.More {
		due = workflow.Now(ctx)
	}
	return result.Head, due, err
}
