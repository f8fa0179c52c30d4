package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/worker/service"
)

// askPatience is how long a list waits for Temporal, which it queries only for state that ClickHouse lacks.
const askPatience = 2 * time.Second

// temporalNow connects to Temporal, and waits at most askPatience.
func (a *app) temporalNow(ctx context.Context) (client.Client, error) {
	cfg := a.cfg
	cfg.ConnectTimeout = min(cfg.ConnectTimeout, askPatience)
	return service.ConnectTemporal(ctx, cfg, slog.New(slog.DiscardHandler))
}

// askRunning calls use with a function that distinguishes running builds from interrupted ones. If Temporal is unreachable,
// the function is nil and a notice is printed.
func (a *app) askRunning(ctx context.Context, use func(build.Running) error) error {
	c, err := a.temporalNow(ctx)
	if err != nil {
		a.notAsked(err)
		return use(nil)
	}
	defer c.Close()
	ask := build.RunningSessions(c)
	return use(func(ctx context.Context, ids []string) (map[string]bool, error) {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		found, err := ask(ctx, ids)
		if err == nil || errors.Is(ctx.Err(), context.Canceled) {
			return found, err
		}
		// A session that is not known to have ended counts as running.
		a.notAsked(err)
		return allOf(ids), nil
	})
}

func (a *app) notAsked(err error) {
	_, _ = fmt.Fprintf(a.errOut, "Temporal cannot be asked which builds were interrupted: they are shown as running (%s)\n",
		oneLine(reason(err), maxErrorLine))
}

// running queries Temporal for the sessions that are running. If Temporal can't be queried, all sessions count as running
// and a notice is printed.
func (a *app) running(ctx context.Context, workflowIDs []string) (found map[string]bool, err error) {
	err = a.askRunning(ctx, func(running build.Running) error {
		if running != nil {
			found, err = running(ctx, workflowIDs)
			return err
		}
		found = allOf(workflowIDs)
		return nil
	})
	return found, err
}

// surelyRunning is like running, but returns an error if Temporal can't be queried.
func (a *app) surelyRunning(ctx context.Context, workflowIDs []string) (map[string]bool, error) {
	c, err := a.temporalNow(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return build.RunningSessions(c)(ctx, workflowIDs)
}

func allOf(workflowIDs []string) map[string]bool {
	all := map[string]bool{}
	for _, id := range workflowIDs {
		all[id] = true
	}
	return all
}

// workflowLink identifies the workflow of a build.
type workflowLink struct {
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	// URL is the workflow's page in Temporal's web interface. It is empty if the interface's address is not known.
	URL string `json:"url,omitempty"`
}

// linkTo returns the link to a workflow.
func (a *app) linkTo(workflowID string) workflowLink {
	link := workflowLink{ID: workflowID, Namespace: a.cfg.TemporalNamespace}
	if ui := strings.TrimRight(a.cfg.TemporalUI, "/"); ui != "" {
		link.URL = ui + "/namespaces/" + url.PathEscape(link.Namespace) + "/workflows/" + url.PathEscape(workflowID)
	}
	return link
}

func (l workflowLink) String() string {
	if l.URL != "" {
		return l.URL
	}
	return l.ID + " in namespace " + l.Namespace + " (--temporal-ui makes it a link)"
}
