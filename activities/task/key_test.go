package task

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func TestKeysKeepProjectsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range [][2]string{
		{"a", "b"}, {"a:b", "c"}, {"a", "b:c"}, {"a%3Ab", "c"}, {"a%", "c"}, {"A", "b"}, {"a ", "b"}, {"proj/x", "b"},
	} {
		k, err := KeyOfTask(p[0], p[1])
		require.NoError(t, err)
		require.False(t, seen[k.String()], "%q", k)
		seen[k.String()] = true
		c, err := KeyOfCondition(p[0], p[1])
		require.NoError(t, err)
		require.NotEqual(t, k.ID(), c.ID())
	}
	alpha, err := KeyOfTask("alpha", "Fix login bug")
	require.NoError(t, err)
	beta, err := KeyOfTask("beta", "Fix login bug")
	require.NoError(t, err)
	require.NotEqual(t, alpha.ID(), beta.ID())
	require.Equal(t, "task:alpha:fix login bug", alpha.String())
}

func TestKeyRefusals(t *testing.T) {
	t.Parallel()
	for _, p := range [][2]string{{"", "title"}, {"  ", "title"}, {"p", ""}, {"p", " \t\u200b "}, {"p\xff", "x"}} {
		_, err := KeyOfTask(p[0], p[1])
		require.ErrorIs(t, err, ErrKey, "%q", p)
	}
	for _, s := range []string{"", "task", "task:p", "task:p:", "task::x", "entry:p:x", "task:p%3a:x", "task:%:x", "art:url:zz", "art:jira:proj-1", "art:gh_issue:a/b", "art:nope:x"} {
		_, err := ParseKey(s)
		require.ErrorIs(t, err, ErrKey, "%q", s)
	}
}

func TestLongTitles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("修复 the bug ", MaxTitle/10)
	a, err := KeyOfTask("p", long+"a")
	require.NoError(t, err)
	b, err := KeyOfTask("p", long+"b")
	require.NoError(t, err)
	require.NotEqual(t, a, b)
	require.Less(t, len(a.String()), 2048)
	// No title can forge the key of another, long one.
	forged, err := KeyOfTask("p", a.Name)
	require.NoError(t, err)
	require.NotEqual(t, a, forged)
	same, err := KeyOfTask("p", " "+strings.ToUpper(long)+"A!")
	require.NoError(t, err)
	require.Equal(t, a, same)
}

func TestKeyRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		project := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("a:%3A25 é/")), 1, 8, -1)).Draw(t, "project")
		title := rapid.String().Draw(t, "title")
		k, err := KeyOfTask(project, title)
		if rapid.Bool().Draw(t, "condition") {
			k, err = KeyOfCondition(project, title)
		}
		if err != nil {
			require.ErrorIs(t, err, ErrKey)
			return
		}
		back, err := ParseKey(k.String())
		require.NoError(t, err)
		require.Equal(t, k, back)
	})
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"task:p:fix login bug", "cond:a%3Ab:x:y", "art:jira:PROJ-1", "art:gh_pr:o/r:5", "art:url:" + strings.Repeat("0a", 20), "task:%25:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, err := ParseKey(s)
		if err != nil {
			require.ErrorIs(t, err, ErrKey)
			return
		}
		require.Equal(t, s, k.String())
	})
}

func TestArtifactKeys(t *testing.T) {
	t.Parallel()
	for key, texts := range map[string][]string{
		"art:jira:PROJ-12": {"PROJ-12", "proj-12", " PROJ-12. ", "[PROJ-12]", "https://acme.atlassian.net/browse/PROJ-12", "(PROJ-12)"},
		"art:gh_issue:owner/repo:12": {
			"owner/repo#12", "Owner/Repo#12", "https://github.com/owner/repo/issues/12", "http://GitHub.com/Owner/repo/issues/12#issuecomment-1",
			"<https://www.github.com/owner/repo/issues/12/>",
		},
		"art:gh_pr:owner/repo:5": {"https://github.com/owner/repo/pull/5", "https://github.com/owner/repo/pull/5/files?w=1"},
		"art:url:" + schema.HashText("https://example.com/a/b?x=1&y=2"): {
			"https://example.com/a/b?x=1&y=2", "HTTP://EXAMPLE.com:80/a/b/?y=2&x=1", "https://example.com./a/./c/../b?x=1&y=2#top",
			"https://user@www.example.com:443/a/b?x=1&y=2&utm_source=z", "https://example.com/%61/b?x=1&y=2.",
		},
	} {
		for _, text := range texts {
			keys, ok := StrongArtifact(text)
			require.True(t, ok, "%q", text)
			require.Equal(t, key, keys[0].String(), "%q", text)
			back, err := ParseKey(key)
			require.NoError(t, err)
			require.Equal(t, keys[0], back)
		}
	}
	for _, text := range []string{
		"a/b/c#12", "see owner/repo#12", "UTF-8", "sha-256", "PROJ-", "PROJ-0", "fix PROJ-12 soon", "ftp://example.com", "https://", "http://[::1", "owner/repo#", "#12", "",
		"GPT-4", "gpt-5",
	} {
		_, ok := StrongArtifact(text)
		require.False(t, ok, "%q", text)
	}
	plain, err := KeyOfArtifact("Design doc v2")
	require.NoError(t, err)
	same, err := KeyOfArtifact(" design  doc V2.")
	require.NoError(t, err)
	require.Equal(t, plain, same)
	require.Equal(t, schema.ArtifactPlain, plain.Kind)
	_, err = KeyOfArtifact("  ")
	require.ErrorIs(t, err, ErrKey)
}

func TestBlockerForms(t *testing.T) {
	t.Parallel()
	for text, key := range map[string]string{
		"waiting for PROJ-12":                             "art:jira:PROJ-12",
		"blocked by the PR https://github.com/o/r/pull/5": "art:gh_pr:o/r:5",
		"Waiting on o/r#7 to be merged.":                  "art:gh_issue:o/r:7",
		"depends on issue: o/r#7":                         "art:gh_issue:o/r:7",
	} {
		found := ""
		for _, f := range formsOf(text).artifacts {
			if keys, ok := StrongArtifact(f); ok {
				found = keys[0].String()
				break
			}
		}
		require.Equal(t, key, found, "%q", text)
	}
	require.Equal(t, "API keys", formsOf(" waiting for  API keys").condition)
	require.Equal(t, "waiting", formsOf("waiting").condition)
	require.Len(t, mentions("review of PROJ-12 and o/r#5, then PROJ-12; not gpt-4 or node-18"), 2)
}
