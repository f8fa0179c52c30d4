package schema

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func sessionKey(project, user, agent, id string) SessionKey {
	return SessionKey{Scope: Scope{Project: project, User: user, Agent: agent}, SessionID: id}
}

// Any names make a stream that parses back to them, and a workflow id of printable ASCII. No two keys share either.
func TestSessionStream(t *testing.T) {
	t.Parallel()
	require.Equal(t, "session/demo/default//my-session", sessionKey("demo", "default", "", "my-session").Stream())
	require.Equal(t, "session/프로젝트/ann%2Fbob/%252F/세션 1", sessionKey("프로젝트", "ann/bob", "%2F", "세션 1").Stream())
	require.Equal(t, "session/%ED%95%9C/u//a%20b%25EC", sessionKey("한", "u", "", "a b%EC").WorkflowID())
	name := rapid.OneOf(rapid.StringOfN(rapid.SampledFrom([]rune("a/%2F5EC 한́🎉\x01")), 0, 6, -1), rapid.String())
	key := rapid.Custom(func(t *rapid.T) SessionKey {
		return sessionKey(name.Draw(t, "project"), name.Draw(t, "user"), name.Draw(t, "agent"), name.Draw(t, "id"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := key.Draw(t, "a"), key.Draw(t, "b")
		got, err := ParseSessionStream(a.Stream())
		require.NoError(t, err)
		require.Equal(t, a, got)
		project, err := ParseProjectStream(ProjectStream(a.Project))
		require.NoError(t, err)
		require.Equal(t, a.Project, project)
		for _, r := range a.WorkflowID() {
			require.True(t, r > ' ' && r < 0x7f, "%q in %q", r, a.WorkflowID())
		}
		require.Equal(t, a == b, a.Stream() == b.Stream())
		require.Equal(t, a == b, a.WorkflowID() == b.WorkflowID())
		require.Equal(t, a.Project == b.Project, WorkflowID(ProjectStream(a.Project)) == WorkflowID(ProjectStream(b.Project)))
		require.Equal(t, a.User == b.User && a.Agent == b.Agent,
			WorkflowID(MemoryStream(a.User, a.Agent)) == WorkflowID(MemoryStream(b.User, b.Agent)))
	})
}

func TestParseSessionStreamRefuses(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"", "session/", "session/a", "session/p/u/a", "session/p/u/a/b/c", "memory/p/u/a/s", "session/p/u/a/%20", "session/p/u/a/%2f"} {
		_, err := ParseSessionStream(stream)
		require.ErrorContains(t, err, "want session/{project}/{user}/{agent}/{id}", "%q", stream)
	}
}

func TestSessionKeyValidate(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("한", 66)
	for want, key := range map[string]SessionKey{
		"":                             sessionKey("프로젝트", "안/나", "", "세션 1 \u202e%"),
		"project is empty":             sessionKey("", "u", "", "s"),
		"user is empty":                sessionKey("p", "", "", "s"),
		"session_id is empty":          sessionKey("p", "u", "", ""),
		"has 201 bytes, more than 200": sessionKey("p", "u", strings.Repeat("a", 201), "s"),
		`session_id "a\x00b" holds a control char`:  sessionKey("p", "u", "", "a\x00b"),
		`user "\u0085" holds a control character`:   sessionKey("p", "\u0085", "", "s"),
		`project "\xff" is not UTF-8`:               sessionKey("\xff", "u", "", "s"),
		"make a workflow id of 2387 bytes, more th": sessionKey(long, long, long, long),
	} {
		err := key.Validate()
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

func TestCheckWorkflowID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "agent 7/~'\"", strings.Repeat("w", 1000)} {
		require.NoError(t, CheckWorkflowID(id))
	}
	for id, says := range map[string]string{"작업": "printable ASCII", "a\nb": "printable ASCII", "a\x7f": "printable ASCII", strings.Repeat("w", 1001): "1001 bytes"} {
		require.ErrorContains(t, CheckWorkflowID(id), says)
	}
}

// A request has one stream of usage, which parses back to the project. Many requests share few streams.
func TestUsageStream(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		project, request := rapid.String().Draw(t, "project"), rapid.String().Draw(t, "request")
		stream := UsageStream(project, request)
		require.Equal(t, stream, UsageStream(project, request))
		got, err := ParseUsageStream(stream)
		require.NoError(t, err)
		require.Equal(t, project, got)
	})
	seen := map[string]bool{}
	for n := range 1000 {
		seen[UsageStream("p", strconv.Itoa(n))] = true
	}
	require.Len(t, seen, usageShards)
	for _, stream := range []string{"", "usage/", "usage/p", "usage/p/1/2", "usage/%2f/1", "graduate/p/1"} {
		_, err := ParseUsageStream(stream)
		require.ErrorContains(t, err, "want usage/{project}/{shard}", "%q", stream)
	}
}
