package service_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/stacktest"
	"axiommind/worker/service"
)

// The setup makes a namespace once, changes its retention only if it is told to, and registers the search attributes.
func TestSetup(t *testing.T) {
	t.Parallel()
	var cfg service.Config
	cfg.TemporalAddress, cfg.TemporalNamespace = stacktest.Temporal(t), fmt.Sprintf("setup-%d", time.Now().UnixNano())
	cfg.ConnectTimeout = time.Minute
	run := func(s service.Setup) string {
		var out strings.Builder
		require.NoError(t, s.Run(t.Context(), cfg, slog.New(slog.DiscardHandler), &out))
		return out.String()
	}
	name := cfg.TemporalNamespace
	require.Equal(t, "made the namespace "+name+", which keeps ended workflows for 720h\nregistered the search attributes "+
		"AxiomMindProject, AxiomMindSession\n", run(service.Setup{}))
	require.Equal(t, "the namespace "+name+" keeps ended workflows for 720h\nthe search attributes are registered\n", run(service.Setup{}))
	require.Equal(t, "the namespace "+name+" keeps ended workflows for 48h now, not for 720h\nthe search attributes are registered\n",
		run(service.Setup{Retention: 48 * time.Hour}))
	require.ErrorContains(t, (&service.Setup{Retention: time.Hour}).Run(t.Context(), cfg, slog.New(slog.DiscardHandler), nil), "24h or longer")
}
