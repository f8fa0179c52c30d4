package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestAQuoteThatCutsWhatItSaysProvesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, quote, quoted, whole string }{
		{"first digits", "The gateway waits 130 seconds before it closes.", "30 seconds before it closes", "30", "130"},
		{"last digits", "We pay for 1250 seats in every region.", "We pay for 12", "12", "1250"},
		{"decimals", "The ratio fell to 1.52 in the last week.", "The ratio fell to 1.5", "1.5", "1.52"},
		{"whole part", "It grew by 12.5 percent since the release.", "5 percent since the release", "5", "12.5"},
		{"point without a whole part", "We lose .5 percent of all requests.", "5 percent of all requests", "5", ".5"},
		{"thousands", "The bill was 1,250,000 dollars for the year.", "250,000 dollars for the year", "250,000", "1,250,000"},
		{"version", "Pinned to version 4.12 of the client.", "Pinned to version 4.1", "4.1", "4.12"},
		{"time", "The backup starts at 12:30 every night.", "30 every night", "30", "12:30"},
		{"sign", "The sensor reported -5 degrees at noon.", "5 degrees at noon", "5", "-5"},
		{"prefix", "Guests are disallowed to write to the table.", "allowed to write to the table", "allowed", "disallowed"},
		{"suffix", "The new page is helpless without a network.", "The new page is help", "help", "helpless"},
		{"contraction", "Guests can't write to the table at all.", "Guests can", "can", "can't"},
		{"cannot", "Guests cannot write to the table at all.", "Guests can", "can", "cannot"},
		{"not before", "Guests are not allowed to write to the table.", "allowed to write to the table", "allowed", "not allowed"},
		{"not after", "Guests may not write to the table.", "Guests may", "may", "may not"},
		{"Korean prefix", "캐시를 비활성화하면 응답이 느려집니다.", "활성화하면 응답이 느려집니다", "활성화하면", "비활성화하면"},
		{"Korean auxiliary", "이 서버는 재시작하지 않습니다.", "이 서버는 재시작하지", "재시작하지", "재시작하지 않습니다"},
		{"Chinese", "我们决定不启用压缩功能。", "启用压缩功能", "启用压缩功能", "不启用压缩功能"},
		{"Japanese", "このキャッシュは有効にしない方針です。", "このキャッシュは有効にし", "このキャッシュは有効にし", "このキャッシュは有効にしない方針です"},
		{"word within a word", "She believes in the plan of the board.", "he believes in the plan", "he", "She"},
		{"compound", "A non-refundable deposit is due today.", "refundable deposit is due", "refundable", "non-refundable"},
		{"spelled number", "They hired twenty-five people in spring.", "five people in spring", "five", "twenty-five"},
		{"identifier", "The config sets not_allowed = true for guests.", "allowed = true for guests", "allowed", "not_allowed"},
		{"operator", "if (!user.active) return next();", "user.active) return next()", "user.active", "!user.active"},
		{"grouped digits", "We owe the supplier 12 500 euros since Easter.", "500 euros since Easter", "500", "12 500"},
		{"address", "The proxy listens on 10.14.0.27 since May.", "The proxy listens on 10.14.0.", "10.14.0.", "10.14.0.27"},
		{"hash", "Commit 7ac41e9f broke the login of the app.", "Commit 7ac41", "7ac41", "7ac41e9f"},
		{"Chinese numeral", "二十五个工作日内完成验收并付清尾款。", "五个工作日内完成验收", "五", "二十五"},
		{"Chinese modal", "我们没有收到对方的付款通知。", "收到对方的付款通知", "收到对方的付款通知", "没有收到对方的付款通知"},
		{"Korean denial", "이 예약은 환불받을 수 없다고 합니다.", "이 예약은 환불받을 수", "수", "수 없다고"},
		{"power", "The table has 10⁶ rows in every shard.", "The table has 106 rows in every shard", "106", "10⁶"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			evidence, aligned := Align(message(c.source), []schema.Quote{{Quote: c.quote}})
			require.False(t, aligned)
			e := evidence[0]
			require.True(t, e.Aligned, "the words are there: %s", e.Reason)
			require.False(t, e.Proves())
			require.Equal(t, []schema.Doubt{{Quote: c.quoted, Source: c.whole}}, e.Doubts)
			require.NoError(t, Verify(c.source, e))
			e.Doubts = nil
			require.ErrorIs(t, Verify(c.source, e), ErrFalse, "I3: a doubt may not be left out")
		})
	}
}

