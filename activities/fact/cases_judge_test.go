package fact

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"axiommind/activities/llm/answer"
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
	c, err := readContext(in.Memory)
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
		Text      *string  `json:"text"`
	}
	var want struct {
		Counts []int `json:"counts"`
		Count  *int  `json:"count"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	counter, err := counterNamed(in.Tokenizer)
	if err != nil {
		return err.Error()
	}
	if in.Text != nil {
		in.Texts = append(in.Texts, *in.Text)
	}
	if want.Count != nil {
		want.Counts = append(want.Counts, *want.Count)
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
	if lenient[object](input)["update"] != nil {
		return judgeUpdate(input, expect)
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

// sectionKeys are the names that cases give to sections of the profile.
var sectionKeys = map[string]string{
	"workContext": schema.SectionWork, "personalContext": schema.SectionPersonal, "topOfMind": schema.SectionTopOfMind,
	"recentMonths": schema.SectionRecent, "earlierContext": schema.SectionEarlier, "longTermBackground": schema.SectionBackground,
}

// judgeUpdate applies an update as a model writes it: first its removals, then its sections and new facts.
func judgeUpdate(input, expect json.RawMessage) string {
	var in struct {
		Existing        []givenFact       `json:"existing"`
		ExistingUser    map[string]string `json:"existing_user"`
		ExistingHistory map[string]string `json:"existing_history"`
		Update          json.RawMessage   `json:"update"`
		Config          struct {
			Threshold *float64 `json:"fact_confidence_threshold"`
			MaxFacts  int      `json:"max_facts"`
		} `json:"config"`
		ThreadID string `json:"thread_id"`
	}
	var want wanted
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	m := newMemory(&failer{})
	m.given(in.Existing)
	for _, known := range []map[string]string{in.ExistingUser, in.ExistingHistory} {
		for key, summary := range known {
			if err := m.do(Command{Op: OpSection, Section: sectionKeys[key], Content: &summary, At: day.Add(-time.Hour)}); err != nil {
				return err.Error()
			}
		}
	}
	m.opts.MaxFacts = in.Config.MaxFacts
	if t := in.Config.Threshold; t != nil {
		if m.opts.Threshold = *t; *t == 0 {
			m.opts.Threshold = -1
		}
	}
	update, err := answer.ReadUpdate(wholeUpdate(in.Update))
	if err != nil {
		return err.Error()
	}
	for _, removal := range update.Removals {
		if err := m.do(Command{Op: OpDelete, FactID: removal.ID}); err != nil && !errors.Is(err, ErrFactNotFound) {
			return err.Error()
		}
	}
	if err := m.propose(in.ThreadID, ItemsOf(update)); err != nil {
		return err.Error()
	}
	if want.OtherUpdatesApplied && len(Remembered(m.facts))+len(m.profile()) == 0 {
		return "nothing was applied"
	}
	return m.judge(want)
}

// wholeUpdate is the update with all keys that a model must give. Cases leave out those that they do not need.
func wholeUpdate(update json.RawMessage) string {
	whole := object{"user": json.RawMessage("{}"), "history": json.RawMessage("{}"), "newFacts": json.RawMessage("[]"), "factsToRemove": json.RawMessage("[]")}
	for key, value := range lenient[object](update) {
		whole[key] = value
	}
	raw, _ := json.Marshal(whole)
	return string(raw)
}

// wanted is the memory that a case expects.
type wanted struct {
	Facts               [][3]any       `json:"facts"`
	FactsSet            [][3]any       `json:"facts_set"`
	Contains            []string       `json:"contains"`
	Count               *int           `json:"count"`
	IDs                 []string       `json:"ids"`
	Record              map[string]any `json:"record"`
	RejectOrClamp       bool           `json:"reject_or_clamp"`
	RejectedOrCoerced   bool           `json:"rejected_or_coerced"`
	NeverStoredAs       string         `json:"never_stored_as"`
	SectionIgnored      any            `json:"section_ignored"`
	OtherUpdatesApplied bool           `json:"other_updates_applied"`
	WorkContext         *string        `json:"workContext"`
	PersonalContext     *string        `json:"personalContext"`
	TopOfMind           *string        `json:"topOfMind"`
	RecentMonths        *string        `json:"recentMonths"`
	EarlierContext      *string        `json:"earlierContext"`
	LongTermBackground  *string        `json:"longTermBackground"`
}

// propose plans the items as statements of one session.
func (m *memory) propose(session string, items []Item) error {
	opts, err := m.opts.withDefaults()
	if err != nil {
		return err
	}
	p := &planner{overlay: newOverlay(m.state(), opts), opts: opts, session: session, actor: "case"}
	for _, item := range items {
		e := m.entry(item.Content, 0)
		e.Category, e.Confidence, e.Section, e.SourceError = item.Category, item.Confidence, item.Section, item.SourceError
		if item.Section != "" {
			e.Confidence = ptr(1.0)
		}
		if err := p.consider(p.proposalOf(e)); err != nil {
			return err
		}
	}
	m.append(p.overlay.planned)
	return nil
}

func (m *memory) judge(want wanted) string {
	got := make([][3]any, 0)
	var ids []string
	for _, f := range Remembered(m.facts) {
		got, ids = append(got, [3]any{f.Content, f.Category, f.Confidence}), append(ids, f.ID)
		switch {
		case !validConfidence(f.Confidence):
			return fmt.Sprintf("confidence is %v", f.Confidence)
		case want.NeverStoredAs != "" && f.Category == want.NeverStoredAs, !slices.Contains(schema.FactCategories(), f.Category):
			return fmt.Sprintf("category is %q", f.Category)
		}
	}
	bySure := slices.Clone(got)
	slices.SortStableFunc(bySure, func(a, b [3]any) int { return -compareFloat(a[2], b[2]) })
	switch {
	case want.Facts != nil && !reflect.DeepEqual(got, want.Facts) && !reflect.DeepEqual(bySure, want.Facts):
		return fmt.Sprintf("got %v, want %v", got, want.Facts)
	case want.FactsSet != nil && !sameSet(got, want.FactsSet):
		return fmt.Sprintf("got %v, want %v in any order", got, want.FactsSet)
	case want.Count != nil && len(got) != *want.Count:
		return fmt.Sprintf("got %v, want %d", got, *want.Count)
	case want.IDs != nil && !slices.Equal(ids, want.IDs):
		return fmt.Sprintf("got %q, want %q", ids, want.IDs)
	}
	for _, content := range want.Contains {
		if !slices.Contains(m.contents(), content) {
			return fmt.Sprintf("got %v, want %q in it", got, content)
		}
	}
	profile := m.profile()
	for key, summary := range map[string]*string{
		"workContext": want.WorkContext, "personalContext": want.PersonalContext, "topOfMind": want.TopOfMind,
		"recentMonths": want.RecentMonths, "earlierContext": want.EarlierContext, "longTermBackground": want.LongTermBackground,
	} {
		if summary != nil && profile[sectionKeys[key]] != *summary {
			return fmt.Sprintf("%s is %q, want %q", key, profile[sectionKeys[key]], *summary)
		}
	}
	if want.Record == nil {
		return ""
	}
	facts := Remembered(m.facts)
	if len(facts) == 0 {
		return "no fact was stored"
	}
	return matchRecord(facts[len(facts)-1], want.Record)
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
		wanted
		Error string `json:"error"`
		Arg   string `json:"arg"`
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
	return m.judge(want.wanted)
}
