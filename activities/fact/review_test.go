package fact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/evidence"
	"axiommind/activities/llm"
	"axiommind/schema"
)

var noon = time.Date(2026, 6, 7, 12, 0, 0, 0, time.UTC)

// reviewOf is an answer about the facts fact_1 and fact_2, and messages of the user and the assistant in turn.
func reviewOf(text string, messages ...string) Review {
	r := Review{
		Answer:  llm.Answered{Key: "answer", Text: text},
		Shown:   []schema.ShownFact{{FactID: "fact_1", Version: 7, At: noon}, {FactID: "fact_2", Version: 8, At: noon}},
		EventID: func(i int) string { return fmt.Sprint("event-", i) },
		Date:    noon,
	}
	for i, m := range messages {
		role := schema.RoleUser
		if i%2 == 1 {
			role = schema.RoleAssistant
		}
		r.Messages = append(r.Messages, schema.Message{Index: i, Role: role, Kind: schema.KindText, Text: m})
	}
	return r
}

func removing(id string, index int, quote string) string {
	data, _ := json.Marshal(map[string]any{"entries": []any{map[string]any{"id": id, "reason": "r", "messageIndex": index, "quote": quote}}})
	return string(data)
}

// Only whole sentences of a message of the user prove, in every language.
func TestRemovals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		quote    string
		index    int
		messages []string
		refused  string
	}{
		"english":           {"I left Berlin.", 0, []string{"Hello. I left Berlin. And you?"}, ""},
		"no full stop":      {"I left Berlin", 0, []string{"I left Berlin."}, ""},
		"korean":            {"저는 이제 베를린에 살지 않아요.", 0, []string{"안녕하세요. 저는 이제 베를린에 살지 않아요. 리스본으로 이사했어요."}, ""},
		"japanese":          {"もうベルリンには住んでいません。", 0, []string{"こんにちは。もうベルリンには住んでいません。"}, ""},
		"chinese":           {"我已经不住在柏林了。", 0, []string{"你好。我已经不住在柏林了。我搬到了里斯本。"}, ""},
		"german":            {"Ich wohne nicht mehr in Berlin.", 0, []string{"Übrigens: gut. Ich wohne nicht mehr in Berlin. Grüße!"}, ""},
		"arabic":            {"لم أعد أسكن في برلين.", 0, []string{"مرحبا. لم أعد أسكن في برلين."}, ""},
		"hindi":             {"मैं अब बर्लिन में नहीं रहता।", 0, []string{"नमस्ते। मैं अब बर्लिन में नहीं रहता।"}, ""},
		"a line of several": {"- not Berlin any more", 0, []string{"Notes:\n- not Berlin any more\n- Lisbon"}, ""},
		"later message":     {"I left Berlin.", 2, []string{"Hi.", "Hello.", "I left Berlin."}, ""},

		"part of a sentence":   {"left Berlin", 0, []string{"I never left Berlin."}, schema.SkippedRemovalUnproven},
		"paraphrase":           {"I do not live in Berlin any more.", 0, []string{"I left Berlin."}, schema.SkippedRemovalUnproven},
		"without its not":      {"I live in Berlin.", 0, []string{"I do not live in Berlin."}, schema.SkippedRemovalUnproven},
		"korean part":          {"베를린에 살지 않아요", 0, []string{"저는 베를린에 살지 않아요, 그렇죠?"}, schema.SkippedRemovalUnproven},
		"joined":               {"I left ... Lisbon.", 0, []string{"I left Berlin. I love Lisbon."}, schema.SkippedRemovalUnproven},
		"empty":                {"", 0, []string{"I left Berlin."}, schema.SkippedRemovalUnproven},
		"too short":            {"No.", 0, []string{"No."}, schema.SkippedRemovalUnproven},
		"no such message":      {"I left Berlin.", 9, []string{"I left Berlin."}, schema.SkippedRemovalUnproven},
		"negative message":     {"I left Berlin.", -1, []string{"I left Berlin."}, schema.SkippedRemovalUnproven},
		"another message":      {"I left Berlin.", 2, []string{"I left Berlin.", "I see.", "Good."}, schema.SkippedRemovalUnproven},
		"the assistant's":      {"You left Berlin.", 1, []string{"So?", "You left Berlin."}, schema.SkippedRemovalNotUser},
		"the user said it too": {"Berlin is no longer home.", 1, []string{"Berlin is no longer home.", "Berlin is no longer home."}, schema.SkippedRemovalNotUser},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := reviewOf(removing("fact_1", tt.index, tt.quote), tt.messages...).Removals()
			require.Len(t, out, 1)
			require.Equal(t, tt.refused, out[0].Refused, out[0].Detail)
			require.Equal(t, "fact_1", out[0].FactID)
			require.EqualValues(t, 7, out[0].Version)
			require.Equal(t, "answer", out[0].Answer)
			require.Equal(t, tt.refused == "", len(out[0].Evidence) == 1)
			require.Equal(t, tt.refused != "", out[0].Detail != "")
			if tt.refused == "" {
				require.True(t, out[0].Evidence[0].Proven)
				require.Equal(t, fmt.Sprint("event-", tt.index), out[0].Evidence[0].EventID)
			}
		})
	}
}

