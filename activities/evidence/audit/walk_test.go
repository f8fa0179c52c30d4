package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// The prefix of a scope is as narrow as the order of the names allows, and omits no stream of the scope.
func TestStreamPrefix(t *testing.T) {
	t.Parallel()
	key := func(project, user, agent, id string) schema.SessionKey {
		return schema.SessionKey{Scope: schema.Scope{Project: project, User: user, Agent: agent}, SessionID: id}
	}
	for want, scope := range map[string]schema.SessionKey{
		"session/":                 key("", "", "", ""),
		"session/p/":               key("p", "", "a", "s"),
		"session/p%2F/u%25/":       key("p/", "u%", "", "s"),
		"session/p/u/a/":           key("p", "u", "a", ""),
		"session/프로젝트/u/a/세션 1%2F": key("프로젝트", "u", "a", "세션 1/"),
	} {
		require.Equal(t, want, streamPrefix(scope))
	}
	require.Equal(t, "session/", streamPrefix(key("", "u", "a", "s")))
	name := rapid.StringOfN(rapid.SampledFrom([]rune("a/%2F한")), 1, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		session := key(name.Draw(t, "project"), name.Draw(t, "user"), rapid.OneOf(name, rapid.Just("")).Draw(t, "agent"), name.Draw(t, "id"))
		scope := session
		for _, field := range []*string{&scope.Project, &scope.User, &scope.Agent, &scope.SessionID} {
			if rapid.Bool().Draw(t, "any") {
				*field = ""
			}
		}
		require.True(t, inScope(session.Stream(), scope))
		require.True(t, strings.HasPrefix(session.Stream(), streamPrefix(scope)), "%q, %q", session.Stream(), streamPrefix(scope))
	})
}
