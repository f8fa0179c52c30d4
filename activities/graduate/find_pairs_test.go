package graduate

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// stated returns statements of a scope, an hour apart.
func stated(scope schema.Scope, titles ...string) []*statement {
	out := make([]*statement, len(titles))
	for i, title := range titles {
		out[i] = &statement{}
		out[i].ID, out[i].Scope, out[i].Title = fmt.Sprintf("%s-%03d", scope.User, i), scope, title
		out[i].OccurredAt = spring.Add(time.Duration(i) * time.Hour)
	}
	return out
}

func titlesOf(pairs []likePair) (out [][2]string) {
	for _, p := range pairs {
		out = append(out, [2]string{p.older.Title, p.newer.Title})
	}
	return out
}

// Statements of one user that share a rare word are a pair, in any language.
func TestLikePairs(t *testing.T) {
	t.Parallel()
	ann, bob := schema.Scope{Project: "p", User: "ann"}, schema.Scope{Project: "p", User: "bob"}
	for name, tt := range map[string]struct{ older, newer string }{
		"english": {"The API server listens on port 8080.", "We moved the API to port 3000."},
		"korean":  {"배포는 금요일에 한다.", "이제 배포를 월요일로 옮겼다."},
		"chinese": {"数据库使用端口五千", "我们换了数据库，现在是别的"},
		"name":    {"User records live in Postgres.", "All of the user records are in MySQL since May."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, [][2]string{{tt.older, tt.newer}}, titlesOf(likePairs(stated(ann, tt.older, "Kittens sleep.", tt.newer))))
			require.Empty(t, likePairs(append(stated(ann, tt.older), stated(bob, tt.newer)...)))
		})
	}
}

// Frequent words have no weight, an entry has a bounded number of partners, and the latest pairs come first.
func TestLikePairsAreBounded(t *testing.T) {
	t.Parallel()
	var titles []string
	for i := range 3000 {
		titles = append(titles, fmt.Sprintf("The build of module%d takes x%dq seconds", i%600, i))
	}
	begin := time.Now()
	pairs := likePairs(stated(schema.Scope{}, titles...))
	require.Less(t, time.Since(begin), 5*time.Second)
	require.NotEmpty(t, pairs)
	require.LessOrEqual(t, len(pairs), maxPartners*len(titles))
	for i, p := range pairs {
		var a, b int
		_, err := fmt.Sscanf(p.older.Title+p.newer.Title, "The build of module%d", &a)
		require.NoError(t, err)
		_, err = fmt.Sscanf(p.newer.Title, "The build of module%d", &b)
		require.NoError(t, err)
		require.Equal(t, a, b, "they share the words of all and nothing else")
		require.True(t, i == 0 || !p.newer.OccurredAt.After(pairs[i-1].newer.OccurredAt))
	}
}

// The pairs do not depend on the order of the entries. Each is found once, with the older entry first.
func TestLikePairsHaveNoOrder(t *testing.T) {
	t.Parallel()
	words := []string{"port", "server", "limit", "배포", "금요일", "8", "the"}
	rapid.Check(t, func(t *rapid.T) {
		var titles []string
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			title := ""
			for _, w := range rapid.SliceOfN(rapid.SampledFrom(words), 1, 5).Draw(t, "words") {
				title += w + " "
			}
			titles = append(titles, title)
		}
		list := stated(schema.Scope{User: "u"}, titles...)
		want := likePairs(list)
		got := likePairs(rapid.Permutation(list).Draw(t, "order"))
		require.Equal(t, want, got)
		seen := map[[2]string]bool{}
		for _, p := range want {
			require.True(t, older(p.older, p.newer))
			require.False(t, seen[[2]string{p.older.ID, p.newer.ID}])
			seen[[2]string{p.older.ID, p.newer.ID}] = true
		}
	})
}
