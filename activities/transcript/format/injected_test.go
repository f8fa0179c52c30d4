package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/deploy/local/sharedtest"
)

func TestSplitInjected(t *testing.T) {
	t.Parallel()
	mine := func(s string) segment { return segment{s, false} }
	theirs := func(s string) segment { return segment{s, true} }
	for _, tt := range []struct {
		in   string
		want []segment
	}{
		{"hello", []segment{mine("hello")}},
		{"a <system-reminder>b</system-reminder> in prose", []segment{mine("a <system-reminder>b</system-reminder> in prose")}},
		{"a\n<system-reminder>b</system-reminder>\nc", []segment{mine("a\n"), theirs("<system-reminder>b</system-reminder>"), mine("\nc")}},
		{"<command-name>x</command-name>\n <command-args>y</command-args>\n", []segment{theirs("<command-name>x</command-name>\n <command-args>y</command-args>\n")}},
		{"<command-name>x</command-name><command-args>y</command-args>go", []segment{theirs("<command-name>x</command-name><command-args>y</command-args>"), mine("go")}},
		{"<system-reminder>never closed\nb", []segment{mine("<system-reminder>never closed\nb")}},
		{"<system-reminder>a<system-reminder>b</system-reminder>c</system-reminder>d", []segment{
			theirs("<system-reminder>a<system-reminder>b</system-reminder>c</system-reminder>"), mine("d"),
		}},
		{"<div>x</div>", []segment{mine("<div>x</div>")}},
		{`<environment_details version="2">x</environment_details>`, []segment{theirs(`<environment_details version="2">x</environment_details>`)}},
		{"This session is being continued from a previous conversation that ran out.", []segment{
			theirs("This session is being continued from a previous conversation that ran out."),
		}},
		// A block that mentions its own tag, and one that nothing closes.
		{"<system-reminder>the <system-reminder> tag</system-reminder>\nmine", []segment{
			theirs("<system-reminder>the <system-reminder> tag</system-reminder>"), mine("\nmine"),
		}},
		{"<system-reminder>open\nmine\n<system-reminder>b</system-reminder>", []segment{
			mine("<system-reminder>open\nmine\n"), theirs("<system-reminder>b</system-reminder>"),
		}},
		{"<memory>\n<memory_context>x</memory_context>\n</memory>\nhi", []segment{
			theirs("<memory>\n<memory_context>x</memory_context>\n</memory>"), mine("\nhi"),
		}},
		{"<system-reminder>\n<memory>\nUser Context:\n- Work: x\n</memory>\n</system-reminder>\n\nhi", []segment{
			theirs("<system-reminder>\n<memory>\nUser Context:\n- Work: x\n</memory>\n</system-reminder>"), mine("\n\nhi"),
		}},
		{"<memory version='2'>x</memory>", []segment{theirs("<memory version='2'>x</memory>")}},
		{"<uploaded_files>a</uploaded_files>", []segment{theirs("<uploaded_files>a</uploaded_files>")}},
		{"<uploaded_files>\n- a.pdf (3 KB)\n</uploaded_files>\n\nsum it up", []segment{
			theirs("<uploaded_files>\n- a.pdf (3 KB)\n</uploaded_files>"), mine("\n\nsum it up"),
		}},
		{"<current_uploads>a</current_uploads> sum it up", []segment{theirs("<current_uploads>a</current_uploads>"), mine(" sum it up")}},
		// Tags that the user writes about stay the user's.
		{"how does the <memory> tag end? with </memory>", []segment{mine("how does the <memory> tag end? with </memory>")}},
		{"<memory> is my tag, and </memory> ends it.", []segment{mine("<memory> is my tag, and </memory> ends it.")}},
		{"<domain>\n  <memory unit='KiB'>8</memory>\n</domain>", []segment{mine("<domain>\n  <memory unit='KiB'>8</memory>\n</domain>")}},
		{"<memory/>\n</memory>", []segment{mine("<memory/>\n</memory>")}},
		{"look:\n```\n<memory>\nx\n</memory>\n```\nwhy?", []segment{mine("look:\n```\n<memory>\nx\n</memory>\n```\nwhy?")}},
		{"~~~xml\n<system-reminder>x</system-reminder>\n~~~", []segment{mine("~~~xml\n<system-reminder>x</system-reminder>\n~~~")}},
		// A block of code that nothing closes, or that an injected text closes, holds nothing.
		{"```\nmine\n<memory>\nx\n</memory>", []segment{mine("```\nmine\n"), theirs("<memory>\nx\n</memory>")}},
		{"```\nmine\n<memory>\n```\nx\n```\n</memory>", []segment{mine("```\nmine\n"), theirs("<memory>\n```\nx\n```\n</memory>")}},
		{"<memory>\n```\n</memory>\nmine\n<memory>\nx\n</memory>\n```", []segment{
			theirs("<memory>\n```\n</memory>"), mine("\nmine\n"), theirs("<memory>\nx\n</memory>"), mine("\n```"),
		}},
		{"User: [System note: Resumed.]\n\nyes", []segment{theirs("User: [System note: Resumed.]\n\n"), mine("yes")}},
	} {
		require.Equal(t, tt.want, allMarks().split(tt.in), tt.in)
	}
}