// A statement from before the fact ends nothing, to the microsecond.
func TestRemovalsOlderThanTheFact(t *testing.T) {
	t.Parallel()
	for after, refused := range map[time.Duration]string{
		-time.Microsecond: schema.SkippedRemovalOlder, 0: "", 100 * time.Nanosecond: "", time.Hour: "",
	} {
		r := reviewOf(removing("fact_1", 0, "I left Berlin."), "I left Berlin.")
		r.Messages[0].At = noon.Add(after)
		out := r.Removals()
		require.Equal(t, refused, out[0].Refused)
		require.Equal(t, instant(noon.Add(after)), out[0].At)
	}
}

// Models give names and shapes as they like.
func TestRemovalsReadTolerantly(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"fence":      "```json\n{\"entries\":[{\"id\":\"fact_1\",\"messageIndex\":0,\"quote\":\"I left Berlin.\"}]}\n```",
		"snake case": `{"entries":[{"fact_id":"fact_1","message_index":"0","quote":"I left Berlin."}]}`,
		"bare list":  `[{"factId":" fact_1 ","index":0.0,"quote":"I left Berlin."}]`,
		"thoughts":   `<think>{"entries":[]}</think>{"entries":[{"id":"fact_1","messageIndex":0,"quote":"I left Berlin.","reason":null}]}`,
		"again":      `{"entries":[{"id":"fact_1","messageIndex":0,"quote":"left"},{"id":"fact_1","messageIndex":0,"quote":"I left Berlin."},{"id":"fact_1","messageIndex":0,"quote":"no"}]}`,
		"a NUL":      `{"entries":[{"id":"fact_1","messageIndex":0,"quote":"I left\u0000 Berlin.","reason":"\u0000"}]}`,
	} {
		out := reviewOf(text, "I left Berlin.").Removals()
		require.Len(t, out, 1, name)
		require.Equal(t, "fact_1", out[0].FactID, name)
		require.Empty(t, out[0].Refused, "%s: %s", name, out[0].Detail)
	}
	require.Empty(t, reviewOf(`{"entries":[]}`, "I left Berlin.").Removals())
	for name, text := range map[string]string{
		"prose": "Nothing.", "nothing": "", "breaks off": `{"entries":[{"id":"fact_1","messageIndex":0,"quote":"I left Berlin."},{"id":"fa`,
	} {
		out := reviewOf(text, "I left Berlin.").Removals()
		require.Len(t, out, 1, name)
		require.Equal(t, schema.SkippedReview, out[0].Refused, name)
		require.Empty(t, out[0].FactID)
		require.NotEmpty(t, out[0].Detail)
	}
	r := reviewOf(removing("fact_1", 0, "I left Berlin."), "I left Berlin.")
	r.Answer.Truncated = true
	require.Equal(t, schema.SkippedReview, r.Removals()[0].Refused)
}

