package redact

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zricethezav/gitleaks/v8/config"
)

var update = flag.Bool("update", false, "renew the copy of gitleaks' rules")

// The rules are those of the release of gitleaks that go.mod names.
func TestRulesAreOfGitleaks(t *testing.T) {
	t.Parallel()
	if *update {
		require.NoError(t, os.WriteFile("gitleaks.toml", []byte(config.DefaultConfig), 0o600))
		return
	}
	require.True(t, config.DefaultConfig == string(gitleaksRules),
		"gitleaks has other rules than gitleaks.toml: run go test . -update here, and raise Version")
}
