package progress

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
)

// askPatience is how long a list waits for Temporal, which it queries only for state that ClickHouse lacks.
const askPatience = 2 * time.Second

// TemporalNow connects to Temporal, and waits at most askPatience.
func TemporalNow(ctx context.Context, a *command.App) (client.Client, error) {
	return a.TemporalWithin(ctx, askPatience)
}

// AskRunning calls use with a function that distinguishes running builds from interrupted ones. If Temporal is unreachable,
// the function is nil and a notice is printed.
func AskRunning(ctx context.Context, a *command.App, use func(build.Running) error) error {
	c, err := TemporalNow(ctx, a)
	if err != nil {
		notAsked(a, err)
		return use(nil)
	}
	ask := build.RunningSessions(c)
	return use(func(ctx context.Context, ids []string) (map[string]bool, error) {
		ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
		defer cancel()
		found, err := ask(ctx, ids)
		if err == nil || errors.Is(ctx.Err(), context.Canceled) {
			return found, err
		}
		// A session that is not known to have ended counts as running.
		notAsked(a, err)
		return allOf(ids), nil
	})
}

func notAsked(a *command.App, err error) {
	_, _ = fmt.Fprintf(a.ErrOut, "Temporal cannot be asked which builds were interrupted: they are shown as running (%s)\n",
		command.OneLine(command.Reason(err), command.MaxErrorLine))
}

// Running queries Temporal for the sessions that are running. If Temporal can't be queried, all sessions count as running
// and a notice is printed.
func Running(ctx context.Context, a *command.App, workflowIDs []string) (found map[string]bool, err error) {
	err = AskRunning(ctx, a, func(running build.Running) error {
		if running != nil {
			found, err = running(ctx, workflowIDs)
			return err
		}
		found = allOf(workflowIDs)
		return nil
	})
	return found, err
}

// RunningFor returns [Running] for a filter by the status, or [SurelyRunning] where the status is [build.StatusInterrupted].
func RunningFor(a *command.App, status schema.BuildStatus) build.Running {
	ask := Running
	if status == build.StatusInterrupted {
		ask = SurelyRunning
	}
	return func(ctx context.Context, ids []string) (map[string]bool, error) { return ask(ctx, a, ids) }
}

// SurelyRunning is like [Running], but returns an error if Temporal can't be queried.
func SurelyRunning(ctx context.Context, a *command.App, workflowIDs []string) (map[string]bool, error) {
	c, err := TemporalNow(ctx, a)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
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

// WorkflowLink identifies the workflow of a build.
type WorkflowLink struct {
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	// URL is the workflow's page in Temporal's web interface. It is empty if the interface's address is not known.
	URL string `json:"url,omitempty"`
}

// LinkTo returns the link to a workflow.
func LinkTo(a *command.App, workflowID string) WorkflowLink {
	link := WorkflowLink{ID: workflowID, Namespace: a.Cfg.TemporalNamespace}
	if ui := strings.TrimRight(a.Cfg.TemporalUI, "/"); ui != "" {
		link.URL = ui + "/namespaces/" + url.PathEscape(link.Namespace) + "/workflows/" + url.PathEscape(workflowID)
	}
	return link
}

func (l WorkflowLink) String() string {
	if l.URL != "" {
		return l.URL
	}
	return l.ID + " in namespace " + l.Namespace + " (--temporal-ui makes it a link)"
}
