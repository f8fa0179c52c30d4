package tier

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/llm"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

var aSummary = schema.Summary{
	EventID: "e-1", Project: "red", User: "사용자", Agent: "coder", SessionID: "s/1", Reason: schema.FlushTrim,
	Date: "2026-06-07", Clock: "21:45", Turns: 3, Text: "- a <b>\n- \"c\"",
}

func TestWebhookPost(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	require.NoError(t, Webhook{URL: server.URL + "/hook?token=t", Secret: "비밀"}.post(t.Context(), aSummary))
	require.Equal(t, http.MethodPost, got.Method)
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, "e-1", got.Header.Get(HeaderIdempotencyKey))
	mac := hmac.New(sha256.New, []byte("비밀"))
	mac.Write(body)
	require.Equal(t, "sha256="+hex.EncodeToString(mac.Sum(nil)), got.Header.Get(HeaderSignature))
	var sent schema.Summary
	require.NoError(t, json.Unmarshal(body, &sent))
	require.Equal(t, aSummary, sent)

	require.NoError(t, Webhook{URL: server.URL}.post(t.Context(), aSummary))
	require.Empty(t, got.Header.Values(HeaderSignature))
}

func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status       int
		header, body string
		later        bool
		after        time.Duration
		reason       string
	}{
		{http.StatusNoContent, "", "", false, 0, ""},
		{http.StatusBadRequest, "", "\n  no text\nmore", false, 0, "answered 400 Bad Request: no text"},
		{http.StatusUnauthorized, "", "", false, 0, "answered 401 Unauthorized"},
		{http.StatusNotFound, "60", strings.Repeat("긴", 999), false, 0, "404 Not Found: " + strings.Repeat("긴", maxReason)},
		{http.StatusRequestTimeout, "", "", true, 0, "408"},
		{http.StatusTooManyRequests, "90", "slow down", true, 90 * time.Second, "429 Too Many Requests: slow down"},
		{http.StatusInternalServerError, "-1", "", true, 0, "500"},
		{http.StatusServiceUnavailable, "999999", "", true, maxRetryAfter, "503"},
		{http.StatusFound, "", "", false, 0, "302 Found"},
	} {
		calls := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			if tt.status == http.StatusFound {
				w.Header().Set("Location", "/elsewhere")
			}
			if tt.header != "" {
				w.Header().Set("Retry-After", tt.header)
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		err := Webhook{URL: server.URL + "/secret-path", Secret: "s"}.post(t.Context(), aSummary)
		server.Close()
		require.Equal(t, 1, calls, "a redirect was followed")
		if tt.reason == "" {
			require.NoError(t, err)
			continue
		}
		var failed *notifyError
		require.ErrorAs(t, err, &failed)
		require.ErrorContains(t, err, tt.reason)
		require.NotContains(t, err.Error(), "secret-path")
		require.Equal(t, tt.later, failed.Retryable(), tt.status)
		require.Equal(t, tt.after, failed.RetryDelay(), tt.status)
		want := schema.ErrorNotifyRefused
		if tt.later {
			want = schema.ErrorNotifyUnavailable
		}
		require.Equal(t, want, failed.FailureType())
	}
}

func TestWebhookUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	var failed *notifyError
	err := Webhook{URL: server.URL + "/?token=hidden"}.post(t.Context(), aSummary)
	require.ErrorAs(t, err, &failed)
	require.True(t, failed.Retryable())
	require.ErrorContains(t, err, "call webhook at 127.0.0.1:")
	require.NotContains(t, err.Error(), "hidden")

	for _, address := range []string{"http://%zz?token=hidden", "ftp://host/?token=hidden", "localhost:1", "https:///?token=hidden", "hidden"} {
		err = Webhook{URL: address}.post(t.Context(), aSummary)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hidden")
		err = Webhook{URL: address}.validate()
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "hidden")
	}
	require.NoError(t, Webhook{}.validate())
	require.NoError(t, Webhook{URL: "https://user:pass@host/x"}.validate())
}

// A server that does not answer in time is tried again; a worker that is stopped does not wait for it.
func TestWebhookSlow(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stopped" {
			entered <- struct{}{}
		}
		<-release
	}))
	defer server.Close()
	defer close(release)
	// On a busy machine the time may be over before the request is sent.
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var failed *notifyError
	require.ErrorAs(t, Webhook{URL: server.URL}.post(late, aSummary), &failed)
	require.True(t, failed.Retryable())

	stopped, stop := context.WithCancel(t.Context())
	go func() {
		<-entered
		stop()
	}()
	require.ErrorIs(t, Webhook{URL: server.URL + "/stopped"}.post(stopped, aSummary), context.Canceled)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 7, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "soon": 0, "30": 30 * time.Second, "1.5": 0, "-5": 0, "99999999999999999999": 0,
		"Sun, 07 Jun 2026 12:02:00 GMT": 2 * time.Minute, "Sun, 07 Jun 2026 11:00:00 GMT": 0, "Sun, 07 Jun 2026 23:00:00 GMT": time.Hour,
	} {
		require.Equal(t, want, retryAfter(value, now), value)
	}
}

