package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSentencesGoOnBehindBrackets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"We will not (really!) deploy.":        {"We will not (really!) deploy."},
		"We will not [*sic!*] deploy.":         {"We will not [*sic!*] deploy."},
		"\"Why?\" he asked. \"Why?\" He left.": {"\"Why?\" he asked.", "\"Why?\"", "He left."},
		"«Почему?» спросил он. «Да!» Он ушёл.": {"«Почему?» спросил он.", "«Да!»", "Он ушёл."},
		"„Halt!“ rief er. „Halt!“ Er blieb.":   {"„Halt!“ rief er.", "„Halt!“", "Er blieb."},
		"« Oui ! » dit-il. « Oui ! » Il part.": {"« Oui ! » dit-il.", "« Oui ! »", "Il part."},
		"does it? yes! ok":                     {"does it?", "yes!", "ok"},
		"他说：“好！”然后走了。":                         {"他说：“好！”", "然后走了。"},
		"Use approx. 5 tests. Then 5 MB. 5 GB": {"Use approx. 5 tests.", "Then 5 MB.", "5 GB"},
	} {
		require.Equal(t, want, pieces(text), text)
	}
}

func TestSignsBehindLineMarks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"- ~5 °C", "- *5* °C", "- **5** °C", "- `5` °C", "- $5", "- ±5", "-  (5 °C)", "> ≈5", "> -5", "+ €5", "□ done", "□done",
	} {
		b := NewBoundaries(text)
		for at := 1; at < len(text); at++ {
			require.False(t, b.Begins(at), "%q begins at %d", text, at)
		}
	}
	for text, mark := range map[string]string{"- **a** 5": "- ", "> - 1. a": "> - ", "> \"a\" 5": "> ", "- ① a": "- ", "> > a": "> > "} {
		require.True(t, NewBoundaries(text).Begins(len(mark)), text)
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{" \u200b a. b\t\n": "a. b", "a": "a", " \n": "", "": "", "\u3000\u0301 ": "\u3000\u0301"} {
		first, last := NewBoundaries(text).Trim(0, len(text))
		require.Equal(t, want, text[first:last], "%q", text)
	}
}
