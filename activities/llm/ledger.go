package llm

import (
	"iter"

	"axiommind/activities/session"
	"axiommind/schema"
)

// windowKey identifies a window in its session. The hash alone does not: two parts of one message may have the same hash.
type windowKey struct {
	hash             string
	first, byteStart int
}

func windowKeyOf(w schema.Window) windowKey { return windowKey{w.Hash, w.First, w.ByteStart} }

// nextStep is the next step for a window that was asked about.
type nextStep int

const (
	// settled: it has a complete answer, or its halves have replaced it.
	settled nextStep = iota
	// givenUp: it failed and is too small to be halved.
	givenUp
	// later: the next build continues it.
	later
	// again: the model is asked about it again, or only for the rest if there was an answer.
	again
	// halve: its halves are asked about.
	halve
)

// halvedAtOnce is the number of windows that a build may halve in which they failed: enough to find one passage in a
// window that the model can't answer, and so few that a model that never answers costs little.
const halvedAtOnce = 8

// ledger records which windows of a session an extractor has asked about, for one build.
type ledger struct {
	buildID string
	// askGivenUp asks once more about the windows that earlier builds have given up.
	askGivenUp bool
	from       session.Frontier
	// places are in the order in which they were first asked about. last is the latest extraction of each, without
	// its entries, and failed holds those that are not asked about again as they are.
	places []windowKey
	last   map[windowKey]extraction
	failed map[windowKey]bool
	// recorded counts the build's records once open has been called: each window by its latest extraction, without
	// those that are asked about next and those that were halved.
	recorded RecordResult
}

func newLedger(buildID string) *ledger {
	return &ledger{buildID: buildID, last: map[windowKey]extraction{}, failed: map[windowKey]bool{}}
}

func (l *ledger) add(x extraction) {
	l.from = l.from.Furthest(l.from.After(x.Window))
	if x.buildID == l.buildID {
		l.recorded.add(x.MemoryExtractedPayload)
	}
	at := windowKeyOf(x.Window)
	if _, known := l.last[at]; !known {
		l.places = append(l.places, at)
	}
	l.failed[at] = x.Failed()
	// Entries of a truncated answer that were kept once stay kept.
	x.Window.Kept = l.last[at].Window.Kept || x.Window.Kept || len(x.Entries) > 0
	x.Entries, x.Rejected = nil, nil
	l.last[at] = x
}

// halves are the extractions of the halves of a window, as far as there are any.
type halves struct{ left, right bool }

func (h halves) both() bool { return h.left && h.right }

// halvesOf looks for the halves of the window. The parts of a half are asked about after it.
func (l *ledger) halvesOf(w schema.Window) (found halves) {
	for _, at := range l.places {
		v := l.last[at].Window
		if at == windowKeyOf(w) || !w.Contains(v) {
			continue
		}
		found.left = found.left || v.First == w.First && v.ByteStart == w.ByteStart
		found.right = found.right || v.Last == w.Last && v.ByteEnd == w.ByteEnd
	}
	return found
}

// decide returns the fate of each of the places.
//
// A failed window is not sent again as it is, unless it is too small to be halved and the build is forced to ask once
// more: the next build asks about its halves. The build of the failure asks about them itself if that costs little, to
// save the user another build. That is always so if the window is too long, because such a question costs nothing. It
// also asks for as many other windows as the model has given it complete answers, or for [halvedAtOnce] of them.
func (l *ledger) decide() []nextStep {
	fates, atOnce := make([]nextStep, len(l.places)), 0
	budget := halvedAtOnce
	var candidates []int
	answered := 0
	for i, at := range l.places {
		x := l.last[at]
		mine := x.buildID == l.buildID
		passing := schema.ClassOf(x.FailureType()) == schema.FailurePassing
		switch {
		case x.Answered():
			if mine {
				answered++
			}
		case !l.failed[at]:
			fates[i] = again
		case x.Window.Small && !passing && (mine || !l.askGivenUp):
			fates[i] = givenUp
		case x.Window.Small && mine:
			fates[i] = later
		case x.Window.Small:
			fates[i] = again
		default:
			found := l.halvesOf(x.Window)
			free := !mine || x.FailureType() == schema.ErrorModelTooLong
			switch begun := found.left || found.right; {
			case begun && mine && !free:
				atOnce++
			case !begun && !free && passing:
				fates[i] = later
				continue
			case !begun && !free:
				candidates = append(candidates, i)
				continue
			}
			if !found.both() {
				fates[i] = halve
			}
		}
	}
	budget = max(budget, answered)
	for _, i := range candidates {
		if fates[i] = later; atOnce < budget {
			fates[i] = halve
			atOnce++
		}
	}
	return fates
}

// open returns the windows to ask about again and the halves to ask about. It counts the others.
func (l *ledger) open(
	halveWindow func(schema.Window) (left, right schema.Window, ok bool, err error),
) (windows []schema.Window, err error) {
	for i, f := range l.decide() {
		at := l.places[i]
		x := l.last[at]
		switch f {
		case again:
			x.Window.Asked++
			windows = append(windows, x.Window)
			continue
		case halve:
			left, right, ok, err := halveWindow(x.Window)
			if err != nil {
				return nil, err
			}
			if ok {
				windows = l.missing(windows, left, right)
				continue
			}
		case settled:
			if !x.Answered() {
				continue
			}
		}
		if x.buildID == l.buildID {
			l.recorded.count(x.MemoryExtractedPayload)
		}
	}
	return windows, nil
}

// missing appends those of the windows that were not asked about. If entries of a window that contains them were kept,
// so are theirs.
func (l *ledger) missing(windows []schema.Window, of ...schema.Window) []schema.Window {
	for _, w := range of {
		if _, asked := l.last[windowKeyOf(w)]; asked {
			continue
		}
		for _, at := range l.places {
			if x := l.last[at]; x.Window.Kept && x.Window.Contains(w) {
				w.Kept = true
				break
			}
		}
		windows = append(windows, w)
	}
	return windows
}

// next returns the first windows that the build should ask about: the open ones, and then those beyond the frontier. The
// messages are the session's, starting at the frontier or earlier.
func (l *ledger) next(
	open []schema.Window, messages iter.Seq2[schema.Message, error], cut session.Cut,
) (windows []schema.Window, more bool, err error) {
	if len(open) > cut.Limit {
		return open[:cut.Limit], true, nil
	}
	cut.Limit -= len(open)
	fresh, more, err := session.Plan(messages, l.from, cut)
	return append(open, fresh...), more, err
}
