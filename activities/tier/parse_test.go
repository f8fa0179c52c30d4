package tier

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	const plain = "[MEMORY]\n- a\n[DREAM]\nd"
	for name, c := range map[string]struct {
		text, memory, diary string
	}{
		"nothing":                        {"", "", ""},
		"carriage returns":               {"[MEMORY]\r\n- a\r\n- b\r\n[DREAM]\r\nd\r\n", "- a\n- b", "d"},
		"marks around markers":           {"### **[Memory]:**\n- a\n__`[dream]`__\nd", "- a", "d"},
		"spaces and what is not seen":    {"\ufeff [ MEMORY ] \n- a\n\u200b[DREAM]\u00a0\nd", "- a", "d"},
		"text behind a marker":           {"[MEMORY]\n- a\n[DREAM] Tonight I slept.", "- a", "Tonight I slept."},
		"text behind both":               {"**[MEMORY]** - a\n- b\n[DREAM]: d", "- a\n- b", "d"},
		"one alone, one in an item":      {"[MEMORY]\n- a\n[DREAM] is a marker\n- b\n[DREAM]\nd", "- a\n[DREAM] is a marker\n- b", "d"},
		"a marker as an item":            {"[MEMORY]\n- [DREAM]\n- a\n[DREAM]\nd", "- [DREAM]\n- a", "d"},
		"repeated":                       {"[MEMORY]\n- a\n[DREAM]\nd\n[MEMORY]\n- b\n[DREAM]\ne", "- a\n- b", "d\n\ne"},
		"thought":                        {"<think>\n[MEMORY]\n- x\n[DREAM]\ny\n</think>\n" + plain, "- a", "d"},
		"thought on one line":            {"<THINK>[MEMORY]</Think>" + plain, "- a", "d"},
		"thinking":                       {"<thinking>\n[DREAM]\n</thinking>\n" + plain, "- a", "d"},
		"thought that nothing closes":    {"<think>\n" + plain, "", ""},
		"thought that nothing opens":     {"[MEMORY]\n- x\n[DREAM]\ny\n</think>\n" + plain, "- a", "d"},
		"two thoughts":                   {"<think>a</think>\n<think>\n[DREAM]\n</think>\n" + plain, "- a", "d"},
		"a tag in an item":               {"[MEMORY]\n- strips <think> tags\n- and </think> too\n[DREAM]\nd", "- strips <think> tags\n- and </think> too", "d"},
		"fence around all":               {"```\n" + plain + "\n```", "- a", "d"},
		"fence with tildes":              {"~~~md\n" + plain + "\n~~~\n", "- a", "d"},
		"fence around each":              {"[MEMORY]\n```md\n- a\n```\n[DREAM]\n```text\nd\n```", "- a", "d"},
		"fence opens behind the marker":  {"[MEMORY]\n```markdown\n- a\n[DREAM]\nd\n```", "- a", "d"},
		"fence with code inside":         {"[MEMORY]\n```md\n- a\n  ```go\n  x\n  ```\n- b\n```\n[DREAM]\nd", "- a\n  ```go\n  x\n  ```\n- b", "d"},
		"code of items":                  {"[MEMORY]\n- a\n  ```go\n  x\n  ```\n[DREAM]\nd", "- a\n  ```go\n  x\n  ```", "d"},
		"two blocks of code":             {"[MEMORY]\n```\nx\n```\n- a\n```\ny\n```\n[DREAM]\nd", "```\nx\n```\n- a\n```\ny\n```", "d"},
		"fence without anything":         {"[MEMORY]\n```\n```\n[DREAM]\nd", "", "d"},
		"another language":               {"[MEMORY]\n- 사용자는 차를 좋아한다。\n[DREAM]\n밤.", "- 사용자는 차를 좋아한다。", "밤."},
		"bytes that are no text":         {"[MEMORY]\n- a\xff\n[DREAM]\nd", "- a\ufffd", "d"},
		"superseded before and between":  {"[SUPERSEDED]\n- x => y\n[MEMORY]\n- a\n[superseded]\n- u => v\n[DREAM]\nd", "- a", "d"},
		"a section of another name":      {"[MEMORY]\n- a\n[NOTES]\n- b\n[DREAM]\nd", "- a\n[NOTES]\n- b", "d"},
		"a rule between":                 {"[MEMORY]\n- a\n\n[DREAM]\n\nd\n\n", "- a", "d"},
		"a link at the beginning":        {"[MEMORY]\n[MEMORY](x) is a link\n[DREAM]\nd", "[MEMORY](x) is a link", "d"},
		"line separators":                {"[MEMORY]\u2028- a\u2028[DREAM]\u2029d", "- a", "d"},
		"thought before the last marker": {"[MEMORY]\n- a\n<think>hm\n[DREAM]\nx</think>\n[DREAM]\nd", "- a", "d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ParseAnswer(c.text)
			require.Equal(t, c.memory, a.Memory)
			require.Equal(t, c.diary, a.Diary)
		})
	}
}

