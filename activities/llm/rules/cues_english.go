package rules

import (
	"slices"
	"strings"

	"axiommind/schema"
)

// changers are verbs of work that changes a project, as an order to an agent begins with them.
var changers = []string{
	"add", "build", "change", "configure", "convert", "delete", "deploy", "document", "extend", "fix", "implement",
	"improve", "install", "integrate", "migrate", "move", "optimize", "port", "refactor", "remove", "rename", "replace",
	"resolve", "set up", "update", "upgrade",
}

// made are verbs of work as a report begins with them, and the verb the task began with.
var made = map[string]string{
	"added": "add", "built": "build", "changed": "change", "converted": "convert", "created": "create",
	"deleted": "delete", "deployed": "deploy", "documented": "document", "extended": "extend", "fixed": "fix",
	"implemented": "implement", "improved": "improve", "installed": "install", "integrated": "integrate",
	"merged": "merge", "migrated": "migrate", "optimized": "optimize", "pinned": "pin", "ported": "port",
	"refactored": "refactor", "removed": "remove", "renamed": "rename", "replaced": "replace",
	"resolved": "resolve", "rewrote": "rewrite", "updated": "update", "upgraded": "upgrade", "wrote": "write",
	"written": "write", "shipped": "ship",
}

func englishCues() []cue {
	contrast := []string{", not ", "instead of", "rather than"}
	return slices.Concat(
		group(cue{kind: decision},
			"we decided", "we've decided", "we have decided",
			"we agreed to", "we agreed on", "we agreed that", "we settled on", "we chose", "we've chosen",
			"we have chosen", "we picked", "the decision is to", "the decision was to"),
		group(cue{kind: decision, place: atStart}, "decision:", "decided:", "final decision:"),
		group(cue{kind: decision, hands: true},
			"i decided", "i've decided", "i have decided", "let's use", "let us use", "let's go with", "let's switch to", "let's stick with", "we'll use",
			"we will use", "we'll go with", "we will go with", "we're going with", "we are going with",
			"we're going to use", "we are going to use", "we're switching to", "we are switching to"),
		group(cue{kind: decision, who: user, hands: true},
			"i'll go with", "i'm going with", "i am going with", "we use", "we're using"),
		group(cue{kind: decision, place: atStart, hands: true}, "going with", "decided to", "decided on", "settled on"),
		group(cue{kind: decision, who: user, place: atStart, with: []string{"instead of", "rather than"}, hands: true}, "use"),

		group(cue{kind: preference, who: user},
			"please always", "please never", "please don't ever", "from now on", "going forward", "don't ever",
			"make sure you always", "make sure to always", "i want you to always", "i want you to never"),
		group(cue{kind: preference, who: user, place: atStart}, "always", "never"),
		group(cue{kind: preference, who: user, place: atStart, hands: true}, "please don't", "please do not", "don't use",
			"do not use", "stop using"),
		group(cue{kind: void}, "never mind", "nevermind", "i never said", "always been"),

		group(cue{kind: correction, who: user, with: contrast}, "correction:", "should be", "should have been",
			"is supposed to be"),
		group(cue{kind: correction, who: user, place: atStart},
			"no, actually", "actually, no", "actually no", "no, that's", "no, it's", "no, it is", "no, use", "no, the",
			"no, we", "no, don't", "actually, it's", "actually it's", "actually, the", "actually, we"),

		group(cue{kind: goal, who: user}, "my goal is"),
		group(cue{kind: goal, who: user, hands: true}, "our goal is"),
		group(cue{kind: goal, who: user, place: atStart}, "goal:", "the goal is"),

		englishTasks(),

		group(cue{kind: doubt},
			"should we", "should i", "could we", "shall we", "can we", "what if", "if we", "if you", "if i", "if the",
			"if it", "maybe", "perhaps", "might", "want me to", "would you like", "do you want", "whether", "would be",
			"we could", "you could", "i could", "suppose", "for example", "e.g.", "hypothetically", "i think",
			"we'd", "unless", "until we decide", "i suggest", "i recommend", "i'd recommend", "once", "when", "after"),
		group(cue{kind: void}, "after all"),
		group(cue{kind: negation}, "not", "never", "no longer", "nobody", "hardly", "without", "n't", "yet to"),

		group(cue{kind: priority, rank: schema.PriorityHigh}, "urgent", "urgently", "asap", "high priority",
			"high-priority", "top priority", "as soon as possible", "p1"),
		group(cue{kind: priority, rank: schema.PriorityCritical}, "critical priority", "priority: critical", "p0"),
		group(cue{kind: priority, rank: schema.PriorityLow}, "low priority", "low-priority", "nice to have",
			"nice-to-have", "no rush", "when you have time"),
		group(cue{kind: void}, "non-urgent", "not urgent"),
	)
}

