package privacy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// Forgetting again resumes or verifies the same erasure. Only content that was admitted again starts another erasure.
func TestForgetAgainIsTheSameErasure(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	done := func(kind schema.ErasureKind, f schema.ErasureFinishedPayload) schema.Erasure {
		return schema.Erasure{ID: "done", Kind: kind, FinishedAt: at, Finished: f}
	}
	broken := schema.Erasure{ID: "broken", Kind: schema.EraseSession}
	lifted := done(schema.EraseSession, schema.ErasureFinishedPayload{})
	lifted.ID, lifted.LiftedAt = "lifted", at
	for name, c := range map[string]struct {
		Commands []schema.Erasure
		verify   bool
		id       string
		how      resume
	}{
		"none":                      {nil, false, "", resumeNone},
		"none, to verify":           {nil, true, "", resumeNone},
		"broken off":                {[]schema.Erasure{broken}, false, "broken", resumeErase},
		"failed":                    {[]schema.Erasure{done(schema.EraseUser, schema.ErasureFinishedPayload{Failed: "no"})}, false, "done", resumeErase},
		"something is left":         {[]schema.Erasure{done(schema.EraseProject, schema.ErasureFinishedPayload{Left: 1})}, false, "done", resumeErase},
		"nothing is left":           {[]schema.Erasure{done(schema.EraseSession, schema.ErasureFinishedPayload{})}, false, "done", resumeVerify},
		"lifted":                    {[]schema.Erasure{lifted}, false, "", resumeNone},
		"lifted, to verify":         {[]schema.Erasure{lifted}, true, "lifted", resumeVerify},
		"broken off after a lifted": {[]schema.Erasure{broken, lifted}, false, "broken", resumeErase},
	} {
		e, how := resumed(c.Commands, c.verify)
		require.Equal(t, c.id, e.ID, name)
		require.Equal(t, c.how, how, name)
	}
}

// A variable never names what to erase, only the owner of a session or a text.
func TestForgetOnlyWhatIsTyped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		session, query string
		typed          []string
		project, user  string
	}{
		{"", "", nil, "", ""},
		{"", "", []string{"project"}, "shop", ""},
		{"", "", []string{"user"}, "", "ann"},
		{"s", "", nil, "shop", "ann"},
		{"", "text", []string{"user"}, "", "ann"},
		{"", "text", []string{"project"}, "shop", ""},
	} {
		o := &forgetOptions{}
		o.SessionID, o.Query, o.Project, o.User = tt.session, tt.query, "shop", "ann"
		o.keepTyped(tt.typed)
		require.Equal(t, []string{tt.project, tt.user}, []string{o.Project, o.User}, tt)
	}
}

func TestForgetNamesTheCommandThatResumes(t *testing.T) {
	t.Parallel()
	o := &forgetOptions{}
	o.SessionID, o.Project, o.User, o.ID = "a 'b'\n$(c)", "프로젝트", "-u", "1a2b"
	require.Equal(t, `starter forget --session 'a '\''b'\'' $(c)' --project 프로젝트 --user -u --id 1a2b --yes`, o.again("--yes"))
	o = &forgetOptions{}
	o.Query, o.User, o.ID = "the code of the door", "ann", "1a2b"
	require.Equal(t, `starter forget --query TEXT --user ann --id 1a2b --verify`, o.again("--verify"))
}
