package rules

import (
	"slices"
	"strings"

	"axiommind/schema"
)

// makers are verbs of work that leaves something behind, as a request begins with them.
var makers = []string{
	"add", "analyze", "build", "change", "configure", "convert", "create", "debug", "delete", "deploy", "design",
	"document", "extend", "find", "fix", "implement", "improve", "inspect", "install", "integrate", "investigate",
	"migrate", "move", "optimize", "port", "refactor", "reload", "remove", "rename", "replace", "review", "rewrite",
	"set up", "update", "upgrade", "write",
}

// made are such verbs as a report begins with them, and the verb the task began with.
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
	contrast := []string{", not ", " not ", "instead of", "rather than"}
	return slices.Concat(
		group(cue{kind: decision},
			"we decided", "we've decided", "we have decided", "i decided", "i've decided", "i have decided",
			"let's use", "let us use", "let's go with", "let's switch to", "let's stick with", "we'll use",
			"we will use", "we'll go with", "we will go with", "we're going with", "we are going with",
			"we're going to use", "we are going to use", "we're switching to", "we are switching to",
			"we agreed to", "we agreed on", "we agreed that", "we settled on", "we chose", "we've chosen",
			"we have chosen", "we picked", "the decision is", "the decision was", "decision:", "decided:",
			"final decision"),
		group(cue{kind: decision, who: user},
			"i'll go with", "i'm going with", "i am going with", "i'll use", "we use", "we're using"),
		group(cue{kind: decision, place: atStart}, "going with", "decided to", "decided on", "settled on"),
		group(cue{kind: decision, who: user, place: atStart, with: []string{"instead of", "rather than"}}, "use"),

		group(cue{kind: preference, who: user},
			"i prefer", "i'd prefer", "i would prefer", "i like", "i love", "i don't like", "i do not like", "i hate",
			"i dislike", "please always", "please never", "please don't ever", "from now on", "going forward",
			"my preference", "my preferred", "i always", "i never", "don't ever", "make sure you always",
			"make sure to always", "i want you to always", "i want you to never"),
		group(cue{kind: preference, who: user, place: atStart}, "always", "never", "please don't", "please do not",
			"don't use", "do not use", "stop using"),
		group(cue{kind: void}, "i like it", "i like this", "i like that", "i like how", "i like the idea",
			"i love it", "i love this", "i love that", "i love how", "something i like", "never mind", "nevermind",
			"i never said", "always been"),

		group(cue{kind: correction, who: user},
			"that's wrong", "that is wrong", "that's not right", "that is not right", "that's incorrect",
			"that is incorrect", "that's not correct", "that is not correct", "you're wrong", "you are wrong",
			"you misunderstood", "not what i asked", "not what i meant", "not what i said", "what i meant",
			"i meant", "correction:"),
		group(cue{kind: correction, who: user, place: atStart},
			"no, actually", "actually, no", "actually no", "no, that's", "no, it's", "no, it is", "no, use", "no, the",
			"no, we", "no, i", "no, don't", "no, not", "actually, it's", "actually it's", "actually, the",
			"actually, we", "actually, i"),
		group(cue{kind: correction, who: user, with: contrast}, "should be", "should have been", "is supposed to be"),

		group(cue{kind: goal, who: user},
			"i want to", "we want to", "i'd like to", "we'd like to", "i would like to", "my goal is", "our goal is",
			"i'm trying to", "i am trying to", "we're trying to", "we are trying to", "i'm building", "i am building",
			"we're building", "we are building", "i plan to", "we plan to", "i'm planning to", "goal:"),
		group(cue{kind: goal}, "the goal is"),
		group(cue{kind: void}, "do i want to", "i want to know", "i want to understand", "i want to see", "i'd like to know",
			"i'd like to understand", "i would like to know", "i want to thank"),

		englishTasks(),

		group(cue{kind: doubt},
			"should we", "should i", "could we", "shall we", "can we", "what if", "if we", "if you", "if i", "if the",
			"if it", "maybe", "perhaps", "might", "want me to", "would you like", "do you want", "whether", "would be",
			"we could", "you could", "i could", "suppose", "for example", "e.g.", "hypothetically", "i think we",
			"we'd", "unless", "until we decide", "i suggest", "i recommend", "i'd recommend"),
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
	pending := cue{kind: task, status: schema.TaskPending, title: after}
	blocked := cue{kind: task, status: schema.TaskBlocked, title: before, blocker: after}
	done := cue{kind: task, status: schema.TaskDone, title: after}
	doing := cue{kind: task, status: schema.TaskInProgress, title: after}
	dropped := cue{kind: task, status: schema.TaskCancelled, title: before}
	report := done
	report.who, report.place = assistant, atStart
	first := done
	first.place = atStart
	mine := pending
	mine.who = user
	stated := done
	stated.title = before
	ongoing := doing
	ongoing.title = before

	cues := slices.Concat(
		group(report, "finished", "completed"),
		group(pending, "todo:", "to do:", "to-do:", "action item:", "we need to", "we still need to", "still need to",
			"still needs to", "we have to", "we must", "follow-up:", "fixme:", "next step:"),
		group(mine, "i need to", "i have to", "todo"),
		group(cue{kind: void}, "todo list", "to-do list", "todo app", "todos"),
		group(blocked, "blocked by", "blocked on", "waiting for", "waiting on", "stuck on", "can't proceed until",
			"cannot proceed until", "on hold until"),
		group(cue{kind: task, status: schema.TaskBlocked, title: before, blocker: none}, "is blocked", "is on hold"),
		group(cue{kind: void}, "while waiting for", "without waiting for", "stop waiting for", "waiting for the server",
			"waiting for your"),
		group(first, "done:", "completed:", "finished:", "done with", "finished with"),
		group(done, "i've finished", "i have finished", "i finished", "i've completed", "i have completed",
			"i completed", "we finished", "we've finished", "we completed", "we've completed"),
		group(stated, "is done", "are done", "is finished", "is complete", "is now complete", "has been completed",
			"have been completed", "has been fixed", "have been fixed", "is now fixed", "is fixed", "has been deployed",
			"has been merged", "is merged"),
		group(ongoing, "is in progress", "are in progress", "still in progress", "now in progress", "is under way",
			"is underway"),
		group(doing, "i'm working on", "i am working on", "we're working on", "we are working on",
			"currently working on", "wip:", "i started", "i've started", "we started", "we've started",
			"in progress:"),
		group(dropped, "is cancelled", "is canceled", "was cancelled", "was canceled", "been cancelled",
			"been canceled", "is no longer needed"),
		group(cue{kind: task, status: schema.TaskCancelled, title: after}, "cancelled:", "canceled:", "let's drop",
			"we dropped", "we're dropping", "we cancelled", "we canceled", "wontfix:"),
	)
	return slices.Concat(cues, englishRequests(), englishReports())
}

// englishRequests are the verbs of work at the start of what a user says, politely or not.
func englishRequests() []cue {
	leads := []string{"", "can you ", "could you ", "would you ", "please ", "can you please ", "could you please ",
		"can you help me ", "help me ", "can you also ", "i need you to ", "go ahead and ", "now ", "then ", "also "}
	var out []cue
	for _, lead := range leads {
		for _, verb := range makers {
			out = append(out, cue{text: lead + verb, kind: request, who: user, place: atStart,
				status: schema.TaskPending, title: after, verb: verb})
		}
	}
	return out
}

// englishReports are the same verbs in what an assistant says it did, or anyone in the first person.
func englishReports() []cue {
	var out []cue
	for past, verb := range made {
		c := cue{text: past, kind: task, who: assistant, place: atStart, status: schema.TaskDone, title: after, verb: verb}
		out = append(out, c)
		for _, lead := range []string{"i've ", "i have ", "i ", "we've ", "we have ", "we "} {
			c.text, c.who, c.place = lead+past, anyone, anywhere
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b cue) int { return strings.Compare(a.text, b.text) })
	return out
}
