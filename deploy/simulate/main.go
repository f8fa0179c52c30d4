// Command simulate says how many machines, how much storage and how much money a number of sessions a day takes, and which
// limit comes next:
//
//	go run ./deploy/simulate
//	go run ./deploy/bench --measure > measured.json && go run ./deploy/simulate --measured measured.json
//
// It reckons from the costs that the bench has measured on one machine. SCALING.md names the things that it leaves out.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/deploy/simulate/queueing"
)

// figures are those of the machine that SCALING.md names.
//
//go:embed measured.json
var figures string

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	w, file, output := usual(), "", ""
	perDay := []float64{1e3, 1e6, 1e9}
	f := pflag.NewFlagSet("simulate", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&file, "measured", "", "take the costs from this `FILE` of the bench (default: those of SCALING.md)")
	f.Float64SliceVar(&perDay, "sessions", perDay, "sessions a day")
	w.flags(f)
	f.StringVarP(&output, "output", "o", "text", "print as `FORM`: text or json")
	f.Usage = func() {
		_, _ = fmt.Fprintf(out, "Predict machines, storage, cost and limits from the measured costs of a session.\n\n"+
			"  go run ./deploy/simulate --sessions 1e4,1e5 --cores 32\n\nFlags:\n%s", f.FlagUsages())
	}
	switch err := f.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return err
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	case output != "text" && output != "json":
		return fmt.Errorf("--output %q: want text or json", output)
	}
	for _, n := range perDay {
		if !(n >= 1 && n <= 1e12) {
			return fmt.Errorf("--sessions %g: want 1 to 1e12", n)
		}
	}
	if err := w.check(); err != nil {
		return err
	}
	m, err := read(file)
	if err != nil {
		return err
	}
	r := report{Measured: m, World: w, Check: m.Check(), Limits: limits(m, w)}
	for _, n := range perDay {
		r.Plans = append(r.Plans, plan(m, w, n))
	}
	if output == "json" {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	return r.print(out)
}

func read(file string) (*queueing.Measured, error) {
	if file == "" {
		return queueing.ReadMeasured(strings.NewReader(figures))
	}
	f, err := os.Open(file) //nolint:gosec // the user named the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	m, err := queueing.ReadMeasured(f)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", file, err)
	}
	return m, nil
}
