package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"

	"axiommind/worker/settings"
)

// Setup makes Temporal's namespace, if it is missing, and its search attributes. It can be run again.
type Setup struct {
	// Retention is how long Temporal keeps ended workflows. Default: [DefaultRetention] for a new namespace, and no change for
	// one that is there.
	Retention time.Duration
}

const (
	// DefaultRetention is enough to look at a build of last month, and to repeat a start that is known by its id.
	DefaultRetention = 30 * 24 * time.Hour
	// leastRetention is the least that Temporal takes.
	leastRetention = 24 * time.Hour
)

// refusedSetup is the remedy for a refused key.
const refusedSetup = "give a key of an operator by TEMPORAL_API_KEY, or have one make the namespace and the search attributes"

// Flags adds the flags of the setup.
func (s *Setup) Flags(f *pflag.FlagSet) {
	f.DurationVar(&s.Retention, "retention", 0,
		fmt.Sprintf("how long ended workflows are kept, 24h or more (default: %s for a new namespace, else no change)", hours(DefaultRetention)))
}

// hours returns a duration without zeros at its end, as in 720h and 24h30m.
func hours(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Run makes what is missing and prints it.
func (s *Setup) Run(ctx context.Context, cfg Config, logger *slog.Logger, out io.Writer) error {
	if s.Retention != 0 && s.Retention < leastRetention {
		return fmt.Errorf("--retention %s: Temporal keeps ended workflows for %s or longer", s.Retention, hours(leastRetention))
	}
	options, err := cfg.TemporalOptions()
	if err != nil {
		return err
	}
	options.Logger = log.NewStructuredLogger(logger)
	namespaces, err := client.NewNamespaceClient(options)
	if err != nil {
		return fmt.Errorf("set up temporal at %s: %w", cfg.TemporalAddress, err)
	}
	defer namespaces.Close()
	err = retryConnect(ctx, cfg.Servers, logger, "temporal at "+cfg.TemporalAddress, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, retryLast)
		defer cancel()
		err := s.namespace(ctx, namespaces, cfg.TemporalNamespace, out)
		if unauthorized(err) {
			return settings.Refused(err, refusedSetup)
		}
		return cfg.ExplainTemporal(err)
	})
	if err != nil {
		return err
	}
	return attributes(ctx, cfg, logger, out)
}

// namespace makes the namespace, or changes its retention.
func (s *Setup) namespace(ctx context.Context, namespaces client.NamespaceClient, name string, out io.Writer) error {
	found, err := namespaces.Describe(ctx, name)
	var missing *serviceerror.NamespaceNotFound
	switch {
	case errors.As(err, &missing):
		retention := s.Retention
		if retention == 0 {
			retention = DefaultRetention
		}
		err = namespaces.Register(ctx, &workflowservice.RegisterNamespaceRequest{
			Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
		})
		var there *serviceerror.NamespaceAlreadyExists
		if errors.As(err, &there) {
			// Another setup has made it. Temporal shows it after a while, or never to this key.
			return fmt.Errorf("namespace %q is made and not seen yet: %w", name, err)
		}
		if err == nil {
			_, _ = fmt.Fprintf(out, "made the namespace %s, which keeps ended workflows for %s\n", name, hours(retention))
		}
		return err
	case err != nil:
		return err
	}
	kept := found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	if s.Retention == 0 || s.Retention == kept {
		_, _ = fmt.Fprintf(out, "the namespace %s keeps ended workflows for %s\n", name, hours(kept))
		return nil
	}
	err = namespaces.Update(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: name, Config: &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(s.Retention)},
	})
	if err == nil {
		_, _ = fmt.Fprintf(out, "the namespace %s keeps ended workflows for %s now, not for %s\n", name, hours(s.Retention), hours(kept))
	}
	return err
}

// attributes registers the missing search attributes. Temporal takes a few seconds to learn of a new namespace.
func attributes(ctx context.Context, cfg Config, logger *slog.Logger, out io.Writer) error {
	c, err := ConnectTemporal(ctx, cfg, logger)
	if err != nil {
		return err
	}
	defer c.Close()
	var missing []string
	err = retryConnect(ctx, cfg.Servers, logger, "temporal at "+cfg.TemporalAddress, func(ctx context.Context) error {
		if missing, err = MissingSearchAttributes(ctx, c, cfg.TemporalNamespace); err == nil {
			err = RegisterSearchAttributes(ctx, c, cfg.TemporalNamespace)
		}
		if unauthorized(err) {
			return settings.Refused(err, refusedSetup)
		}
		return err
	})
	switch {
	case errors.Is(err, settings.ErrRefused):
		// People use them to filter. Everything else works without them.
		_, err = fmt.Fprintf(out, "warning: the search attributes are not registered: %v\n", err)
	case err != nil:
		return err
	case len(missing) == 0:
		_, err = fmt.Fprintln(out, "the search attributes are registered")
	default:
		_, err = fmt.Fprintf(out, "registered the search attributes %s\n", strings.Join(missing, ", "))
	}
	return err
}
