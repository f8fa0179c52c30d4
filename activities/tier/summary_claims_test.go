package tier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestClaimsIn(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"The user likes Go and Berlin.":            nil,
		"Moved to PostgreSQL 17.2, on db-3.":       {"postgresql", "17.2", "db-3"},
		"see https://x.io/a/B7?q=1":                {"b7", "1"},
		"3월에 v2판을 냈다":                              {"3", "v2"},
		"版本1.2发布于 AcmeDB集群":                        {"1.2", "acmedb"},
		"１２ｋｍ":                                     {"12km"},
		"API, e-mail, O'Brien, iPhone, McDonald":   {"api", "iphone", "mcdonald"},
		"على الساعة ٧":                             {"٧"},
		"Go 1.26/ClickHouse, a v2-based port:8080": {"1.26", "clickhouse", "v2", "8080"},
		"wrote README.md and a_2":                  {"readme.md", "a_2"},
		"at 14:30 on 2026-06-07.":                  {"14:30", "2026-06-07"},
	} {
		require.Equal(t, want, claimsIn(line), line)
	}
}

func TestHoldsWord(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, word string
		want       bool
	}{
		{"we use 17.2 now", "17.2", true}, {"we use 17.2.", "17.2", true}, {"v17.2", "17.2", false},
		{"17.2.1", "17.2", false}, {"117", "17", false}, {"1.17", "17", false}, {"1,170", "170", false}, {"17:30", "17", false},
		{"3월", "3", true}, {"第3章", "3", true}, {"db-3 and db-31", "db-3", true}, {"db-31", "db-3", false},
		{"acmedb를", "acmedb", true}, {"myacmedb", "acmedb", false}, {"aab ab", "ab", true}, {"", "a1", false},
	} {
		require.Equal(t, tt.want, holdsWord(tt.text, tt.word), "%q in %q", tt.word, tt.text)
	}
}

func TestClaimsHeld(t *testing.T) {
	t.Parallel()
	open := map[string]bool{}
	c := claimsOf("1. Moved to AcmeDB 3.\n- Latency is 40 ms\n- 사용자는 5월에 출시한다\n- no claim at all\n- costs 9000 and 9000 at MegaCorp", open)
	see(open, "we moved to acmedb 3 today")
	see(open, "5월에 출시합니다")
	text, left := c.supported(open)
	require.Equal(t, "1. Moved to AcmeDB 3.\n- 사용자는 5월에 출시한다\n- no claim at all", text)
	require.Len(t, left, 2)
	require.Equal(t, "- Latency is 40 ms", left[0].Text)
	require.Equal(t, "no message holds 40", left[0].Reason)
	require.Equal(t, "no message holds 9000, megacorp", left[1].Reason)
}

// A summary that copies its lines out of the messages loses none of them, and one with a number that no message holds
// loses that line.
func TestClaimsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[A-Za-zäé한字0-9][A-Za-z0-9 .,:_/äé한字-]{0,30}[a-z0-9]`), 1, 8).Draw(t, "lines")
		open := map[string]bool{}
		copied := claimsOf(strings.Join(lines, "\n"), open)
		for _, line := range lines {
			see(open, "so: "+line)
		}
		text, left := copied.supported(open)
		require.Empty(t, left)
		require.Equal(t, strings.Join(lines, "\n"), text)

		invented := claimsOf("it took 98765432123 days", open)
		for _, line := range lines {
			see(open, line)
		}
		_, left = invented.supported(open)
		require.Len(t, left, 1)
	})
}
