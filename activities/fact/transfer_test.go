package fact

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// The content of a document is read back, whatever the texts are.
func TestDocumentRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		says := rapid.String().Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
		at := rapid.Map(rapid.Int64Range(1e9, 2e9), func(n int64) time.Time { return time.UnixMicro(n * 1e6 / 7).UTC() })
		var facts []Fact
		var want []Item
		var sections []Section
		for _, name := range schema.ProfileSections() {
			if rapid.Bool().Draw(t, name) {
				sections = append(sections, Section{Name: name, Summary: says.Draw(t, "summary"), UpdatedAt: at.Draw(t, "updated")})
				want = append(want, Item{Section: name, Content: sections[len(sections)-1].Summary})
			}
		}
		for range rapid.IntRange(0, 4).Draw(t, "facts") {
			f := Fact{
				Content: says.Draw(t, "content"), Category: rapid.SampledFrom(schema.FactCategories()).Draw(t, "category"),
				Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"), SourceError: rapid.String().Draw(t, "error"),
				CreatedAt: at.Draw(t, "created"),
			}
			facts = append(facts, f)
			want = append(want, Item{Content: f.Content, Category: f.Category, Confidence: &f.Confidence, SourceError: f.SourceError, Since: f.CreatedAt})
		}
		raw, err := json.Marshal(NewDocument(facts, sections))
		require.NoError(t, err)
		items, not, err := ReadDocument(raw)
		require.NoError(t, err)
		require.Empty(t, not)
		require.Equal(t, want, items)
		context, err := readContext(raw)
		require.NoError(t, err)
		require.Len(t, context.Facts, len(facts), "both readers read the same form")
	})
}

// Parts of the wrong type are reported, and the rest is taken.
func TestReadDocumentLenient(t *testing.T) {
	t.Parallel()
	seven, some := 0.7, 0.1
	since := time.Date(2025, 1, 2, 3, 4, 5, 123456000, time.UTC)
	for name, tt := range map[string]struct {
		raw   string
		items []Item
		not   []string
	}{
		"empty":             {`{}`, nil, nil},
		"nulls":             {`{"user":null,"history":null,"facts":null}`, nil, nil},
		"mark":              {"\ufeff{}", nil, nil},
		"groups":            {`{"user":7,"history":[],"facts":{}}`, nil, []string{"user", "history", "facts"}},
		"sections":          {`{"user":{"workContext":"w","personalContext":7,"topOfMind":{"summary":8}},"history":{"recentMonths":{"summary":" "}}}`, []Item{{Section: "work", Content: "w"}}, []string{"user.personalContext", "user.topOfMind.summary"}},
		"no facts":          {`{"facts":[null,7,{},{"content":7},{"content":" \n"}]}`, nil, []string{"facts[0]", "facts[1]", "facts[2].content", "facts[3].content", "facts[4].content"}},
		"numeral":           {`{"facts":[{"content":"c","confidence":" 0.7 "}]}`, []Item{{Content: "c", Confidence: &seven}}, nil},
		"no number":         {`{"facts":[{"content":"c","confidence":true},{"content":"d","confidence":"NaN"},{"content":"e","confidence":"high"}]}`, []Item{{Content: "c"}, {Content: "d"}, {Content: "e"}}, []string{"facts[0].confidence", "facts[1].confidence", "facts[2].confidence"}},
		"category":          {`{"facts":[{"content":"c","category":7,"sourceError":{},"confidence":0.1}]}`, []Item{{Content: "c", Confidence: &some}}, []string{"facts[0].category", "facts[0].sourceError"}},
		"time of any form":  {`{"facts":[{"content":"c","createdAt":"2025-01-02T03:04:05.123456"},{"content":"d","createdAt":"2025-01-02T04:04:05.123456+01:00"}]}`, []Item{{Content: "c", Since: since}, {Content: "d", Since: since}}, nil},
		"no time":           {`{"facts":[{"content":"c","createdAt":"soon"},{"content":"d","createdAt":7},{"content":"e","createdAt":"0001-01-01T00:00:00Z"}]}`, []Item{{Content: "c"}, {Content: "d"}, {Content: "e"}}, []string{"facts[0].createdAt", "facts[1].createdAt", "facts[2].createdAt"}},
		"of any alphabet":   {`{"facts":[{"content":"커피 'x' \"y\" /\\ \u0000"}]}`, []Item{{Content: "커피 'x' \"y\" /\\ \x00"}}, nil},
		"unknown, ignored":  {`{"version":2,"facts":[{"content":"c","source":7,"id":{}}]}`, []Item{{Content: "c"}}, nil},
		"category as given": {`{"facts":[{"content":"c","category":"food"}]}`, []Item{{Content: "c", Category: "food"}}, nil},
	} {
		items, not, err := ReadDocument([]byte(tt.raw))
		require.NoError(t, err, name)
		require.Equal(t, tt.items, items, name)
		var where []string
		for _, n := range not {
			require.NotEmpty(t, n.Why)
			where = append(where, n.Where)
		}
		require.Equal(t, tt.not, where, name)
	}
	for _, raw := range []string{"", "null", "[]", "7", `{"facts":[`, "{} {}", "{\"user\":\"\xff\"}"} {
		_, _, err := ReadDocument([]byte(raw))
		require.ErrorIs(t, err, ErrDocument, raw)
	}
}