// runNotify runs the activity as Temporal does.
func runNotify(t *testing.T, b *flushBench, activity any, in schema.NotifySummaryInput) *temporal.ApplicationError {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(b.Activities)
	_, err := env.ExecuteActivity(activity, in)
	if err == nil {
		return nil
	}
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	return application
}

// The webhook gets the summary as the log holds it. Its first answers may be failures.
func TestSendWebhook(t *testing.T) {
	t.Parallel()
	status := http.StatusServiceUnavailable
	var sent []schema.Summary
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var s schema.Summary
		_ = json.NewDecoder(r.Body).Decode(&s)
		sent = append(sent, s)
		w.WriteHeader(status)
	}))
	defer server.Close()
	b := newFlushBenchOf(t, llm.NewRules(), Options{Webhook: Webhook{URL: server.URL}})
	in := b.session("s/1", deploy, deployed, said(schema.RoleUser, "thanks a lot"))
	in.Flush = schema.FlushOverflow
	flushed := b.must(in)[0].Flushed
	notify := schema.NotifySummaryInput{User: "ann", Agent: "coder", EventID: flushed}

	failed := runNotify(t, b, b.SendWebhook, notify)
	require.Equal(t, schema.ErrorNotifyUnavailable, failed.Type())
	require.False(t, failed.NonRetryable())
	status = http.StatusOK
	require.Nil(t, runNotify(t, b, b.SendWebhook, notify))
	require.Len(t, sent, 2)
	require.Equal(t, schema.Summary{
		EventID: flushed, Project: "red", User: "ann", Agent: "coder", SessionID: "s/1", Reason: schema.FlushOverflow,
		Date: "2026-06-07", Clock: "21:45", Turns: 2,
		Text:    "- User: deploy the service → Reply: Deployed to prod.\n- User: thanks a lot",
		Preface: preface("- User: deploy the service → Reply: Deployed to prod.\n- User: thanks a lot", 2),
	}, sent[1])

	status = http.StatusGone
	failed = runNotify(t, b, b.SendWebhook, notify)
	require.True(t, failed.NonRetryable())
	require.Equal(t, schema.ErrorNotifyRefused, failed.Type())

	// I10: another user's memory is never sent.
	for _, other := range []schema.NotifySummaryInput{{User: "bob", Agent: "coder", EventID: flushed}, {User: "ann", EventID: flushed}} {
		require.Equal(t, schema.ErrorInvalidInput, runNotify(t, b, b.SendWebhook, other).Type())
	}
	require.Len(t, sent, 3)

	without := newFlushBench(t)
	require.Nil(t, runNotify(t, without, without.SendWebhook, schema.NotifySummaryInput{User: "ann", EventID: "none"}), "no webhook, nothing to send")
}

// The signal reaches a workflow on a server, under the id that the input names, and says so where none runs.
func TestSignalSummary(t *testing.T) {
	t.Parallel()
	c, err := client.Dial(client.Options{HostPort: stacktest.Temporal(t), Namespace: stacktest.Namespace(t)})
	require.NoError(t, err)
	defer c.Close()
	b := newFlushBench(t)
	b.temporal = c
	flushed := b.must(b.session("s", deploy, deployed))[0].Flushed
	const queue = "test-signal-summary"
	w := worker.New(c, queue, worker.Options{})
	waits := func(ctx workflow.Context) (s schema.Summary, err error) {
		workflow.GetSignalChannel(ctx, schema.SignalSummary).Receive(ctx, &s)
		return s, nil
	}
	w.RegisterWorkflowWithOptions(waits, workflow.RegisterOptions{Name: "waits"})
	require.NoError(t, w.Start())
	defer w.Stop()
	id := "an agent's / session ~" + flushed
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, "waits")
	require.NoError(t, err)
	in := schema.NotifySummaryInput{User: "ann", Agent: "coder", EventID: flushed, Workflow: id}
	require.Nil(t, runNotify(t, b, b.SignalSummary, in))
	var got schema.Summary
	require.NoError(t, run.Get(t.Context(), &got))
	require.Equal(t, flushed, got.EventID)
	require.Equal(t, "- User: deploy the service → Reply: Deployed to prod.", got.Text)

	failed := runNotify(t, b, b.SignalSummary, in)
	require.Equal(t, schema.ErrorNotifyRefused, failed.Type())
	require.True(t, failed.NonRetryable())
	require.Contains(t, failed.Message(), "no workflow")
	require.True(t, errors.As(failed, new(*temporal.ApplicationError)))
}