func TestAQuoteThatBeginsOrEndsElsewhereProves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"inside a word":             {"The reconciler repairs the index nightly.", "onciler repairs the index"},
		"at a number":               {"The gateway waits 130 seconds before it closes.", "130 seconds before"},
		"before a full stop":        {"The ratio fell to 1.5. Then it rose.", "The ratio fell to 1.5"},
		"after a list's comma":      {"Ports 80, 443 and 8080 are open to all.", "443 and 8080 are open to all"},
		"after a denial of its own": {"No, we will keep the old index for now.", "we will keep the old index"},
		"before another not":        {"We deploy on Friday, not on Monday, as agreed.", "We deploy on Friday"},
		"after a slash":             {"Edit the file deploy/local/main.go before you start.", "main.go before you start"},
		"before a Korean particle":  {"API를 먼저 배포하고 나서 문서를 씁니다.", "를 먼저 배포하고 나서 문서"},
		"exponent kept":             {"The table has 10⁶ rows in every shard.", "the table has 10⁶ rows"},
		"wide digits":               {"The table has １２３ rows in every shard.", "the table has 123 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			evidence, aligned := Align(message(c[0]), []schema.Quote{{Quote: c[1]}})
			require.True(t, aligned, "%+v", evidence[0])
			require.NoError(t, Verify(c[0], evidence[0]))
		})
	}
}

func TestAnOccurrenceWithoutDoubtsIsChosen(t *testing.T) {
	t.Parallel()
	source := "First it waited 130 seconds for the lock. Since May it waits 30 seconds for the lock."
	evidence, aligned := Align(message(source), []schema.Quote{{Quote: "30 seconds for the lock"}})
	require.True(t, aligned)
	e := evidence[0]
	require.Equal(t, schema.ReasonAmbiguous, e.Reason)
	require.Len(t, e.Occurrences, 2)
	require.Equal(t, e.Occurrences[1], e.Span)

	evidence, aligned = Align(message(source), []schema.Quote{
		{Quote: "30 seconds for the lock"}, {Quote: "First it waited"},
	})
	require.True(t, aligned)
	require.Equal(t, e.Occurrences[1], evidence[0].Span, "a nearer place that cuts its number is none")
}

func TestADamagedNumberIsFoundAndProvesNothing(t *testing.T) {
	t.Parallel()
	source := "The retention job keeps 1500 snapshots per tenant in the northern region."
	for name, c := range map[string][3]string{
		"a digit lost":   {"The retenxion job kreeps 150 snapshots per tenant in the nortqhern region", "150", "1500"},
		"a digit unread": {"The retention job keeps 1b00 snapshots per tenant in the northern region", "1b00", "1500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			evidence, aligned := Align(message(source), []schema.Quote{{Quote: c[0]}})
			require.False(t, aligned)
			e := evidence[0]
			require.True(t, e.Aligned, e.Reason)
			require.Contains(t, e.Doubts, schema.Doubt{Quote: c[1], Source: c[2]})
			require.NoError(t, Verify(source, e))
		})
	}
	evidence, _ := Align(message(source), []schema.Quote{{Quote: "The retention job keeps 150 snapshots per tenant in the northern region"}})
	require.False(t, evidence[0].Aligned, "a digit lost in a clean quote is another number")
}
