package command

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/worker/settings"
)

// A connection error advises which setting to change, and does not suggest starting a server that is up.
func TestRefusedConnection(t *testing.T) {
	t.Parallel()
	said := errors.New(`connect to temporal at h:1: failed reaching server: connection error: desc = "error reading server preface: remote error: tls: certificate required"`)
	require.Equal(t, "connect to temporal at h:1: tls: certificate required; "+
		"it wants to see a certificate that it trusts: give it by --temporal-tls-cert and --temporal-tls-key",
		Reason(NotUp(settings.Servers{TemporalTLS: true}.ExplainTemporal(said))))
	said = errors.New(`connect to temporal at h:1: failed reaching server: connection error: desc = "error reading server preface: EOF"`)
	require.Equal(t, "connect to temporal at h:1: the server is not Temporal; it hangs up: if it speaks TLS, set --temporal-tls\n"+
		"Is it up? Start everything with: go run ./deploy/local up", Reason(NotUp(settings.Servers{}.ExplainTemporal(said))))
}
