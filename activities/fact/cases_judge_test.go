package fact

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

func counterNamed(name string) (Counter, error) {
	switch name {
	case "char4":
		return Char4, nil
	case "cjk2":
		return CJK2, nil
	case "cl100k_base":
		return CL100K()
	}
	return nil, fmt.Errorf("no counter %q", name)
}

func judgeFormat(input, expect json.RawMessage) string {
	var in struct {
		Memory                json.RawMessage `json:"memory"`
		MaxTokens             int             `json:"max_tokens"`
		Tokenizer             string          `json:"tokenizer"`
		GuaranteedCategories  []string        `json:"guaranteed_categories"`
		GuaranteedTokenBudget int             `json:"guaranteed_token_budget"`
	}
	var want struct {
		Text      *string `json:"text"`
		TokensLTE *int    `json:"tokens_lte"`
		EndsWith  string  `json:"ends_with"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	counter, err := counterNamed(in.Tokenizer)
	if err != nil {
		return err.Error()
	}
	c, err := ReadContext(in.Memory)
	if err != nil {
		return err.Error()
	}
	f := Formatter{MaxTokens: in.MaxTokens, Counter: counter, First: in.GuaranteedCategories, FirstTokens: in.GuaranteedTokenBudget}
	text := f.Format(c)
	switch {
	case counter.Count(text) > in.MaxTokens:
		return fmt.Sprintf("%d tokens are over the budget of %d", counter.Count(text), in.MaxTokens)
	case want.Text != nil && text != *want.Text:
		return fmt.Sprintf("got %q, want %q", text, *want.Text)
	case want.TokensLTE != nil && counter.Count(text) > *want.TokensLTE:
		return fmt.Sprintf("got %d tokens, want at most %d", counter.Count(text), *want.TokensLTE)
	case !strings.HasSuffix(text, want.EndsWith):
		return fmt.Sprintf("got %q, want it to end in %q", text, want.EndsWith)
	}
	return ""
}

func judgeTokens(input, expect json.RawMessage) string {
	var in struct {
		Tokenizer string   `json:"tokenizer"`
		Texts     []string `json:"texts"`
	}
	var want struct {
		Counts []int `json:"counts"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	counter, err := counterNamed(in.Tokenizer)
	if err != nil {
		return err.Error()
	}
	got := make([]int, len(in.Texts))
	for i, text := range in.Texts {
		got[i] = counter.Count(text)
	}
	if !slices.Equal(got, want.Counts) {
		return fmt.Sprintf("got %v, want %v", got, want.Counts)
	}
	return ""
}

// failer makes a require of a helper an outcome to judge.
type failer struct{ problem string }

func (f *failer) Errorf(format string, args ...any) { f.problem = fmt.Sprintf(format, args...) }
func (f *failer) FailNow()                          { panic(f.problem) }

func judgeDedup(input, expect json.RawMessage) string {
	var in struct {
		Existing string `json:"existing"`
		New      string `json:"new"`
	}
	var want struct {
		Duplicate *bool  `json:"duplicate"`
		How       string `json:"how"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	m := newMemory(&failer{})
	m.say(m.entry(in.Existing, 0.9))
	m.say(m.entry(in.New, 0.9))
	duplicate := slices.Contains(m.skips(), schema.SkippedDuplicate)
	if want.Duplicate == nil || duplicate != *want.Duplicate || len(Remembered(m.facts)) != map[bool]int{true: 1, false: 2}[duplicate] {
		return fmt.Sprintf("duplicate is %v, facts are %q", duplicate, m.contents())
	}
	return ""
}

// givenFact is a fact as a case writes it; any field may be of any type.
type givenFact struct {
	ID          string          `json:"id"`
	Content     json.RawMessage `json:"content"`
	Category    json.RawMessage `json:"category"`
	Confidence  json.RawMessage `json:"confidence"`
	CreatedAt   time.Time       `json:"createdAt"`
	Source      string          `json:"source"`
	SourceError json.RawMessage `json:"sourceError"`
}

func (g givenFact) confidence() *float64 {
	if len(g.Confidence) == 0 {
		return nil
	}
	if string(g.Confidence) == "null" || string(g.Confidence) == "true" || string(g.Confidence) == "false" {
		return ptr(math.NaN())
	}
	if n, err := strconv.ParseFloat(strings.Trim(string(g.Confidence), `" `), 64); err == nil {
		return &n
	}
	return ptr(math.NaN())
}

// given puts facts into a memory as they are.
func (m *memory) given(facts []givenFact) {
	events := make([]schema.Event, len(facts))
	for i, g := range facts {
		at := g.CreatedAt
		if at.IsZero() {
			at = day.Add(-time.Hour)
		}
		confidence := DefaultConfidence
		if c := g.confidence(); c != nil {
			confidence = *c
		}
		payload, _ := json.Marshal(schema.FactCreatedPayload{
			Act: schema.Act{EntryID: g.ID}, FactID: g.ID, Content: lenient[string](g.Content),
			Category: lenient[string](g.Category), Confidence: confidence, SourceError: lenient[string](g.SourceError),
		})
		events[i] = schema.Event{Type: schema.FactCreated, TS: at, Actor: "case", SessionID: g.Source, DedupeKey: "given " + g.ID, Payload: payload}
	}
	m.append(events)
}

func judgeUpdate(input, expect json.RawMessage) string {
	var in struct {
		Existing []givenFact `json:"existing"`
		Update   struct {
			NewFacts      []givenFact `json:"newFacts"`
			FactsToRemove []string    `json:"factsToRemove"`
		} `json:"update"`
		Config struct {
			Threshold *float64 `json:"fact_confidence_threshold"`
			MaxFacts  int      `json:"max_facts"`
		} `json:"config"`
		ThreadID string `json:"thread_id"`
	}
	var want struct {
		Facts         [][3]any       `json:"facts"`
		FactsSet      [][3]any       `json:"facts_set"`
		Contains      []string       `json:"contains"`
		Count         *int           `json:"count"`
		RejectOrClamp bool           `json:"reject_or_clamp"`
		Record        map[string]any `json:"record"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	m := newMemory(&failer{})
	m.given(in.Existing)
	m.opts.MaxFacts = in.Config.MaxFacts
	if t := in.Config.Threshold; t != nil {
		if m.opts.Threshold = *t; *t == 0 {
			m.opts.Threshold = -1
		}
	}
	for _, id := range in.Update.FactsToRemove {
		if err := m.do(Command{Op: OpDelete, FactID: id}); err != nil && !errors.Is(err, ErrFactNotFound) {
			return err.Error()
		}
	}
	if err := m.propose(in.ThreadID, in.Update.NewFacts); err != nil {
		return err.Error()
	}
	return m.judge(want.Facts, want.FactsSet, want.Contains, want.Count, want.RejectOrClamp, want.Record)
}

// propose plans the facts as one batch.
func (m *memory) propose(session string, facts []givenFact) error {
	opts, err := m.opts.withDefaults()
	if err != nil {
		return err
	}
	p := &planner{overlay: newOverlay(memoryOf(m.facts), opts), opts: opts, session: session, actor: "case"}
	for _, g := range facts {
		e := m.entry(lenient[string](g.Content), 0)
		e.Category, e.Confidence = lenient[string](g.Category), g.confidence()
		x := p.proposalOf(e)
		x.sourceError = lenient[string](g.SourceError)
		if err := p.consider(x); err != nil {
			return err
		}
	}
	m.append(p.overlay.planned)
	return nil
}

func (m *memory) judge(facts, set [][3]any, contains []string, count *int, inRange bool, record map[string]any) string {
	got := make([][3]any, 0)
	for _, f := range Remembered(m.facts) {
		got = append(got, [3]any{f.Content, f.Category, f.Confidence})
		if inRange && !validConfidence(f.Confidence) {
			return fmt.Sprintf("confidence is %v", f.Confidence)
		}
	}
	bySure := slices.Clone(got)
	slices.SortStableFunc(bySure, func(a, b [3]any) int { return -compareFloat(a[2], b[2]) })
	switch {
	case facts != nil && !reflect.DeepEqual(got, facts) && !reflect.DeepEqual(bySure, facts):
		return fmt.Sprintf("got %v, want %v", got, facts)
	case set != nil && !sameSet(got, set):
		return fmt.Sprintf("got %v, want %v in any order", got, set)
	case count != nil && len(got) != *count:
		return fmt.Sprintf("got %v, want %d", got, *count)
	}
	for _, content := range contains {
		if !slices.Contains(m.contents(), content) {
			return fmt.Sprintf("got %v, want %q in it", got, content)
		}
	}
	if record == nil {
		return ""
	}
	if len(got) != 1 {
		return fmt.Sprintf("got %v, want one fact", got)
	}
	return matchRecord(Remembered(m.facts)[0], record)
}

func compareFloat(a, b any) int {
	x, y := a.(float64), b.(float64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func sameSet(a, b [][3]any) bool {
	key := func(x [3]any) string { return fmt.Sprintf("%q", x) }
	x, y := make([]string, len(a)), make([]string, len(b))
	for i := range a {
		x[i] = key(a[i])
	}
	for i := range b {
		y[i] = key(b[i])
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func matchRecord(f Fact, want map[string]any) string {
	got := map[string]any{
		"id": f.ID, "content": f.Content, "category": f.Category, "confidence": f.Confidence, "source": f.Source(),
		"createdAt": f.CreatedAt.Format(time.RFC3339Nano), "sourceError": f.SourceError,
	}
	for field, value := range want {
		pattern, isPattern := value.(map[string]any)
		switch {
		case isPattern && !regexp.MustCompile(pattern["$re"].(string)).MatchString(fmt.Sprint(got[field])),
			!isPattern && got[field] != value:
			return fmt.Sprintf("%s is %v, want %v", field, got[field], value)
		}
	}
	return ""
}

func judgeCommand(input, expect json.RawMessage) string {
	var in struct {
		Op         Op                `json:"op"`
		Existing   []json.RawMessage `json:"existing"`
		ID         string            `json:"id"`
		Content    *string           `json:"content"`
		Category   *string           `json:"category"`
		Confidence json.RawMessage   `json:"confidence"`
	}
	var want struct {
		Record map[string]any `json:"record"`
		Error  string         `json:"error"`
		Arg    string         `json:"arg"`
		Facts  [][3]any       `json:"facts"`
		Count  *int           `json:"count"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	m := newMemory(&failer{})
	for i, raw := range in.Existing {
		g := givenFact{ID: fmt.Sprintf("fact_%08x", i), Content: raw, Category: json.RawMessage(`"context"`)}
		if raw[0] == '{' {
			g = givenFact{}
			if problem := sharedtest.Decode(raw, &g); problem != "" {
				return problem
			}
		}
		m.given([]givenFact{g})
	}
	before := len(m.facts)
	err := m.do(Command{
		Op: in.Op, FactID: in.ID, Content: in.Content, Category: in.Category,
		Confidence: givenFact{Confidence: in.Confidence}.confidence(),
	})
	var invalid *InvalidError
	errors.As(err, &invalid)
	switch want.Error {
	case "":
		if err != nil {
			return err.Error()
		}
	case "ValueError":
		if invalid == nil || invalid.Field != want.Arg {
			return fmt.Sprintf("got %v, want %q refused", err, want.Arg)
		}
	case "KeyError":
		if !errors.Is(err, ErrFactNotFound) || !strings.Contains(err.Error(), want.Arg) {
			return fmt.Sprintf("got %v, want %q not found", err, want.Arg)
		}
	case "duplicate":
		if !errors.Is(err, ErrDuplicate) {
			return fmt.Sprintf("got %v, want a duplicate", err)
		}
	default:
		return "no error " + want.Error
	}
	if want.Error != "" && len(m.facts) != before {
		return "a fact was stored all the same"
	}
	if problem := m.judge(want.Facts, nil, nil, want.Count, true, nil); problem != "" || want.Record == nil {
		return problem
	}
	facts := Remembered(m.facts)
	return matchRecord(facts[len(facts)-1], want.Record)
}

func judgeEviction(input, expect json.RawMessage) string {
	var in struct {
		Facts []struct {
			givenFact
			LastConfirmedAt time.Time `json:"lastConfirmedAt"`
		} `json:"facts"`
		MaxFacts int    `json:"max_facts"`
		Policy   string `json:"policy"`
		Usage    map[string]struct {
			AccessHeat     float64   `json:"accessHeat"`
			LastAccessedAt time.Time `json:"lastAccessedAt"`
		} `json:"usage"`
		Now     time.Time `json:"now"`
		Reserve *int      `json:"reserve"`
	}
	var want struct {
		Kept    []string           `json:"kept"`
		Evicted []string           `json:"evicted"`
		Scores  map[string]float64 `json:"scores"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	opts := Options{MaxFacts: in.MaxFacts, Eviction: in.Policy}
	if in.Reserve != nil {
		if opts.Reserve = *in.Reserve; opts.Reserve == 0 {
			opts.Reserve = -1
		}
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return err.Error()
	}
	m, uses := newMemory(&failer{}), map[string]Use{}
	for _, g := range in.Facts {
		m.given([]givenFact{g.givenFact})
		hits := in.Usage[g.ID]
		uses[g.ID] = Use{Confirmed: g.LastConfirmedAt, Heat: hits.AccessHeat * decay(in.Now.Sub(hits.LastAccessedAt), heatHalfLife)}
	}
	state := m.state()
	state.Uses, state.Now = uses, in.Now
	v, scores, evicted := newOverlay(state, opts), map[string]float64{}, []string{}
	for id, f := range v.facts {
		scores[id] = math.Round(v.evicter.score(f)*1e6) / 1e6
	}
	for v.active > in.MaxFacts {
		f, _ := v.weakest()
		f.Status = Evicted
		v.put(f)
		evicted = append(evicted, f.ID)
	}
	var kept []string
	for id, f := range v.facts {
		if f.Status == Active {
			kept = append(kept, id)
		}
	}
	same := func(a, b []string) bool { return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))) }
	switch {
	case want.Kept != nil && !same(kept, want.Kept):
		return fmt.Sprintf("kept %q, want %q", kept, want.Kept)
	case want.Evicted != nil && !same(evicted, want.Evicted):
		return fmt.Sprintf("evicted %q, want %q", evicted, want.Evicted)
	case want.Scores != nil && !maps.Equal(scores, want.Scores):
		return fmt.Sprintf("scores are %v, want %v", scores, want.Scores)
	}
	return ""
}
