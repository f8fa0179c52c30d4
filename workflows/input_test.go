package workflows_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// startable are the workflows that can be started from the UI, with a field that each has.
var startable = []struct{ workflow, id, field, known string }{
	{schema.WorkflowProcessSession, sessionInput().Key().WorkflowID(), "session_id", "uri, grant, messages, statement, format, project, user, agent, session_id, date, flush, notify, include_tools"},
	{schema.WorkflowRealignSession, sessionInput().Key().WorkflowID(), "session_id", "project, user, agent, session_id"},
	{schema.WorkflowVectorWriter, schema.WorkflowID(schema.VectorStream(collection)), "collection", "collection"},
	{schema.WorkflowProjectTasks, schema.WorkflowID(schema.ProjectStream("p")), "project", "project"},
	{schema.WorkflowDeepDream, schema.DeepDreamInput{}.WorkflowID(), "date", "user, agent, date, at, lookback_days, force, dry_run"},
	{schema.WorkflowNotifySummary, "notify", "event_id", "user, agent, event_id, workflow"},
	{schema.WorkflowDreamNight, "night", "date", "date, lookback_days, force, at_once, after, done"},
	{schema.WorkflowMemoryWriter, schema.WorkflowID(schema.MemoryStream("u", "a")), "user", "user, agent"},
}

func jsonInput(text string) converter.RawValue {
	return encodedInput(converter.MetadataEncodingJSON, text)
}

func encodedInput(encoding, data string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: []byte(data),
	})
}

// An invalid input is refused at once, with the reason and the known names. No activity is called, and the run does not
// wait for ever for a worker that can read it.
func TestInputRefused(t *testing.T) {
	t.Parallel()
	for _, w := range startable {
		for name, tt := range map[string]struct {
			input converter.RawValue
			says  string
		}{
			"unknown field": {jsonInput(fmt.Sprintf(`{%q: "x", "sesion": "s1"}`, w.field)), `there is no field "sesion", only ` + w.known},
			"other letters": {jsonInput(`{"프로젝트": "p", "a\"/\u0007": 1}`), `there is no field "a\"/\a", only ` + w.known},
			"wrong type":    {jsonInput(fmt.Sprintf(`{%q: 5}`, w.field)), fmt.Sprintf(`field %q is a JSON number, want a string`, w.field)},
			"list":          {jsonInput(`[{}]`), "it is a JSON array, want an object with " + w.known},
			"text":          {jsonInput(`"p"`), "it is a JSON string, want an object with " + w.known},
			"cut off":       {jsonInput(`{"project": `), "it is not JSON: unexpected EOF"},
			"empty":         {jsonInput(``), "it is not JSON: EOF"},
			"two":           {jsonInput(`{} {}`), "there is more after its JSON object"},
			"bytes":         {encodedInput(converter.MetadataEncodingBinary, "\x00\xff"), `it is encoded as "binary/plain", want "json/plain"`},
		} {
			t.Run(w.workflow+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRooms()
				env := newEnvironment(r, w.id)
				env.ExecuteWorkflow(w.workflow, tt.input)
				requireInvalid(t, env.GetWorkflowError(), "read the input of "+w.workflow+": "+tt.says)
				require.Empty(t, r.order())
			})
		}
	}
}

// A field is named by its path.
func TestInputRefusedInside(t *testing.T) {
	t.Parallel()
	env := newEnvironment(newRooms(), sessionInput().Key().WorkflowID())
	env.ExecuteWorkflow(schema.WorkflowProcessSession, jsonInput(`{"messages": [{"role": "user"}, {"role": "user", "contents": "x"}]}`))
	requireInvalid(t, env.GetWorkflowError(), `there is no field "messages[1].contents", only role, content`)
}

// An unreadable time is reported with the expected form.
func TestInputRefusesTime(t *testing.T) {
	t.Parallel()
	for given, says := range map[string]string{
		`{"since": "yesterday"}`:               `field "since" is "yesterday", want a time like "2026-11-01T00:00:00Z"`,
		`{"since": "2026-11-01"}`:              `field "since" is "2026-11-01", want a time like`,
		`{"since": 5}`:                         `field "since" is 5, want a time like`,
		`{"continued": {"at": "내일 \"1\""}}`:    `field "continued.at" is "내일 \"1\"", want a time like`,
		`{"since": "2026-11-01T00:00:00Z"`:     "it is not JSON: unexpected EOF",
		`{"since": null, "extractor": "x", "a`: "it is not JSON: unexpected EOF",
	} {
		for _, workflow := range []string{schema.WorkflowBackfillSessions, schema.WorkflowRetryBuilds} {
			env := newEnvironment(newRooms(), "batch")
			env.ExecuteWorkflow(workflow, jsonInput(given))
			requireInvalid(t, env.GetWorkflowError(), "read the input of "+workflow+": "+says)
		}
	}
}

// The workflow judges a missing input like an empty one.
func TestInputAbsent(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]any{"none": nil, "nil": {nil}, "empty": {jsonInput(`{}`)}, "null": {jsonInput(`null`)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(newRooms(), sessionInput().Key().WorkflowID())
			env.ExecuteWorkflow(schema.WorkflowProcessSession, args...)
			requireInvalid(t, env.GetWorkflowError(), "give uri or messages: there is no session to process")
		})
	}
}

func requireInvalid(t *testing.T, err error, says string) {
	t.Helper()
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, schema.ErrorInvalidInput, application.Type())
	require.True(t, application.NonRetryable())
	require.Contains(t, application.Message(), says)
}
