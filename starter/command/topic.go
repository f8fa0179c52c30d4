package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"

	"axiommind/starter/help"
)

// showTopic prints a topic. In a terminal it renders the page and starts the pager, else it prints the page unchanged.
func (a *App) showTopic(ctx context.Context, topic help.Topic) error {
	file, ok := a.Exact.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		_, err := io.WriteString(a.Exact, topic.Text)
		return err
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return fmt.Errorf("get the width of the terminal: %w", err)
	}
	colored := a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	return a.pageThrough(ctx, topic.Draw(width, colored))
}

// pageThrough shows the text with the program in PAGER, else with less, else without a pager.
func (a *App) pageThrough(ctx context.Context, page string) error {
	command := strings.Fields(cmp.Or(strings.TrimSpace(a.Getenv("PAGER")), "less"))
	path, err := exec.LookPath(command[0])
	if err != nil {
		_, err := io.WriteString(a.Exact, page)
		return err
	}
	// An interrupt is the pager's own affair: killed, it would leave the terminal as it has set it.
	pager := exec.CommandContext(context.WithoutCancel(ctx), path, command[1:]...) //nolint:gosec // The reader's own choice.
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(page), a.Exact, a.Drawn
	// Like git and gh: quit if the page fits, show colors, leave the text on the screen.
	pager.Env = append(os.Environ(), "LESS="+cmp.Or(a.Getenv("LESS"), "FRX"))
	if err := pager.Run(); err != nil {
		return fmt.Errorf("show the page by %s, which PAGER names: %w", command[0], err)
	}
	return nil
}
