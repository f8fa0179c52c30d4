package tier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func flushBlock(seq uint64, reason schema.FlushReason, clock, text string) Record {
	return Record{Kind: schema.RecordDaily, Date: "2026-06-07", Seq: seq, Reason: reason, Clock: clock, Text: text}
}

func dreamt(seq uint64, text string) Record {
	return Record{Kind: schema.RecordDiary, Date: "2026-06-07", Seq: seq, Text: text}
}

func edited(kind schema.RecordKind, seq uint64, text string) Record {
	return Record{Kind: kind, Date: "2026-06-07", Seq: seq, Edited: true, Text: text}
}

func TestRenderRecord(t *testing.T) {
	t.Parallel()
	const header = "# Daily Memory: 2026-06-07\n\n"
	for name, tt := range map[string]struct {
		records []Record
		want    string
		none    bool
	}{
		"nothing":          {none: true},
		"nothing to say":   {records: []Record{flushBlock(1, "", "10:00", ""), flushBlock(2, "", "10:00", " \n")}, none: true},
		"one":              {records: []Record{flushBlock(1, schema.FlushTrim, "14:30", "- one\n- 둘")}, want: header + "\n## Trimmed Context (14:30)\n\n- one\n- 둘\n"},
		"every reason":     {records: []Record{flushBlock(1, "", "09:00", "a"), flushBlock(2, schema.FlushOverflow, "10:00", "b"), flushBlock(3, schema.FlushDaily, "23:50", "c")}, want: header + "\n## Session Notes (09:00)\n\na\n\n## Context Overflow Recovery (10:00)\n\nb\n\n## Daily Summary (23:50)\n\nc\n"},
		"edited":           {records: []Record{flushBlock(1, "", "09:00", "a"), edited(schema.RecordDaily, 2, "mine")}, want: "mine"},
		"added to an edit": {records: []Record{edited(schema.RecordDaily, 2, "mine"), flushBlock(3, "", "09:00", "a")}, want: "mine\n\n## Session Notes (09:00)\n\na\n"},
		"emptied":          {records: []Record{flushBlock(1, "", "09:00", "a"), edited(schema.RecordDaily, 2, "")}, want: ""},
		"added to nothing": {records: []Record{edited(schema.RecordDaily, 2, "\n"), flushBlock(3, "", "09:00", "a")}, want: header + "\n## Session Notes (09:00)\n\na\n"},
		"code left open":   {records: []Record{edited(schema.RecordDaily, 2, "- x\n  ```\n  code"), flushBlock(3, "", "09:00", "a")}, want: "- x\n  ```\n  code\n  ```\n\n## Session Notes (09:00)\n\na\n"},
		"code of a block":  {records: []Record{flushBlock(2, "", "08:00", "~~~\ncode"), flushBlock(3, "", "09:00", "a")}, want: header + "\n## Session Notes (08:00)\n\n~~~\ncode\n~~~\n\n## Session Notes (09:00)\n\na\n"},
		"diary":            {records: []Record{dreamt(1, "I slept.")}, want: "# Dream Diary: 2026-06-07\n\nI slept.\n"},
		"second dream":     {records: []Record{dreamt(1, "I slept."), dreamt(2, "Again.")}, want: "# Dream Diary: 2026-06-07\n\nI slept.\n\nAgain.\n"},
		"edited diary":     {records: []Record{dreamt(1, "I slept."), edited(schema.RecordDiary, 2, "No."), dreamt(3, "Again.")}, want: "No.\n\nAgain.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, ok := RenderRecord(tt.records)
			require.Equal(t, !tt.none, ok)
			require.Equal(t, tt.want, text)
		})
	}
}

