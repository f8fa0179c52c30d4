package reference_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/command/reference"
)

// Every command has a page with its flags, and the pages are the same each time.
func TestManPages(t *testing.T) {
	t.Parallel()
	dir, again := filepath.Join(t.TempDir(), "new", "man1"), t.TempDir()
	o := commandtest.Offline("man", dir)
	require.Equal(t, command.ExitOK, o.Code, o)
	written := commandtest.Decode[struct{ Pages int }](t, commandtest.Offline("man", again, "-o", "json"))
	pages := 0
	for _, c := range commandtest.Commands() {
		require.FileExists(t, filepath.Join(dir, "starter-"+strings.ReplaceAll(command.Path(c), " ", "-")+".1"))
	}
	require.NoError(t, reference.WalkTree((&command.App{Groups: program.Groups()}).Tree(), func(c *cobra.Command) error {
		pages++
		page, err := os.ReadFile(filepath.Join(dir, reference.PageName(c)))
		require.NoError(t, err, c.CommandPath())
		same, err := os.ReadFile(filepath.Join(again, reference.PageName(c)))
		require.NoError(t, err)
		require.Equal(t, string(same), string(page))
		first, text, _ := strings.Cut(string(page), "\n.SH")
		require.Contains(t, first, `.TH "`+strings.ToUpper(strings.ReplaceAll(c.CommandPath(), " ", `-`))+`" "1" "" "AxiomMind `)
		require.Contains(t, text, c.Short)
		c.Flags().VisitAll(func(f *pflag.Flag) { require.Contains(t, text, `\fB--`+f.Name+`\fP`, c.CommandPath()) })
		return nil
	}))
	require.Equal(t, pages+1, written.Pages, "and one of the command help")
	group, err := os.ReadFile(filepath.Join(dir, "starter-builds.1"))
	require.NoError(t, err)
	require.Regexp(t, `(?s)SEE ALSO\n.*starter\(1\)\\fP, \\fBstarter-builds-batches\(1\)\\fP, .*\\fBstarter-builds-steps\(1\)\\fP\n$`, string(group))
	denied := commandtest.Offline("man", os.DevNull)
	require.Equal(t, command.ExitFailed, denied.Code)
	require.Contains(t, denied.Err, "make directory for the manual")
}
