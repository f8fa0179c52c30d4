package transcript

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// token makes a credential of letters and digits.
func token(n int) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
	random := rand.New(rand.NewPCG(7, 9))
	var b strings.Builder
	for range n {
		b.WriteByte(letters[random.IntN(len(letters))])
	}
	return b.String()
}

// Secrets are gone before a message is stored or sent: given inline, in each part of a harness's record, in chunks, and
// across injected passages. (I9)
func TestI9MessagesAreRedacted(t *testing.T) {
	t.Parallel()
	secret := token(40)
	leaked := func(messages []schema.Message) string {
		var all strings.Builder
		require.NotEmpty(t, messages)
		for _, m := range messages {
			all.WriteString(m.Text + "\n")
		}
		require.NotContains(t, all.String(), secret[:16])
		require.NotContains(t, all.String(), "hidden")
		return all.String()
	}
	quoted := func(v any) string { text, _ := json.Marshal(v); return string(text) }

	s, err := inlineSession(t.Context(), []schema.InlineMessage{
		{Role: "user", Content: "Use ghp_" + secret + ". <private>hidden <system-reminder>x</system-reminder> hidden</private> Thanks."},
		{Role: "tool", Content: `{"env":"API_KEY=` + secret + `\n"}`},
	}, nil, false)
	require.NoError(t, err)
	require.Contains(t, leaked(s.Messages), "Use "+schema.Redacted("github-pat")+". "+schema.Redacted("private")+" Thanks.")

	lines := strings.Join([]string{
		`{"type":"user","sessionId":"s","uuid":"1","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":` +
			quoted("<private>hidden\n<system-reminder>\nhidden\n</system-reminder>\nhidden</private> my password is "+secret) + `}}`,
		`{"type":"assistant","sessionId":"s","uuid":"2","timestamp":"2026-03-01T10:00:01Z","message":{"role":"assistant","content":[
			{"type":"text","text":` + quoted("export TOKEN="+secret) + `},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":` +
			quoted(`curl -H "Authorization: Bearer `+secret+`" https://x.test`) + `}}]}}`,
		`{"type":"user","sessionId":"s","uuid":"3","timestamp":"2026-03-01T10:00:02Z","message":{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"t1","content":` + quoted(`{"client_secret":"`+secret+`"}`) + `}]}}`,
	}, "\n")
	lines = strings.ReplaceAll(lines, "\n\t\t\t", "")
	parsed, err := format.Parse(t.Context(), strings.NewReader(lines), format.Options{Name: "s.jsonl"})
	require.NoError(t, err)
	text := leaked(parsed[0].Messages)
	require.Equal(t, 5, strings.Count(text, "[redacted: "), text)

	var chunks []string
	for _, part := range []string{"my pass", "word is " + secret[:15], secret[15:], " <priv", "ate>hidden"} {
		chunks = append(chunks, `{"timestamp":1767225600,"method":"session/update","params":{"sessionId":"g","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":`+quoted(part)+`}}}}`)
	}
	parsed, err = format.Parse(t.Context(), strings.NewReader(strings.Join(chunks, "\n")), format.Options{Name: "updates.jsonl"})
	require.NoError(t, err)
	require.Equal(t, "grok", parsed[0].Format)
	require.Equal(t, "my password is "+schema.Redacted("named-secret")+" "+schema.Redacted("private")+"\n", leaked(parsed[0].Messages))
}

// The parts of a message keep their originals, which together restore the whole message, wherever a harness injected
// something.
func TestPartsKeepWhatWasTakenOut(t *testing.T) {
	t.Parallel()
	fragments := []string{
		"<private>hidden</private>", "my password is " + token(20), "\n", "<system-reminder>", "</system-reminder>", "<memory>\n", "</memory>\n",
		"Hello. ", "ghp_" + token(36), schema.Redacted("private"), "[redacted: ", "[", "]", "```\n", "<private>\n<system-reminder>\nhidden\n</system-reminder>\n</private>",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(fragments)).Draw(t, "text"), "")
		s, err := inlineSession(t.Context(), []schema.InlineMessage{{Role: "user", Content: text}}, nil, true)
		require.NoError(t, err)
		var whole strings.Builder
		for _, m := range s.Messages {
			part := m.Text
			if m.TakenOut != nil {
				part, err = m.TakenOut.Restore(m.Text)
				require.NoError(t, err)
			}
			whole.WriteString(part)
		}
		require.Equal(t, text, whole.String())
		plain, err := inlineSession(t.Context(), []schema.InlineMessage{{Role: "user", Content: text}}, nil, false)
		require.NoError(t, err)
		require.Equal(t, textsOf(plain.Messages), textsOf(s.Messages))
		for _, m := range plain.Messages {
			require.Nil(t, m.TakenOut)
		}
	})
}

// A session without an id gets one that is derived from the stored text.
func TestI9IDsTellNothing(t *testing.T) {
	t.Parallel()
	id := func(secret string, statement *schema.Statement) string {
		a := &Activities{}
		id, err := a.identify(t.Context(), schema.ProcessSessionInput{Project: "p", User: "u", Statement: statement,
			Messages: []schema.InlineMessage{{Role: "user", Content: "My password is " + secret + ", and I live in Ulm."}}})
		require.NoError(t, err)
		return id
	}
	require.Equal(t, id("hunter2Summer", nil), id("winter3Hunter", nil))
	fact := &schema.Statement{Type: schema.EntryFact}
	require.Equal(t, id("hunter2Summer", fact), id("winter3Hunter", fact))
}