// Ids that were not shown remove nothing, whatever they hold and however many there are.
func TestRemovalsOfUnknownFacts(t *testing.T) {
	t.Parallel()
	var items []any
	for _, id := range []string{"fact_3", "FACT_1", "fact_1/entry/x", "fact_1\n", "*", "", "'; DROP TABLE facts_raw; --", "\x1b[31m", strings.Repeat("한", 10_000)} {
		items = append(items, map[string]any{"id": id, "messageIndex": 0, "quote": "I left Berlin."})
	}
	items = append(items, "fact_2", 7, nil, []any{"fact_1"})
	data, err := json.Marshal(map[string]any{"entries": items})
	require.NoError(t, err)
	out := reviewOf(string(data), "I left Berlin.").Removals()
	require.Len(t, out, 3)
	// An id with white space around it is the id, and one without a quote is no proof.
	require.Equal(t, []string{"fact_1", "fact_2", ""}, []string{out[0].FactID, out[1].FactID, out[2].FactID})
	require.Equal(t, []string{"", schema.SkippedRemovalUnproven, schema.SkippedRemovalUnknown}, []string{out[0].Refused, out[1].Refused, out[2].Refused})
	require.Contains(t, out[2].Detail, "11 facts")
	require.LessOrEqual(t, len(out[2].Detail), maxReviewText+len("…"))
	require.NotContains(t, out[2].Detail, "\x1b")
}

// Whatever an answer holds: a fact is named once, only one that was shown, and removed only with proof.
func TestRemovalsOfAnyAnswer(t *testing.T) {
	t.Parallel()
	messages := []string{"I left Berlin. I like Lisbon.", "You left Berlin.", "Forget my car."}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"I left Berlin.", "You left Berlin.", "Forget my car.", "Lisbon", "", "\u202e"})
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
			return map[string]any{
				"id":           rapid.OneOf(rapid.SampledFrom([]string{"fact_1", "fact_2", "fact_3"}), rapid.String()).Draw(t, "id"),
				"messageIndex": rapid.OneOf(rapid.IntRange(0, 2), rapid.Int()).Draw(t, "index"),
				"quote":        rapid.OneOf(text, rapid.String()).Draw(t, "quote"), "reason": rapid.String().Draw(t, "reason"),
			}
		}), 0, 8).Draw(t, "items")
		data, err := json.Marshal(map[string]any{"entries": items})
		if err != nil {
			t.Skip("no JSON")
		}
		seen := map[string]bool{}
		for _, r := range reviewOf(string(data), messages...).Removals() {
			if seen[r.FactID] || r.FactID == "fact_3" {
				t.Fatalf("%q is named twice, or was not shown", r.FactID)
			}
			seen[r.FactID] = true
			if r.Refused == "" && (len(r.Evidence) != 1 || !r.Evidence[0].Proven || r.Evidence[0].MessageIndex == 1) {
				t.Fatalf("%+v has no proof", r)
			}
		}
	})
}

