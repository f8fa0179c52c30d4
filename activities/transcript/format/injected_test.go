package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
		{"User: [System note: Resumed.]\n\nyes", []segment{theirs("User: [System note: Resumed.]\n\n"), mine("yes")}},
	} {
		require.Equal(t, tt.want, allMarks().split(tt.in), tt.in)
	}
}

func TestSplitInjectedKeepsEveryByte(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"<system-reminder>", "</system-reminder>", "<command-name>", "</command-name>", "\n", " ", "<", ">", "x", "한", "[System note: a]", "\xff",
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
	for _, piece := range []string{"<system-reminder>\n", "<system-reminder>", "<", "<system-reminder ", "\n<command-name>a"} {
		in := strings.Repeat(piece, 1<<20/len(piece))
		require.Len(t, allMarks().split(in), 1)
	}
}
