package prose

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/text"
	"axiommind/schema"
)

func found(p *Phrases, texts []string, in string) (out []string) {
	for _, h := range p.Find(in) {
		out = append(out, texts[h.Phrase]+"="+in[h.Start:h.End])
	}
	return out
}

func TestPhrases(t *testing.T) {
	t.Parallel()
	texts := []string{"i've finished", "done:", "n't", "que", "待办：", "p0", "已完成"}
	p := NewPhrases(texts)
	for in, want := range map[string][]string{
		"I’ve finished it, I HAVE finished it, I've finishedX": {"i've finished=I’ve finished", "i've finished=I HAVE finished"},
		"Done: undone: DONE: _done:":                           {"done:=Done:", "done:=DONE:"},
		"We don't and don’tx can't":                            {"n't=n't", "n't=n't"},
		"que queue ¿que? equeque":                              {"que=que", "que=que"},
		"下一个待办：已完成":                                            {"待办：=待办：", "已完成=已完成"},
		"P0 xp0 p01 (p0)":                                      {"p0=P0", "p0=p0"},
		"":                                                     nil, "p": nil, "İ've": nil, "\xff\xfe": nil,
	} {
		require.Equal(t, want, found(p, texts, in), in)
	}
}

// Phrases are found where a search for each of them finds them.
func TestPhrasesAreFoundEverywhere(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"ab", "abc", "bc", "好的", "的", "a'b", "-", "_", " ", "é", "AB", "0", "’"})
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"ab", "abc", "bc ab", "好的", "的a", "a'b", "b-a", "ab_"}), 1, 5).Draw(t, "phrases")
		in := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		p := NewPhrases(texts)
		hits := p.Find(in)
		low := strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, in)
		want := 0
		for _, w := range texts {
			for _, form := range []string{w, strings.ReplaceAll(w, "'", "’")} {
				for i := range low {
					if strings.HasPrefix(low[i:], form) && bounded(in, i, i+len(form)) {
						want++
					}
				}
				if !strings.Contains(w, "'") {
					break
				}
			}
		}
		require.Len(t, hits, want)
		for i := 1; i < len(hits); i++ {
			require.LessOrEqual(t, hits[i-1].Start, hits[i].Start)
		}
	})
}

func TestLines(t *testing.T) {
	t.Parallel()
	const said = "## Head\n- [x] Write it. Then test.\n3) Third\n```\ncode\n```\n> quoted\n| a | b |\n<task>Do this</task>\nUser: no\n[System note]\n  last  "
	var got []string
	Lines(said, func(l Line) {
		mark := ""
		for _, m := range []struct {
			is   bool
			mark string
		}{{l.Heading, "#"}, {l.Bullet, "-"}, {l.Box == TickedBox, "x"}} {
			if m.is {
				mark += m.mark
			}
		}
		got = append(got, mark+"|"+said[l.Start:l.End])
	})
	require.Equal(t, []string{"#|Head", "-x|Write it. Then test.", "-|Third", "|Do this", "|User: no", "|last"}, got)
	require.Len(t, Sentences(said), 7)
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]bool{
		"": false, `He said "`: true, `"Yes", `: false, "它叫「": true, "它叫「你」": false, "don't ": false, "the 'old ": true, "“a” b ‘": true,
	} {
		require.Equal(t, want, Quoted(before), before)
	}
}

func FuzzProse(f *testing.F) {
	f.Add("We decided to use Go. 你好。\n- [x] Done: a\n```\nx\n")
	f.Add("Translate:\nI live in Bern.\n\n> a\n")
	f.Fuzz(func(t *testing.T, said string) {
		said = strings.ToValidUTF8(said, "")
		boundaries, last := text.NewBoundaries(said), 0
		for _, s := range Sentences(said) {
			require.LessOrEqual(t, last, s.Start)
			require.Less(t, s.Start, s.End)
			require.LessOrEqual(t, s.LineStart, s.Start)
			require.LessOrEqual(t, s.End, s.LineEnd)
			last = s.End
			if quote := Quote(said, boundaries, s); quote != "" {
				require.Contains(t, said, quote)
			}
			require.LessOrEqual(t, len([]rune(Title(said[s.Start:s.End]))), MaxTitle)
		}
		for _, works := range []bool{false, true} {
			own := OwnWords(said, works)
			require.GreaterOrEqual(t, own, 0)
			require.LessOrEqual(t, own, len(said))
		}
		_, _ = Head(said)
		Quoted(said)
		Asks(said)
		Opens(said)
		require.LessOrEqual(t, len(Words(said)), len(said))
		require.LessOrEqual(t, len(Cut(said, 10)), len(said))
	})
}

func TestHead(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]schema.TaskStatus{"TODO:": schema.TaskPending, "**Done**": schema.TaskDone, "## 待办：": schema.TaskPending, "Todo list of mine": ""} {
		got, ok := Head(line)
		require.Equal(t, want, got, line)
		require.Equal(t, want != "", ok)
	}
}
