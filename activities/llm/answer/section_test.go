package answer

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestReadSections(t *testing.T) {
	t.Parallel()
	fact := func(change func(*schema.ExtractedEntry)) schema.ExtractedEntry {
		e := schema.ExtractedEntry{
			EntryID: "1", Type: schema.EntryFact, Title: "간호사로 일한다.", Evidence: []schema.Quote{{MessageIndex: 0, Quote: "q"}},
		}
		change(&e)
		return e
	}
	section := func(name string) schema.ExtractedEntry {
		return fact(func(e *schema.ExtractedEntry) { e.Section = name })
	}
	plain := fact(func(*schema.ExtractedEntry) {})
	tests := map[string]struct {
		fields string
		want   schema.ExtractedEntry
	}{
		"as asked":                   {`"type":"fact","section":"work"`, section("work")},
		"with a category":            {`"type":"fact","section":"work","category":"context"`, section("work")},
		"of type profile":            {`"type":"profile","section":"top of mind"`, section("top_of_mind")},
		"as in the seed":             {`"type":"fact","section":"topOfMind"`, section("top_of_mind")},
		"with its place":             {`"type":"fact","section":"user.workContext"`, section("work")},
		"personal context":           {`"type":"fact","section":"Personal-Context"`, section("personal")},
		"recent months":              {`"type":"fact","profileSection":"recentMonths"`, section("recent")},
		"earlier context":            {`"type":"fact","profile_section":"history/earlierContext"`, section("earlier")},
		"long-term background":       {`"type":"fact","section":"Long-Term Background"`, section("background")},
		"the type names it":          {`"type":"topOfMind"`, section("top_of_mind")},
		"the type and another":       {`"type":"work_context","section":"personal"`, section("personal")},
		"unknown section":            {`"type":"fact","section":"hobbies","category":"preference"`, fact(func(e *schema.ExtractedEntry) { e.Category = "preference" })},
		"no text for a section":      {`"type":"fact","section":["work"]`, plain},
		"no section of a profile":    {`"type":"profile"`, plain},
		"section of a decision":      {`"type":"decision","section":"work"`, fact(func(e *schema.ExtractedEntry) { e.Type = schema.EntryDecision })},
		"mistake":                    {`"type":"fact","category":"correction","source_error":" 포트는 8080 "`, fact(func(e *schema.ExtractedEntry) { e.Category, e.SourceError = "correction", "포트는 8080" })},
		"mistake of no correction":   {`"type":"fact","category":"goal","sourceError":"x"`, fact(func(e *schema.ExtractedEntry) { e.Category = "goal" })},
		"mistake of a summary":       {`"type":"fact","category":"correction","section":"work","sourceError":"x"`, section("work")},
		"mistake that is no text":    {`"type":"fact","category":"correction","sourceError":true`, fact(func(e *schema.ExtractedEntry) { e.Category = "correction" })},
		"mistake of another type":    {`"type":"insight","sourceError":"x"`, fact(func(e *schema.ExtractedEntry) { e.Type = schema.EntryInsight })},
		"the mistake has no content": {`"type":"fact","category":"correction","sourceError":" "`, fact(func(e *schema.ExtractedEntry) { e.Category = "correction" })},
		"a summary beside the title": {`"type":"fact","summary":"another"`, plain},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Read(`{"entries":[{"entryId":"1","title":"간호사로 일한다.","evidence":[{"messageIndex":0,"quote":"q"}],` + tc.fields + `}]}`)
			require.NoError(t, err)
			require.Empty(t, r.Rejected)
			require.Equal(t, []schema.ExtractedEntry{tc.want}, r.Entries)
		})
	}
	r, err := Read(`{"entries":[{"entryId":"1","type":"profile","section":"work","summary":"간호사로 일한다.","evidence":[{"messageIndex":0,"quote":"q"}]}]}`)
	require.NoError(t, err)
	require.Equal(t, []schema.ExtractedEntry{section("work")}, r.Entries, "the summary is the title where there is no other")
}

// Every section that the schema asks for is read as itself.
func TestSchemaHasTheSections(t *testing.T) {
	t.Parallel()
	var doc struct {
		Properties struct {
			Entries struct {
				Items struct {
					Properties struct{ Section struct{ Enum []string } }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(schema.ExtractionSchema, &doc))
	require.Equal(t, schema.ProfileSections(), doc.Properties.Entries.Items.Properties.Section.Enum)
	for _, name := range schema.ProfileSections() {
		section, ok := sectionOf(name)
		require.True(t, ok)
		require.Equal(t, name, section)
	}
}
