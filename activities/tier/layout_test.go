package tier

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func TestSafeID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"alice":                  "alice",
		"Alice_B-2":              "Alice_B-2",
		"a b":                    "a-b-c8687a08aa5d6ed2",
		"ann@example.org":        "ann-example-org-" + schema.HashText("ann@example.org")[:16],
		"../../etc":              "------etc-" + schema.HashText("../../etc")[:16],
		"사용자":                    "----" + schema.HashText("사용자")[:16],
		"a-b-c8687a08aa5d6ed2":   "a-b-c8687a08aa5d6ed2-" + schema.HashText("a-b-c8687a08aa5d6ed2")[:16],
		"":                       "-" + schema.HashText("")[:16],
		"a-b-c8687a08aa5d6ed2-x": "a-b-c8687a08aa5d6ed2-x",
	} {
		require.Equal(t, want, SafeID(id), "%q", id)
	}
}

// nasty are ids that file systems, URLs and terminals treat in their own ways.
var nasty = []string{
	"..", ".", "/", "\\", "a/b", "a\\b", "../x", "..\\x", "\x00", "a\x00b", "users", "agents", "dreams", "memory", "MEMORY", "MEMORY.md",
	"CON", "con", "nul", "COM1", "lpt9", "a.", "a ", " a", "a..", "🦊", "\u202ea", "\u200fa", "a\u0301", "á", "ｱ", "%2e%2e", "a%2fb", "~", "-", "--", "_",
	"Ann", "ann", "ANN", "a\nb", "\xff\xfe", strings.Repeat("a", 200), strings.Repeat("a", 199) + "b", strings.Repeat("가", 66),
	"2026-06-07.md", "a__0x2f__b", "c8687a08aa5d6ed2", "-c8687a08aa5d6ed2", "a b", "a-b-c8687a08aa5d6ed2", "default", "", "con-", "ſ", "K", "k",
}

var safePath = regexp.MustCompile(`^[a-z0-9_/-]+$`)

// No id leads out of the root, and no two memories share a directory, on any file system.
func TestLayoutKeepsIDsApart(t *testing.T) {
	t.Parallel()
	owner := map[string]layout{}
	for _, user := range nasty {
		for _, agent := range append(nasty, "") {
			l := layout{user, agent}
			dir := l.dir()
			require.Regexp(t, safePath, dir)
			require.Equal(t, path.Clean(dir), dir)
			require.True(t, dir == "memory" || strings.HasPrefix(dir, "memory/"))
			for part := range strings.SplitSeq(dir, "/") {
				require.Less(t, len(part), 255)
				require.NotContains(t, reserved, part)
				require.NotEmpty(t, part)
			}
			if before, ok := owner[dir]; ok {
				require.Equal(t, before, l, "both have %q", dir)
			}
			owner[dir] = l
			require.Contains(t, []string{dir + "/MEMORY.md", "MEMORY.md"}, l.core())
		}
	}
	require.Equal(t, layout{"default", ""}, owner["memory"])
}

func TestLayoutProperty(t *testing.T) {
	t.Parallel()
	id := rapid.OneOf(rapid.String(), rapid.SampledFrom(nasty), rapid.Map(rapid.String(), dirName), rapid.Map(rapid.String(), SafeID))
	rapid.Check(t, func(t *rapid.T) {
		a, b := id.Draw(t, "a"), id.Draw(t, "b")
		require.Regexp(t, safePath, dirName(a))
		require.NotContains(t, dirName(a), "/")
		if a == b {
			return
		}
		require.NotEqual(t, strings.ToLower(dirName(a)), strings.ToLower(dirName(b)))
		require.NotEqual(t, SafeID(a), SafeID(b))
	})
}

func TestLayoutPaths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		layout
		core, daily, diary string
	}{
		{layout{"default", ""}, "MEMORY.md", "memory/2026-06-07.md", "memory/dreams/2026-06-07.md"},
		{layout{"alice", ""}, "memory/users/alice/MEMORY.md", "memory/users/alice/2026-06-07.md", "memory/users/alice/dreams/2026-06-07.md"},
		{layout{"default", "coder"}, "memory/agents/coder/MEMORY.md", "memory/agents/coder/2026-06-07.md", "memory/agents/coder/dreams/2026-06-07.md"},
		{
			layout{"alice", "coder"}, "memory/users/alice/agents/coder/MEMORY.md",
			"memory/users/alice/agents/coder/2026-06-07.md", "memory/users/alice/agents/coder/dreams/2026-06-07.md",
		},
	} {
		require.Equal(t, tt.core, tt.layout.core())
		daily, err := tt.record(schema.RecordDaily, "2026-06-07")
		require.NoError(t, err)
		require.Equal(t, tt.daily, daily)
		diary, err := tt.record(schema.RecordDiary, "2026-06-07")
		require.NoError(t, err)
		require.Equal(t, tt.diary, diary)
	}
	for _, date := range []string{"", "..", "2026-6-7", "2026-06-07/..", "../2026-06-07", "2026-02-30", "12026-06-07", "2026-06-07\x00", "２０２６-06-07"} {
		_, err := layout{"default", ""}.record(schema.RecordDaily, date)
		require.ErrorContains(t, err, "want one such as 2006-01-02", "%q", date)
	}
}

func FuzzDirName(f *testing.F) {
	for _, id := range nasty {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		name := dirName(id)
		require.Regexp(t, `^[a-z0-9_-]+$`, name)
		require.LessOrEqual(t, len(name), maxStem+1+hashDigits)
		require.True(t, utf8.ValidString(name))
	})
}