func TestSplitInjectedKeepsEveryByte(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"<system-reminder>", "</system-reminder>", "<command-name>", "</command-name>", "\n", " ", "<", ">", "x", "한", "[System note: a]", "\xff",
		"<memory>\n", "\n</memory>", "<uploaded_files>", "</uploaded_files>", "User Context:\n", "- Work: ", "Facts:\n", "- [a | 0.90] b",
		"...", "\n```\n", "~~~", "[System: Previous conversation summary]\n", "\n---\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		var out strings.Builder
		for _, s := range allMarks().split(in) {
			require.NotEmpty(t, s.text)
			out.WriteString(s.text)
		}
		require.Equal(t, in, out.String())
	})
}

// Each of these takes minutes when the split is quadratic.
func TestSplitInjectedIsLinear(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"<system-reminder>\n", "<system-reminder>", "<", "<system-reminder ", "\n<command-name>a",
		"<memory>\n ", "\n```x\n<memory>a", "```````x\n``````x\n`````x\n````x\n```x\n", "```\n", "User Context:\n", "Facts:\n...",
		"[System: Previous conversation summary]\n", "[System: Previous conversation summary]\n\n---\n", "\n<memory a", "<memory>\n" + strings.Repeat(" ", 1000), "</memory>", "\n<memory><memory>",
	} {
		in := strings.Repeat(piece, 1<<20/sharedtest.Share()/len(piece))
		require.LessOrEqual(t, len(allMarks().split(in)), 2, piece)
	}
}

// Memory is recognized without a tag around it.
func TestSplitMemory(t *testing.T) {
	t.Parallel()
	mine := func(s string) segment { return segment{s, false} }
	theirs := func(s string) segment { return segment{s, true} }
	const (
		context = "User Context:\n- Work: Nurse at ACME\n- Current Focus: moving\n\nHistory:\n- Recent: x\n\n" +
			"Facts:\n- [preference | 0.90] Likes tea\n- [correction | 1.00] Tabs (avoid: spaces)\n"
		preface = "[System: Previous conversation summary — 3 turns were compacted]\n\n- a\n---\n- b\n\n" +
			"The recent conversation continues below.\n\n---\n\n"
	)
	for _, tt := range []struct {
		in   string
		want []segment
	}{
		{context, []segment{theirs(context)}},
		{context + "\nWhat tea?", []segment{theirs(context), mine("\nWhat tea?")}},
		{strings.ReplaceAll(context, "\n", "\r\n"), []segment{theirs(strings.ReplaceAll(context, "\n", "\r\n"))}},
		{"Remember this:\n\n" + context, []segment{mine("Remember this:\n\n"), theirs(context)}},
		{"<memory>\n" + context, []segment{mine("<memory>\n"), theirs(context)}},
		{"User Context:\n- Work: a long summ\n...", []segment{theirs("User Context:\n- Work: a long summ\n...")}},
		{"User Context:\n- Work: a\n- Pers\n...\nhi", []segment{theirs("User Context:\n- Work: a\n- Pers\n...\n"), mine("hi")}},
		{"User Context:\n- Work: a\n\nHist\n...", []segment{theirs("User Context:\n- Work: a\n\nHist\n...")}},
		{"User Context:\n- W\n...", []segment{theirs("User Context:\n- W\n...")}},
		{"Facts:\n- the server is down", []segment{mine("Facts:\n- the server is down")}},
		{"Facts:\n- [x] done | 0.90", []segment{mine("Facts:\n- [x] done | 0.90")}},
		{"History:\nRecent: x", []segment{mine("History:\nRecent: x")}},
		{"  Facts:\n- [a | 0.90] b", []segment{mine("  Facts:\n- [a | 0.90] b")}},
		{"```\n" + context + "```", []segment{mine("```\n" + context + "```")}},
		{preface + "go on", []segment{theirs(preface), mine("go on")}},
		{preface + preface + "go on", []segment{theirs(preface + preface), mine("go on")}},
		{preface + "<memory>\nx\n</memory>\ngo on", []segment{theirs(preface + "<memory>\nx\n</memory>"), mine("\ngo on")}},
		{"[System: Previous conversation summary]\na\n\n---\ngo on", []segment{
			theirs("[System: Previous conversation summary]\na\n\n---\n"), mine("go on"),
		}},
		{"[System: Previous conversation summary]\na", []segment{theirs("[System: Previous conversation summary]\na")}},
		{"what is [System: Previous conversation summary]?", []segment{mine("what is [System: Previous conversation summary]?")}},
		{"[System: Previous conversation summary] is odd", []segment{mine("[System: Previous conversation summary] is odd")}},
	} {
		require.Equal(t, tt.want, allMarks().split(tt.in), tt.in)
	}
}
