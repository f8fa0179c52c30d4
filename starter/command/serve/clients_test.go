package serve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command/commandtest"
)

// The clients pass their tests against a server.
func TestClients(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	a := start(c, t, "--project", c.Project, "--user", c.Project)
	for program, script := range map[string]string{"python3": "python/test_axiommind.py", "node": "typescript/test_axiommind.js"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			for _, needed := range map[string][]string{"python3": {"python3"}, "node": {"node", "npm"}}[program] {
				if _, err := exec.LookPath(needed); err != nil {
					t.Skipf("%s is not installed: its client is not tested", needed)
				}
			}
			run := exec.CommandContext(t.Context(), program, filepath.Join("../../../deploy/clients", script))
			run.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			for name, value := range map[string]string{"URL": a.url, "TOKEN": a.token, "TEST_DIR": t.TempDir()} {
				run.Env = append(run.Env, "AXIOMMIND_"+name+"="+value)
			}
			out, err := run.CombinedOutput()
			if run.ProcessState.ExitCode() == 69 { // EX_UNAVAILABLE of sysexits.h.
				t.Skipf("%s", out)
			}
			require.NoError(t, err, "%s", out)
			t.Logf("%s", out)
		})
	}
}
