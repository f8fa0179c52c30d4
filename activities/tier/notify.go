package tier

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// Webhook is an HTTP endpoint that gets each [schema.Summary] by POST, as JSON.
type Webhook struct {
	// URL is empty for none.
	URL string
	// Secret signs the body: see starter/help/tiers-and-dreams.md.
	Secret string
}

// validate returns an error if the address is invalid, without repeating it: it may contain a secret.
func (w Webhook) validate() error {
	if w.URL == "" {
		return nil
	}
	address, err := url.Parse(w.URL)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return errors.New("tier activities: the address of the webhook for summaries is no http or https URL")
	}
	return nil
}

// Headers of a webhook's request. The key is the same each time a summary is sent. The signature is "sha256=" and the
// hex HMAC-SHA-256 of the body with the webhook's secret.
const (
	HeaderIdempotencyKey = "Idempotency-Key"
	HeaderSignature      = "X-AxiomMind-Signature"
)

const (
	// webhookTimeout is how long a webhook may take to answer.
	webhookTimeout = 10 * time.Second
	// maxAnswer is how much of a webhook's answer is read, in bytes.
	maxAnswer = 4 << 10
	// maxReason is the most of it, or of another server's message, that is reported, in characters.
	maxReason = 300
	// maxRetryAfter is the longest pause that a webhook may ask for.
	maxRetryAfter = time.Hour
)

// notifyError is the error of a receiver that did not take a summary.
type notifyError struct {
	reason string
	// later is true if the receiver may take it later, after the time it asked for.
	later bool
	after time.Duration
}

func (e *notifyError) Error() string { return e.reason }

// FailureType returns the type of the failure: the receiver is not available, or refused the summary.
func (e *notifyError) FailureType() string {
	if e.later {
		return schema.ErrorNotifyUnavailable
	}
	return schema.ErrorNotifyRefused
}

// Retryable reports whether the receiver may take the summary later.
func (e *notifyError) Retryable() bool { return e.later }

// RetryDelay returns how long the receiver asked to wait, or 0 if it did not say.
func (e *notifyError) RetryDelay() time.Duration { return e.after }

// SendWebhook posts the summary to the webhook of the worker's settings, if there is one.
func (a *Activities) SendWebhook(ctx context.Context, in schema.NotifySummaryInput) error {
	_, err := boundary.Run(ctx, in, func(ctx context.Context, in schema.NotifySummaryInput) (struct{}, error) {
		if a.opts.Webhook.URL == "" {
			return struct{}{}, nil
		}
		summary, err := a.loadSummary(ctx, in)
		if err == nil {
			err = a.opts.Webhook.post(ctx, summary)
		}
		return struct{}{}, err
	})
	return err
}

// SignalSummary sends the summary to the workflow that the input names.
func (a *Activities) SignalSummary(ctx context.Context, in schema.NotifySummaryInput) error {
	_, err := boundary.Run(ctx, in, func(ctx context.Context, in schema.NotifySummaryInput) (struct{}, error) {
		summary, err := a.loadSummary(ctx, in)
		if err == nil {
			err = a.signal(ctx, in.Workflow, summary)
		}
		return struct{}{}, err
	})
	return err
}

// loadSummary reads the summary that the event holds.
func (a *Activities) loadSummary(ctx context.Context, in schema.NotifySummaryInput) (schema.Summary, error) {
	event, err := a.log.Get(ctx, in.EventID)
	if err != nil {
		return schema.Summary{}, fmt.Errorf("read summary %q: %w", in.EventID, err)
	}
	if event.Type != schema.ContextFlushed || event.Stream != schema.MemoryStream(in.User, in.Agent) {
		return schema.Summary{}, boundary.Invalid(schema.ErrorInvalidInput,
			fmt.Errorf("event %q is no summary of user %q, agent %q", in.EventID, in.User, in.Agent))
	}
	p, err := schema.Decode[schema.ContextFlushedPayload](event)
	return schema.Summary{
		EventID: event.ID, Project: p.Project, User: p.User, Agent: p.Agent, SessionID: p.SessionID, Reason: p.Reason,
		Date: p.Date, Clock: p.Clock, Turns: p.Turns, Text: p.Text, Preface: preface(p.Text, p.Turns),
	}, err
}

func (a *Activities) signal(ctx context.Context, workflow string, summary schema.Summary) error {
	err := a.temporal.SignalWorkflow(ctx, workflow, "", schema.SignalSummary, summary)
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return &notifyError{reason: fmt.Sprintf("no workflow %q is running: it was to get the signal %s", workflow, schema.SignalSummary)}
	}
	if err != nil {
		return fmt.Errorf("signal workflow %q: %w", workflow, err)
	}
	return nil
}

// post sends the summary. Its errors hold neither the address, which may hold a secret, nor the summary.
func (w Webhook) post(ctx context.Context, summary schema.Summary) error {
	body, err := json.Marshal(summary)
	if err != nil {
		return fmt.Errorf("encode summary %q: %w", summary.EventID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return &notifyError{reason: "the webhook's address can't be called"}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(HeaderIdempotencyKey, summary.EventID)
	if w.Secret != "" {
		request.Header.Set(HeaderSignature, w.sign(body))
	}
	response, err := webhookClient.Do(request)
	if err != nil {
		var address *url.Error
		if errors.As(err, &address) {
			err = address.Err
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
		return &notifyError{reason: fmt.Sprintf("call webhook at %s: %v", request.URL.Hostname(), err), later: true}
	}
	defer func() { _ = response.Body.Close() }()
	return answered(request.URL.Hostname(), response)
}

// webhookClient follows no redirect: the summary goes to the address of the settings and to no other.
var webhookClient = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (w Webhook) sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(w.Secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// answered returns the error for the webhook's answer, or nil.
func answered(host string, response *http.Response) error {
	status := response.StatusCode
	if status >= 200 && status < 300 {
		return nil
	}
	// A body that cannot be read is left out of the error.
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(body), "")), "\n")
	e := &notifyError{reason: fmt.Sprintf("webhook at %s answered %s", host, response.Status)}
	if first = cut(strings.TrimSpace(first), maxReason); first != "" {
		e.reason += ": " + first
	}
	if status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500 {
		e.later, e.after = true, retryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return e
}

// retryAfter reads the header Retry-After: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	var after time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		after = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = at.Sub(now)
	}
	return min(max(after, 0), maxRetryAfter)
}
