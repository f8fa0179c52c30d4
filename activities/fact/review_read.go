package fact

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"axiommind/activities/evidence"
	"axiommind/activities/llm"
	language "axiommind/activities/text"
	"axiommind/schema"
)

// Removal is a fact that a model's answer names because the user's own words end it.
type Removal struct {
	// FactID is empty if the answer names none that was shown.
	FactID string `json:"fact_id"`
	// Version is the one that was shown.
	Version uint64 `json:"version"`
	// Answer is the key of the model's answer, and Reason the reason that it gives.
	Answer string `json:"answer"`
	Reason string `json:"reason"`
	// At is when the user said it.
	At       time.Time         `json:"at"`
	Evidence []schema.Evidence `json:"evidence,omitempty"`
	// Refused is why the fact stays, one of the constants SkippedRemoval… of package schema or [schema.SkippedReview].
	// Detail explains it to a person.
	Refused string `json:"refused,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// Review is one answer of a model with its question.
type Review struct {
	Answer   llm.Answered
	Shown    []schema.ShownFact
	Messages []schema.Message
	// EventID returns the id of the event that holds the message with the index.
	EventID func(index int) string
	// Date is the time of messages that have none.
	Date time.Time
}

// Unanswered is the removal that records why no fact was reviewed. The answer is the key of the question.
func Unanswered(answer, why string, at time.Time) Removal {
	return Removal{Answer: answer, At: at, Refused: schema.SkippedReview, Detail: language.Clip(why, maxReviewText)}
}

// maxReviewText is how much of a text of an answer is kept, in bytes.
const maxReviewText = 400

// maxTries is how many quotes an answer may give for one fact.
const maxTries = 3

// Removals returns the removals that the answer asks for: each fact once, with proof if one of its quotes proves. Quotes
// prove as those of entries do, and only in the message that the answer names, which must be one of the user.
func (r Review) Removals() []Removal {
	items, truncated, err := llm.ReadList(r.Answer.Text)
	switch {
	case err != nil:
		return []Removal{Unanswered(r.Answer.Key, err.Error(), r.Date)}
	case truncated || r.Answer.Truncated:
		return []Removal{Unanswered(r.Answer.Key, "the answer breaks off", r.Date)}
	}
	read := reviewReader{Review: r, shown: map[string]schema.ShownFact{}, messages: map[int]schema.Message{},
		aligners: map[int]*evidence.Aligner{}, at: map[string]int{}, tries: map[string]int{}}
	for _, s := range r.Shown {
		read.shown[s.FactID] = s
	}
	for _, m := range r.Messages {
		read.messages[m.Index] = m
	}
	for _, raw := range items {
		read.item(namedFactOf(raw))
	}
	if len(read.unknown) > 0 {
		read.out = append(read.out, Removal{
			Answer: r.Answer.Key, At: r.Date, Refused: schema.SkippedRemovalUnknown,
			Detail: language.Clip(fmt.Sprintf("the answer names %d facts that it was not shown: %s", read.unknowns, strings.Join(read.unknown, ", ")), maxReviewText),
		})
	}
	return read.out
}

// namedFact is an item of an answer.
type namedFact struct {
	id, reason, quote string
	message           int
}

// namedFactOf reads an item in the names and shapes that models give it. A missing text is empty, a missing message -1.
func namedFactOf(raw json.RawMessage) namedFact {
	x := namedFact{message: -1}
	for name, value := range lenient[object](raw) {
		text := strings.TrimSpace(strings.ReplaceAll(lenient[string](value), "\x00", ""))
		switch strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name)) {
		case "id", "factid":
			x.id = text
		case "reason":
			x.reason = text
		case "quote":
			x.quote = text
		case "messageindex", "index", "message":
			if text == "" {
				text = strings.TrimSuffix(string(value), ".0")
			}
			if n, err := strconv.Atoi(text); err == nil {
				x.message = n
			}
		}
	}
	if x.id == "" {
		x.id = lenient[string](raw) // A list of ids alone gives no proof.
	}
	return x
}

// reviewReader reads the items of an answer one after the other.
type reviewReader struct {
	Review
	shown    map[string]schema.ShownFact
	messages map[int]schema.Message
	aligners map[int]*evidence.Aligner
	// at is where out has the fact, and tries how often the answer named it.
	at    map[string]int
	tries map[string]int
	out   []Removal
	// unknown are the first of the ids that were not shown, and unknowns counts them all.
	unknown  []string
	unknowns int
}

// maxUnknown is the most unknown ids that are reported, and maxUnknownID the most bytes of each.
const (
	maxUnknown   = 5
	maxUnknownID = 40
)

func (r *reviewReader) item(x namedFact) {
	s, ok := r.shown[x.id]
	if !ok {
		if r.unknowns++; len(r.unknown) < maxUnknown {
			r.unknown = append(r.unknown, strconv.Quote(language.Clip(x.id, maxUnknownID)))
		}
		return
	}
	place, again := r.at[x.id]
	if again && r.out[place].Refused == "" || r.tries[x.id] == maxTries {
		return
	}
	r.tries[x.id]++
	removal := r.judge(x, s)
	switch {
	case !again:
		r.at[x.id] = len(r.out)
		r.out = append(r.out, removal)
	case removal.Refused == "":
		r.out[place] = removal
	}
}

// judge returns the removal of a fact that was shown, with the proof or the reason why there is none.
func (r *reviewReader) judge(x namedFact, s schema.ShownFact) Removal {
	out := Removal{FactID: s.FactID, Version: s.Version, Answer: r.Answer.Key, Reason: language.Clip(x.reason, maxReviewText), At: instant(r.Date)}
	refuse := func(why, format string, args ...any) Removal {
		out.Refused, out.Detail = why, language.Clip(fmt.Sprintf(format, args...), maxReviewText)
		return out
	}
	m, ok := r.messages[x.message]
	switch {
	case !ok:
		return refuse(schema.SkippedRemovalUnproven, "the answer names no message that it was shown")
	case m.Role != schema.RoleUser:
		return refuse(schema.SkippedRemovalNotUser, "message %d is not the user's: %q", m.Index, x.quote)
	}
	if !m.At.IsZero() {
		out.At = instant(m.At)
	}
	found, aligned := r.aligner(m).AlignEntry([]schema.Quote{{MessageIndex: m.Index, Quote: x.quote}})
	switch {
	case !aligned || !evidence.Proven(found):
		return refuse(schema.SkippedRemovalUnproven, "message %d does not say so in whole sentences: %q", m.Index, x.quote)
	case out.At.Before(instant(s.At)):
		return refuse(schema.SkippedRemovalOlder, "it was said at %s, and the fact at %s",
			out.At.Format(time.RFC3339), s.At.UTC().Format(time.RFC3339))
	}
	out.Evidence = found
	return out
}

func (r *reviewReader) aligner(m schema.Message) *evidence.Aligner {
	a := r.aligners[m.Index]
	if a == nil {
		a = evidence.NewAligner([]schema.Message{m}, r.EventID)
		r.aligners[m.Index] = a
	}
	return a
}