// A block that a person could not have seen is added to their text; one that they removed is not.
func TestWithLater(t *testing.T) {
	t.Parallel()
	records := []Record{flushBlock(1, "", "09:00", "a"), flushBlock(2, "", "10:00", "b"), flushBlock(3, "", "11:00", ""), edited(schema.RecordDaily, 4, "x")}
	const a, b = "\n## Session Notes (09:00)\n\na\n", "\n## Session Notes (10:00)\n\nb\n"
	require.Equal(t, "mine\n"+a+b, withLater("mine\n", records, 0))
	require.Equal(t, "mine\n"+b, withLater("mine\n", records, 1))
	require.Equal(t, "mine\n", withLater("mine\n", records, 2))
	require.Equal(t, "mine\n"+b+a, withLater("mine\n"+b, records, 0))
	require.Equal(t, "- ```go\n  x\n  ```\n"+a+b, withLater("- ```go\n  x\n", records, 0))
	require.Equal(t, "```\nx\n```\n", withLater("```\nx\n```\n", records, 2))
	crlf := "mine\r\n\r\n## Session Notes (10:00)\r\n\r\nb\r\n"
	require.Equal(t, crlf+a, withLater(crlf, records, 0))
}

// Whatever a person makes of a file and whenever blocks were added, the file holds every block that was not seen, once,
// and taking it in again changes nothing.
func TestWithLaterProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var records []Record
		for i := range rapid.IntRange(0, 6).Draw(t, "blocks") {
			records = append(records, flushBlock(uint64(i+1), "", "10:00", rapid.SampledFrom([]string{"a", "b\n\nc", "", "사과"}).Draw(t, "text")+" "))
		}
		after := rapid.Uint64Range(0, 7).Draw(t, "after")
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\n", "mine", "mine\n", "```\nmine", "- ~~~"})).Draw(t, "text")
		once := withLater(text, records, after)
		require.Equal(t, once, withLater(once, records, after))
		require.True(t, strings.HasPrefix(once, strings.TrimSpace(text)) || strings.HasPrefix(once, text), "%q", once)
		for _, r := range records {
			if r.Seq > after && strings.TrimSpace(r.Text) != "" {
				require.Contains(t, once, strings.TrimSpace(recordBlock(r)))
			}
		}
	})
}

// Each text of a dated file is the one before with the new block below it, whatever their content.
func TestFileStatesGrow(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"", " ", "a", "- b", "```", "~~~~", "- ```go", "\n", "\r\n", "\r", "\u2028", "  ", "x\n```", "안녕"})
	text := rapid.Map(rapid.SliceOfN(part, 0, 6), func(parts []string) string { return strings.Join(parts, "\n") })
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]schema.RecordKind{schema.RecordDaily, schema.RecordDiary}).Draw(t, "kind")
		var records []Record
		for i := range rapid.IntRange(0, 8).Draw(t, "records") {
			records = append(records, Record{
				Seq: uint64(i), Kind: kind, Date: "2026-03-01", Clock: "10:00",
				Text: text.Draw(t, "text"), Edited: rapid.IntRange(0, 4).Draw(t, "edited") == 0,
			})
		}
		var want []string
		last := ""
		for _, r := range records {
			block := recordBlock(r)
			switch {
			case r.Edited:
				last = r.Text
			case strings.TrimSpace(r.Text) == "":
				continue
			case kind == schema.RecordDiary && strings.HasSuffix(last, "\n\n"+block):
			default:
				last = endFence(last)
				switch {
				case strings.TrimSpace(last) == "" && kind == schema.RecordDiary:
					last = recordHeader(kind, r.Date) + block
				case strings.TrimSpace(last) == "":
					last = recordHeader(kind, r.Date) + "\n" + block
				default:
					last = strings.TrimSuffix(last, "\n") + "\n\n" + block
				}
			}
			want = append(want, last)
		}
		var got []string
		for _, state := range fileStates(records) {
			got = append(got, state.text)
		}
		require.Equal(t, want, got)
	})
}

// A day of 10,000 sessions.
func BenchmarkFileStates(b *testing.B) {
	records := make([]Record, 10_000)
	for i := range records {
		records[i] = Record{Seq: uint64(i), Kind: schema.RecordDaily, Date: "2026-03-01", Clock: "10:00", Text: strings.Repeat("- We decided it.\n", 16)}
	}
	b.ReportAllocs()
	for b.Loop() {
		require.Len(b, fileStates(records), len(records))
	}
}