func englishTasks() []cue {
	marked := cue{kind: task, status: schema.TaskPending, title: after, place: atStart}
	pending := cue{kind: task, status: schema.TaskPending, title: after, hands: true}
	blocked := cue{kind: task, status: schema.TaskBlocked, title: before, blocker: after}
	waits := blocked
	waits.hands = true
	done := cue{kind: task, status: schema.TaskDone, title: after}
	report := done
	report.who, report.place, report.hands = assistant, atStart, true
	first := done
	first.place = atStart
	told, mine := done, done
	told.who, mine.who, mine.hands = assistant, user, true
	finishes := []string{"i've finished", "i have finished", "i've completed", "i have completed", "we've finished",
		"we've completed"}
	stated := done
	stated.title, stated.hands = before, true
	doing := cue{kind: task, status: schema.TaskInProgress, title: after}
	ongoing := doing
	ongoing.title, ongoing.hands = before, true
	dropped := cue{kind: task, status: schema.TaskCancelled, title: before, hands: true}

	cues := slices.Concat(
		group(marked, "todo:", "to do:", "to-do:", "action item:", "fixme:", "follow-up:", "next step:"),
		group(pending, "we need to", "we still need to", "still need to", "still needs to", "we have to", "we must",
			"next i will", "next, i will", "next i'll", "next, i'll", "todo"),
		group(cue{kind: void}, "todo list", "to-do list", "todo app", "todos"),
		group(blocked, "blocked by", "blocked on", "can't proceed until", "cannot proceed until", "on hold until"),
		group(waits, "waiting for", "waiting on", "stuck on"),
		group(cue{kind: task, status: schema.TaskBlocked, title: before, blocker: none, hands: true}, "is blocked", "is on hold"),
		group(cue{kind: void}, "while waiting for", "without waiting for", "stop waiting for", "waiting for the server",
			"waiting for your"),
		group(report, "finished", "completed"),
		group(first, "done:", "completed:", "finished:", "done with", "finished with"),
		group(told, finishes...),
		group(mine, finishes...),
		group(stated, "is done", "are done", "is finished", "is complete", "is now complete", "has been completed",
			"have been completed", "has been fixed", "have been fixed", "is now fixed", "is fixed", "has been deployed",
			"has been merged", "is merged"),
		group(ongoing, "is in progress", "are in progress", "still in progress", "now in progress", "is under way",
			"is underway"),
		group(doing, "wip:", "in progress:"),
		group(cue{kind: task, status: schema.TaskInProgress, title: after, hands: true}, "i'm working on", "i am working on",
			"we're working on", "we are working on", "currently working on"),
		group(dropped, "is cancelled", "is canceled", "was cancelled", "was canceled", "been cancelled",
			"been canceled", "is no longer needed"),
		group(cue{kind: task, status: schema.TaskCancelled, title: after, hands: true}, "cancelled:", "canceled:", "let's drop",
			"we dropped", "we're dropping", "we cancelled", "we canceled", "wontfix:"),
	)
	return slices.Concat(cues, englishRequests(), englishReports())
}

// englishRequests are orders to an agent, politely or not.
func englishRequests() []cue {
	leads := []string{"", "can you ", "could you ", "please ", "can you help me ", "can you also "}
	var out []cue
	for _, lead := range leads {
		for _, verb := range changers {
			out = append(out, cue{text: lead + verb, kind: request, who: user, place: atStart, hands: true,
				status: schema.TaskPending, title: after, verb: verb})
		}
	}
	return out
}

// englishReports are what an assistant says it did.
func englishReports() []cue {
	var out []cue
	for past, verb := range made {
		c := cue{text: past, kind: task, who: assistant, place: atStart, hands: true, status: schema.TaskDone, title: after,
			verb: verb}
		out = append(out, c)
		for _, lead := range []string{"i've ", "i have ", "i ", "we've ", "we have ", "we "} {
			c.text, c.place = lead+past, anywhere
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b cue) int { return strings.Compare(a.text, b.text) })
	return out
}
