package normal_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence/normal"
	"axiommind/activities/text/formtest"
)

// FuzzForm checks the guarantees of the normal form: it is stable, and every place of it maps to a place of the
// text, in order.
func FuzzForm(f *testing.F) {
	for _, text := range []string{
		"The **nightly** backup — see “ops” — runs at 02:30…\r\n\r\nand keeps 14 copies.",
		"데이터베이스 마이그레이션을\t먼저 끝내야 합니다 👩‍💻 🇰🇷",
		"ＡＰＩ ｋｅｙ　１２３４ ﬁnal cafe\u0301 \u1112\u1161\u11ab İstanbul ß ½ ﷺ ¨",
		"सत्यापन निर्णय का काम पूरा हुआ", "do_not_merge *ptr **kw* a*b 2 * 3 ~~old~~ __init__",
		"\u200b\u00ad e\u200d\u0301 \uff76\uff9e \u0345\u0399 =\u0338", "-- a--b --flag ---- .. ... .... ‥…", "＿0 ＊a ．．．． 。。。。 —— a——b 0--*0",
	} {
		f.Add(text)
		f.Add(strings.ToUpper(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		v := normal.Of(text)
		require.True(t, utf8.ValidString(v.Text))
		require.Equal(t, v.Text, normal.Form1(v.Text), "normalizing %q twice", text)
		requireMonotone(t, v, text)
		requireMonotone(t, normal.Words(v), text)
		requireMonotone(t, v.Trim(), text)
		requireMonotone(t, normal.OfPiece(text), text)
	})
}

func requireMonotone(t *testing.T, v *normal.View, text string) {
	t.Helper()
	lastStart, lastEnd := 0, 0
	for i := 0; i < len(v.Text); {
		_, size := utf8.DecodeRuneInString(v.Text[i:])
		start, end := v.Original(i, i+size)
		require.True(t, start >= lastStart && end >= lastEnd && start < end && end <= len(text),
			"%q: %d of %q leads to [%d,%d) after [%d,%d)", text, i, v.Text, start, end, lastStart, lastEnd)
		require.True(t, utf8.ValidString(text[start:end]))
		from, to := v.Within(start, end)
		require.True(t, from <= i && i+size <= to, "%q: [%d,%d) leads back to [%d,%d), not to %d", text, start, end, from, to, i)
		lastStart, lastEnd = start, end
		i += size
	}
	covered := 0
	v.LeftOut(0, len(text), func(at, from, to int) {
		require.True(t, from < to && covered <= from && at <= len(v.Text), "%q leaves out [%d,%d) before %d", text, from, to, at)
		start, end := v.Within(from, to)
		require.Equal(t, start, end, "%q: what is left out is in the view", text)
		covered = to
	})
}

func TestFormIsPinned(t *testing.T) {
	t.Parallel()
	formtest.Pin(t, normal.Form)
}
