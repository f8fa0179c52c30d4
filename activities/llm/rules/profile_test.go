package rules

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func withoutSummaries(entries []schema.ExtractedEntry) []schema.ExtractedEntry {
	return slices.DeleteFunc(slices.Clone(entries), func(e schema.ExtractedEntry) bool { return e.Section != "" })
}

func TestSectionOfSentence(t *testing.T) {
	t.Parallel()
	const work, personal = schema.SectionWork, schema.SectionPersonal
	for sentence, want := range map[string]string{
		"I work as a nurse at St. Mary's.":        work,
		"Hi, I currently work at ACME.":           work,
		"I’m a software engineer at Initech.":     work,
		"I am a student.":                         work,
		"I live in Berlin with three cats.":       personal,
		"I'm originally from Brazil.":             personal,
		"I work as hard as I can.":                "",
		"I work at night.":                        "",
		"I work for free.":                        "",
		"I work as a nurse, and I need a recipe.": "",
		"I work as a nurse and teach yoga.":       "",
		"I'm a big fan of Initech.":               "",
		"I'm a regular at Joe's.":                 "",
		"I'm not a student.":                      "",
		"I live in an old house.":                 "",
		"I live in Berlin but I am moving.":       "",
		"My brother works at ACME.":               "",
		"She said I live in Berlin.":              "",
		"我在谷歌工作。":                                 work,
		"对了，我是一名护士。":                              work,
		"我住在柏林。":                                  personal,
		"我在努力工作。":                                 "",
		"我在家里工作。":                                 "",
		"我不是学生。":                                  "",
		"我是学生的家长。":                                "",
		"私は東京で働いています。":                            work,
		"私は看護師です。":                                work,
		"僕は京都に住んでいます。":                            personal,
		"私の妻は看護師です。":                              "",
		"저는 네이버에서 일하고 있어요.":                       work,
		"저는 간호사입니다.":                              work,
		"저는 베를린에 살고 있어요.":                         personal,
		"저는 여기에서 일해요.":                            "",
		"제 형은 간호사예요.":                             "",
	} {
		require.Equal(t, want, sectionOfSentence(sentence), "%q", sentence)
	}
}

// A summary is an entry beside the facts, with the proof of all its sentences.
func TestSummaries(t *testing.T) {
	t.Parallel()
	window := say(schema.RoleUser, "I work as a nurse at St. Mary's.", "I live in Berlin.", "我在慈善医院工作。", "I work as a nurse at St. Mary's.")
	got := Extract(window, false)
	requireVerbatim(t, window, got)
	require.Len(t, withoutSummaries(got.Entries), 3, "the facts stay as they were")
	require.Len(t, got.Entries, 5)
	work, personal := got.Entries[3], got.Entries[4]
	require.Equal(t, []string{schema.SectionWork, schema.SectionPersonal}, []string{work.Section, personal.Section})
	require.Equal(t, "I work as a nurse at St. Mary's. 我在慈善医院工作。", work.Title)
	require.Equal(t, "I live in Berlin.", personal.Title)
	require.Len(t, work.Evidence, 2)
	require.Empty(t, work.Category)

	var many []string
	for _, city := range []string{"Bern", "Rome", "Oslo", "Kyiv"} {
		many = append(many, "I live in "+city+".")
	}
	last := Extract(say(schema.RoleUser, many...), false).Entries
	require.Equal(t, "I live in Rome. I live in Oslo. I live in Kyiv.", last[len(last)-1].Title, "the last ones stay")
	require.Empty(t, Extract(say(schema.RoleAssistant, many...), false).Entries, "said by the assistant")
}