func FuzzReadDocument(f *testing.F) {
	f.Add([]byte(`{"user":{"workContext":{"summary":"w"}},"facts":[{"content":"c","confidence":"1e309","createdAt":"2025-01-02"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		items, _, err := ReadDocument(raw)
		if err != nil {
			return
		}
		require.True(t, utf8.Valid(raw))
		for _, chunk := range Chunks(items) {
			_, err := json.Marshal(Command{Items: chunk})
			require.NoError(t, err)
		}
	})
}

// The items of all commands are those given, and none of the commands is too large.
func TestChunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Item {
			return Item{Content: strings.Repeat("x", rapid.SampledFrom([]int{1, 1, 1, 1, 200, MaxContentBytes}).Draw(t, "bytes"))}
		}), 0, 700).Draw(t, "items")
		var all []Item
		for _, chunk := range Chunks(items) {
			require.NotEmpty(t, chunk)
			require.NoError(t, Command{User: "ann", Op: OpImport, RequestID: "r", Actor: "a", At: time.Now(), Items: chunk}.Validate())
			all = append(all, chunk...)
		}
		require.Equal(t, len(items), len(all))
		for i := range all {
			require.Equal(t, items[i], all[i])
		}
	})
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxContentBytes+1)
	require.Empty(t, Item{Content: long[1:], SourceError: long[1:]}.TooLong())
	require.Contains(t, Item{Content: long}.TooLong(), "its content has 8193 bytes")
	require.Contains(t, Item{SourceError: long}.TooLong(), "its sourceError has 8193 bytes")
	require.Contains(t, Item{Category: strings.Repeat(long, 5)}.TooLong(), "want at most 40960")
}

// An update as models write it is imported too. It removes nothing.
func TestReadDocumentOfAnUpdate(t *testing.T) {
	t.Parallel()
	items, not, err := ReadDocument([]byte(`{"user": {"workContext": {"summary": "Builds", "shouldUpdate": true}, "topOfMind": {"summary": "x", "shouldUpdate": false}},
		"history": {}, "newFacts": [{"content": "Likes Go", "category": "preference", "confidence": 0.9}], "factsToRemove": ["fact_1"]}`))
	require.NoError(t, err)
	require.Equal(t, []Item{{Section: schema.SectionWork, Content: "Builds"}, {Content: "Likes Go", Category: "preference", Confidence: ptr(0.9)}}, items)
	require.Equal(t, []NotTaken{{"factsToRemove[0]", `an import removes nothing: starter facts delete "fact_1" does`}}, not)
	_, _, err = ReadDocument([]byte(`{"user": {}, "history": {}, "newFacts": [3], "factsToRemove": ["fact_1"]}`))
	require.ErrorIs(t, err, ErrDocument)
}