func TestParseAnswerProblem(t *testing.T) {
	t.Parallel()
	require.Contains(t, ParseAnswer("[MEMORY]\n- a").Problem(), "[DREAM]")
	require.Contains(t, ParseAnswer("[DREAM]\n- a").Problem(), "[MEMORY]")
	a := ParseAnswer("[MEMORY]\n[DREAM]")
	require.Empty(t, a.Problem())
	a.Truncated = true
	require.Contains(t, a.Problem(), "cut off")
}

func TestParseSuperseded(t *testing.T) {
	t.Parallel()
	a := ParseAnswer("[MEMORY]\n- a\n[DREAM]\nd\n[SUPERSEDED]\n```\n- x → y\n* \"use a->b\" => `use c->d`\n1. p -> q\nr=>s\nnothing\n=> t\nu =>\n\n```")
	require.Equal(t, []Supersession{{"x", "y"}, {"use a->b", "use c->d"}, {"p", "q"}, {"r", "s"}}, a.Superseded)
	require.Equal(t, "d", a.Diary)
}

func TestParseAnswerIsLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"[", "[\n", "<think>", "<think>\n", "<think></think>", "<think>\n</think>\n", "</think>\n", "```\n", "[MEMORY]\n", "[MEMORY]", "*", "*\n", "- ", "[ ", "~~~x\n", "#",
	} {
		size := 1 << 20
		if unit == "[" || unit == "<think>" {
			size = 10 << 20
		}
		start := time.Now()
		ParseAnswer(strings.Repeat(unit, size/len(unit)))
		require.Less(t, time.Since(start), 10*time.Second, unit)
	}
}

// solid returns a text without white space, and with U+FFFD for invalid bytes.
func solid(text string) string {
	return strings.Join(strings.Fields(plainLines(text)), "")
}

func FuzzParseAnswer(f *testing.F) {
	for _, seed := range []string{
		"[MEMORY]\n- a\n[DREAM]\nd", "```md\n**[memory]**\n- a\n```\n## [DREAM]\nd\n[SUPERSEDED]\n- a => b", "<think>\n[MEMORY]</think>[DREAM]\n```",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := ParseAnswer(text)
		if a.HasMemory != (solid(a.Memory) != "") && a.Memory != "" || !a.HasDiary && a.Diary != "" {
			t.Fatalf("sections that are not there: %+v", a)
		}
		whole := solid(text)
		for _, part := range []string{a.Memory, a.Diary} {
			for line := range strings.SplitSeq(part, "\n") {
				if !strings.Contains(whole, solid(line)) {
					t.Fatalf("%q is not of the answer", line)
				}
			}
		}
		for _, s := range a.Superseded {
			if !strings.Contains(whole, solid(s.Item)) || !strings.Contains(whole, solid(s.By)) {
				t.Fatalf("%q is not of the answer", s)
			}
		}
		again := RenderCore(ParseCore(a.Memory))
		if RenderCore(ParseCore(again)) != again {
			t.Fatalf("%q is not a fixed point", again)
		}
	})
}