func FuzzRemovals(f *testing.F) {
	for _, seed := range []string{"", "[]", "{", removing("fact_1", 0, "I left Berlin."), `{"entries":["fact_1"]}`, `{"entries":[{"id":{},"quote":[]}]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range reviewOf(text, "I left Berlin.", "You left.", "Forget it all.").Removals() {
			require.True(t, r.Refused != "" || len(r.Evidence) == 1 && r.Evidence[0].Proven)
			require.Contains(t, []string{"", "fact_1", "fact_2"}, r.FactID)
		}
	})
}

// planned plans the removals for a memory of one active fact, one deleted fact, and a batch that states the first again.
func planned(t *testing.T, entries []schema.Entry, removals ...Removal) []schema.Event {
	t.Helper()
	m := Memory{Active: 1, Facts: []Fact{
		{ID: "fact_1", Content: "Lives in Berlin", Category: "context", Status: Active, CreatedSeq: 7, Version: 7, CreatedAt: noon},
		{ID: "fact_2", Content: "Owns a cat", Category: "context", Status: Deleted, CreatedSeq: 3, Version: 8, GoneAt: noon},
	}}
	opts, err := Options{}.withDefaults()
	require.NoError(t, err)
	out, err := planAll(m, []Batch{{User: "u", Agent: "a", Project: "p", SessionID: "s", BuildID: "b", Entries: entries, Removals: removals}}, opts)
	require.NoError(t, err)
	return out[0]
}

func TestPlanRemoval(t *testing.T) {
	t.Parallel()
	proof := []schema.Evidence{{Quote: "I left Berlin.", Proven: true}}
	for name, tt := range map[string]struct {
		removal Removal
		skipped string
		content string
	}{
		"proven":       {Removal{FactID: "fact_1", Version: 7, Evidence: proof}, "", ""},
		"changed":      {Removal{FactID: "fact_1", Version: 6, Evidence: proof}, schema.SkippedRemovalChanged, "Lives in Berlin"},
		"gone":         {Removal{FactID: "fact_2", Version: 8, Evidence: proof}, schema.SkippedRemovalGone, "Owns a cat"},
		"gone, before": {Removal{FactID: "fact_2", Version: 3, Evidence: proof}, schema.SkippedRemovalGone, "Owns a cat"},
		"unknown":      {Removal{FactID: "fact_9/'x'", Version: 7, Evidence: proof}, schema.SkippedRemovalGone, ""},
		"no proof":     {Removal{FactID: "fact_1", Version: 7, Refused: schema.SkippedRemovalUnproven, Detail: "d"}, schema.SkippedRemovalUnproven, "Lives in Berlin"},
		"no fact":      {Removal{Refused: schema.SkippedRemovalUnknown, Detail: "d"}, schema.SkippedRemovalUnknown, ""},
		"no answer":    {Unanswered("", "blocked", noon), schema.SkippedReview, ""},
	} {
		r := tt.removal
		r.Answer, r.Reason, r.At = "answer", "moved", noon.Add(time.Minute)
		events := planned(t, nil, r)
		require.Len(t, events, 1, name)
		e := events[0]
		require.Equal(t, ActorReviewer, e.Actor)
		require.Equal(t, schema.FactOfReviewKey("u", "a", "answer", r.FactID), e.DedupeKey)
		require.Equal(t, []string{"p", "s", "b"}, []string{e.Project, e.SessionID, e.BuildID})
		require.Equal(t, r.At, e.TS)
		if tt.skipped == "" {
			p, err := schema.Decode[schema.FactDeletedPayload](e)
			require.NoError(t, err)
			require.Equal(t, schema.FactDeletedPayload{Act: schema.Act{Reason: "moved"}, FactID: "fact_1", Answer: "answer", Evidence: proof, EvidenceRule: evidence.Rule}, p)
			continue
		}
		p, err := schema.Decode[schema.FactSkippedPayload](e)
		require.NoError(t, err)
		require.NotEmpty(t, p.Detail)
		p.Detail = ""
		require.Equal(t, schema.FactSkippedPayload{
			Act: schema.Act{Reason: "moved"}, Skipped: tt.skipped, Content: tt.content, FactID: r.FactID, Answer: "answer",
		}, p, name)
	}
}

// A fact is removed before the batch's own facts are considered, once, and the extractor is the actor of these.
func TestPlanRemovalBeforeEntries(t *testing.T) {
	t.Parallel()
	confidence := 0.9
	again := schema.Entry{
		ID: "e", Type: schema.EntryFact, Scope: schema.Scope{Project: "p", User: "u", Agent: "a"}, SessionID: "s", Title: "Lives in Berlin",
		Category: schema.CategoryContext, Confidence: &confidence, EvidenceAligned: true, OccurredAt: noon.Add(time.Hour),
	}
	removal := Removal{FactID: "fact_1", Version: 7, Answer: "answer", At: noon.Add(time.Minute), Evidence: []schema.Evidence{{Proven: true}}}
	other := removal
	other.Answer = "another"
	var got []string
	for _, e := range planned(t, []schema.Entry{again}, removal, other) {
		got = append(got, e.Type+" "+e.Actor)
	}
	require.Equal(t, []string{"fact_deleted fact_reviewer", "fact_skipped fact_reviewer", "fact_created fact_extractor"}, got)
}

func TestReviewGroups(t *testing.T) {
	t.Parallel()
	facts := make([]Fact, 30)
	for i := range facts {
		facts[i] = Fact{ID: fmt.Sprintf("fact_%02d", i), Content: "Likes something", Confidence: float64(i%10) / 10, Version: uint64(i)}
	}
	size := len(factLine(facts[0]))
	whole, left := groups(facts, 30*size)
	require.Len(t, whole, 1)
	require.Len(t, whole[0], 30)
	require.Zero(t, left)
	require.Equal(t, "fact_09", whole[0][0].FactID, "the surest are first")
	parts, left := groups(facts, 5*size)
	require.Len(t, parts, MaxGroups)
	require.Equal(t, 30-5*MaxGroups, left)
	alone, left := groups(facts[:2], 1)
	require.Len(t, alone, 2, "a fact that is larger than a group is one")
	require.Zero(t, left)
	require.Equal(t, Fact{ID: "fact_00", Content: "Likes something", Version: 0}, facts[0], "the facts are not reordered")
}

// The key of an answer names the versions of the facts, the messages, the model and its settings, and nothing else.
func TestQuestionKey(t *testing.T) {
	t.Parallel()
	q := Question{Shown: []schema.ShownFact{{FactID: "fact_1", Version: 7}}, Messages: []schema.Message{{Index: 1, Role: schema.RoleUser, Text: "I left."}}}
	id := llm.ModelIdentity{Provider: "p", Model: "m"}
	key := q.key(id)
	same := q
	same.BuildID, same.Shown = "another", []schema.ShownFact{{FactID: "fact_1", Version: 7, At: noon}}
	require.Equal(t, key, same.key(id))
	for name, change := range map[string]func(q *Question){
		"version":  func(q *Question) { q.Shown = []schema.ShownFact{{FactID: "fact_1", Version: 8}} },
		"fact":     func(q *Question) { q.Shown = append(q.Shown, schema.ShownFact{FactID: "fact_2"}) },
		"message":  func(q *Question) { q.Messages = []schema.Message{{Index: 1, Role: schema.RoleUser, Text: "I left!"}} },
		"settings": func(q *Question) { q.Params.MaxOutputTokens = 9 },
	} {
		other := Question{Shown: append([]schema.ShownFact(nil), q.Shown...), Messages: q.Messages}
		change(&other)
		require.NotEqual(t, key, other.key(id), name)
	}
	require.NotEqual(t, key, q.key(llm.ModelIdentity{Provider: "p", Model: "n"}))

	// A fact that has changed is not shown. If none is left, there is nothing to ask.
	require.Empty(t, q.request([]Fact{{ID: "fact_1", Version: 8, Status: Active}}).Prompt)
	require.Empty(t, q.request([]Fact{{ID: "fact_1", Version: 7, Status: Deleted}}).Prompt)
	require.NotEmpty(t, q.request([]Fact{{ID: "fact_1", Version: 7, Status: Active}}).Prompt)
}

// A long message is cut at the end of a character, and the sentence that is cut proves nothing.
func TestShownMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxShownMessage-1) + "한국. Forget me."
	shown := shownMessages([]schema.Message{{Text: long}, {Text: "short"}})
	require.Equal(t, strings.Repeat("x", maxShownMessage-1)+reviewCut, shown[0].Text)
	require.Equal(t, "short", shown[1].Text)
}
