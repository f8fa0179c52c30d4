package reference

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"axiommind/starter/command"
	"axiommind/worker/service"
)

// manCommand writes the manual: a page for the program, each group of commands and each command.
func manCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "man DIR", Short: "write the manual pages into a directory",
		Example: "starter man ~/.local/share/man/man1",
	}
	f := cmd.Flags()
	a.OutputFlag(f)
	return a.Offline(cmd, func(_ context.Context, args []string) error {
		dir := args[0]
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a manual is for everybody
			return fmt.Errorf("make directory for the manual: %w", err)
		}
		pages := 0
		err := walkTree(a.Root, func(c *cobra.Command) error {
			page, err := manPage(c)
			if err != nil {
				return err
			}
			pages++
			return os.WriteFile(filepath.Join(dir, pageName(c)), page, 0o644) //nolint:gosec // a manual is for everybody
		})
		if err != nil {
			return fmt.Errorf("write the manual: %w", err)
		}
		written := struct {
			Directory string `json:"directory"`
			Pages     int    `json:"pages"`
		}{dir, pages}
		return a.Print(written, func(b *strings.Builder) {
			fmt.Fprintf(b, "%s written to %s; read one with: man -l %s\n", command.Plural(pages, "page", "pages"), dir,
				filepath.Join(dir, pageName(a.Root)))
		})
	})
}

func walkTree(c *cobra.Command, visit func(*cobra.Command) error) error {
	if err := visit(c); err != nil {
		return err
	}
	for _, child := range c.Commands() {
		if child.Hidden {
			continue
		}
		if err := walkTree(child, visit); err != nil {
			return err
		}
	}
	return nil
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1" }

// manPage returns the page of a command. It names the build instead of a date, so that it does not change from day to day.
func manPage(c *cobra.Command) ([]byte, error) {
	var page bytes.Buffer
	var never time.Time
	header := &doc.GenManHeader{Section: "1", Source: "AxiomMind " + service.Version(), Manual: "AxiomMind", Date: &never}
	if err := doc.GenMan(c, header, &page); err != nil {
		return nil, fmt.Errorf("%s: %w", c.CommandPath(), err)
	}
	return bytes.Replace(page.Bytes(), []byte(`"`+never.Format("Jan 2006")+`"`), []byte(`""`), 1), nil
}
