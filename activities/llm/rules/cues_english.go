package rules

import (
	"slices"

	"axiommind/schema"
)

func englishCues() []cue {
	contrast := []string{", not ", "instead of", "rather than"}
	return slices.Concat(
		group(cue{kind: decision},
			"we decided", "we've decided", "we agreed to", "we agreed on", "we agreed that", "we settled on", "we chose", "we've chosen",
			"we picked", "the decision is to", "the decision was to"),
		group(cue{kind: decision, opens: true}, "decision:", "decided:", "final decision:"),
		group(cue{kind: decision, hands: true}, "i decided", "i've decided", "let's use", "let's go with", "we'll use", "we'll go with"),

		group(cue{kind: preference, who: schema.RoleUser},
			"please always", "please never", "please don't ever", "from now on", "going forward", "don't ever",
			"make sure you always", "make sure to always", "i want you to always", "i want you to never"),
		group(cue{kind: preference, who: schema.RoleUser, opens: true}, "always", "never"),
		group(cue{kind: preference, who: schema.RoleUser, opens: true, hands: true}, "please don't", "please do not", "don't use",
			"do not use", "stop using"),
		group(cue{kind: preference, who: schema.RoleUser, opens: true}, "i prefer"),
		group(cue{kind: void}, "i prefer it", "i prefer this", "i prefer that", "i prefer the", "i prefer them", "i prefer not"),
		group(cue{kind: void}, "never mind", "nevermind", "i never said", "always been"),

		group(cue{kind: correction, who: schema.RoleUser, with: contrast}, "correction:", "should be", "should have been", "is supposed to be"),
		group(cue{kind: correction, who: schema.RoleUser, opens: true},
			"no, actually", "actually, no", "actually no", "no, that's", "no, it's", "no, it is", "no, use", "no, the",
			"no, we", "no, don't", "actually, it's", "actually it's", "actually, the", "actually, we"),

		group(cue{kind: goal, who: schema.RoleUser}, "my goal is"),
		group(cue{kind: goal, who: schema.RoleUser, opens: true}, "goal:", "the goal is"),

		englishTasks(),

		group(cue{kind: doubt},
			"should we", "should i", "could we", "shall we", "can we", "what if", "if we", "if you", "if i", "if the", "if it", "maybe",
			"perhaps", "might", "want me to", "would you like", "do you want", "whether", "would be", "we could", "you could",
			"i could", "suppose", "for example", "e.g.", "hypothetically", "i think", "we'd", "unless", "until we decide",
			"i suggest", "i recommend", "i'd recommend", "once", "when", "after"),
		group(cue{kind: void}, "after all"),
		group(cue{kind: negation}, "not", "never", "no longer", "nobody", "hardly", "without", "n't", "yet to"),

		group(cue{kind: priority, rank: schema.PriorityHigh}, "urgent", "urgently", "asap", "high priority",
			"high-priority", "top priority", "as soon as possible", "p1"),
		group(cue{kind: priority, rank: schema.PriorityCritical}, "critical priority", "priority: critical", "p0"),
		group(cue{kind: priority, rank: schema.PriorityLow}, "low priority", "low-priority", "nice to have", "nice-to-have", "no rush",
			"when you have time"),
		group(cue{kind: void}, "non-urgent", "not urgent"),
	)
}

func englishTasks() []cue {
	marked := cue{kind: task, status: schema.TaskPending, title: after, opens: true}
	blocked := cue{kind: task, status: schema.TaskBlocked, title: before, blocker: after}
	waits := cue{kind: task, status: schema.TaskBlocked, title: before, blocker: after, hands: true}
	done := cue{kind: task, status: schema.TaskDone, title: after, opens: true}
	told := cue{kind: task, status: schema.TaskDone, title: after, who: schema.RoleAssistant}
	mine := cue{kind: task, status: schema.TaskDone, title: after, who: schema.RoleUser, hands: true}
	finishes := []string{"i've finished", "i've completed", "we've finished", "we've completed"}
	doing := cue{kind: task, status: schema.TaskInProgress, title: after}
	return slices.Concat(
		group(marked, "todo:", "to do:", "to-do:", "action item:", "fixme:", "follow-up:", "next step:"),
		group(blocked, "blocked by", "blocked on", "can't proceed until", "cannot proceed until", "on hold until"),
		group(waits, "waiting for", "waiting on", "stuck on"),
		group(cue{kind: task, status: schema.TaskBlocked, title: before, blocker: none, hands: true}, "is blocked", "is on hold"),
		group(cue{kind: void}, "while waiting for", "without waiting for", "stop waiting for", "waiting for the server", "waiting for your"),
		group(done, "done:", "completed:", "finished:", "done with", "finished with"),
		group(told, finishes...),
		group(mine, finishes...),
		group(cue{kind: task, status: schema.TaskDone, title: before, hands: true}, "is done", "are done", "is finished",
			"is complete", "is now complete", "has been completed", "have been completed", "has been fixed", "have been fixed", "is fixed",
			"has been merged", "is merged", "has been deployed"),
		group(cue{kind: task, status: schema.TaskInProgress, title: before, hands: true}, "is in progress", "are in progress"),
		group(doing, "wip:", "in progress:"),
		group(cue{kind: task, status: schema.TaskInProgress, title: after, hands: true}, "i'm working on", "we're working on"),
		group(cue{kind: task, status: schema.TaskCancelled, title: before, hands: true}, "is cancelled", "is canceled",
			"was cancelled", "was canceled", "been cancelled", "been canceled", "is no longer needed"),
		group(cue{kind: task, status: schema.TaskCancelled, title: after, hands: true}, "cancelled:", "canceled:", "wontfix:"),
	)
}
