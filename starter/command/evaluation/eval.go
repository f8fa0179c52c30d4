package evaluation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/llm"
	"axiommind/activities/retrieve"
	"axiommind/activities/retrieve/eval"
	"axiommind/starter/command"
)

const evalRetrievalDetails = `A gold set is JSON lines: {"id":"q1","query":"Which day do we release?","project":"shop","relevant":[{"session":"s1",
"message":4}]}. A reference is {"entry":ID}, {"task":ID}, {"fact":ID}, {"session":S,"message":N}, {"session":S} or
{"text":T}; a text next to another reference narrows it. "user", "agent", "category", "lang" and "as_of" may be given, and
"abstain":true instead of "relevant" where nothing answers.

Recall is the share of the references that are found, hit is 1 if any is, all is 1 if all are. The exit code is 1 if
recall@10 or MRR falls by more than --max-drop below the run to compare with. Searches are not noted as usage.`

type evalOptions struct {
	goldSet, out, compare, half string
	maxDrop, alpha              float64
	limit, concurrency          int
	ablations, json, now        bool
	flags                       *pflag.FlagSet

	questions []eval.Question
	baseline  *eval.Result
}

func evalRetrievalCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "retrieval", Short: "measure the share of answers that a search finds",
		Long: evalRetrievalDetails,
		Example: "starter eval retrieval --goldset gold/goldset.jsonl --out run.json\n" +
			"starter eval retrieval --goldset gold/goldset.jsonl --compare run.json --max-drop 0.02\n" +
			"starter eval retrieval --goldset gold/goldset.jsonl --half odd --ablations",
	}
	f := cmd.Flags()
	o := &evalOptions{flags: f}
	f.StringVar(&o.goldSet, "goldset", "", "file of the questions")
	f.StringVar(&o.out, "out", "", "file to write the run to, for later comparisons")
	f.StringVar(&o.compare, "compare", "", "file of an earlier run to compare with")
	f.Float64Var(&o.maxDrop, "max-drop", eval.DefaultMaxDrop, "how far recall@10 and MRR may fall below that run, of 1")
	f.StringVar(&o.half, "half", string(eval.HalfAll), "all, or a half by a hash of the ids: odd, even;\nchoose a setting on one, and report it on the other")
	f.IntVar(&o.limit, "limit", eval.Deepest, "how many results to ask for")
	f.IntVar(&o.concurrency, "concurrency", 1, "how many questions to ask at a time; above 1 latencies are those of a loaded server")
	f.Float64Var(&o.alpha, "alpha", retrieve.DefaultAlpha, "meaning against words, 0 to 1 (embedder hash: 0.15)")
	f.BoolVar(&o.ablations, "ablations", false, "also measure with words alone, with meaning alone, without neighbours, and without reranking")
	f.BoolVar(&o.now, "now", false, "measure though some of the memory is not indexed yet")
	f.BoolVar(&o.json, "json", false, "the same as --output json")
	a.Complete(cmd, "half", command.Fixed(eval.Halves()...))
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if o.json {
			a.Output = command.OutputJSON
		}
		if err := o.finish(); err != nil {
			return err
		}
		return evalRetrieval(ctx, a, o)
	})
}

// finish checks the flags and reads the files. It reports all mistakes before any server is contacted.
func (o *evalOptions) finish() error {
	switch {
	case o.goldSet == "":
		return command.Usagef("say with --goldset which questions to ask")
	case o.limit < eval.Deepest || o.limit > retrieve.MaxLimit:
		return command.Usagef("--limit %d: want %d to %d", o.limit, eval.Deepest, retrieve.MaxLimit)
	case o.concurrency < 1 || o.concurrency > eval.MaxConcurrency:
		return command.Usagef("--concurrency %d: want 1 to %d", o.concurrency, eval.MaxConcurrency)
	case !(o.maxDrop >= 0 && o.maxDrop <= 1):
		return command.Usagef("--max-drop %v: want 0 to 1", o.maxDrop)
	case !(o.alpha >= 0 && o.alpha <= 1):
		return command.Usagef("--alpha %v: want 0 to 1", o.alpha)
	case o.flags.Changed("max-drop") && o.compare == "":
		return command.Usagef("--max-drop needs a run to compare with: --compare")
	}
	if err := command.OneOf("half", eval.Half(o.half), eval.Halves()); err != nil {
		return err
	}
	err := o.readFile(o.goldSet, func(f *os.File) (err error) {
		o.questions, err = eval.ReadGoldSet(f, o.goldSet)
		return err
	})
	if err != nil {
		return err
	}
	if len(eval.Half(o.half).Of(o.questions)) == 0 {
		return command.Usagef("--half %s: none of the questions of %s is in it", o.half, o.goldSet)
	}
	if o.compare != "" {
		if err := o.readBaseline(); err != nil {
			return err
		}
	}
	return o.checkOut()
}

func (o *evalOptions) readBaseline() error {
	err := o.readFile(o.compare, func(f *os.File) error {
		baseline, err := eval.ReadResult(f, o.compare)
		o.baseline = &baseline
		return err
	})
	if err != nil {
		return err
	}
	if err := eval.Comparable(*o.baseline, o.questions, o.options()); err != nil {
		return command.BadUsage(fmt.Errorf("--compare %s: %w", o.compare, err))
	}
	return nil
}

// checkOut refuses a file that can't be written, because a run may take hours.
func (o *evalOptions) checkOut() error {
	if o.out == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(o.out)); err != nil {
		return command.BadUsage(fmt.Errorf("--out: %w", err))
	} else if !info.IsDir() {
		return command.Usagef("--out %s: %s is not a directory", o.out, filepath.Dir(o.out))
	}
	out, err := os.Stat(o.out)
	if err != nil {
		return nil //nolint:nilerr // it is new
	}
	if out.IsDir() {
		return command.Usagef("--out %s is a directory: name a file", o.out)
	}
	if compare, err := os.Stat(o.compare); err == nil && os.SameFile(out, compare) {
		return command.Usagef("--out %s would overwrite the run to compare with: name another file", o.out)
	}
	return nil
}

// readFile opens a file and reads it. An invalid or unreadable file is a usage error.
func (*evalOptions) readFile(name string, read func(*os.File) error) error {
	f, err := os.Open(name)
	if err != nil {
		return command.BadUsage(err)
	}
	defer func() { _ = f.Close() }()
	return inputMistake(read(f))
}

// inputMistake marks errors about an unreadable file or its content as usage errors.
func inputMistake(err error) error {
	if _, path := errors.AsType[*os.PathError](err); path || errors.Is(err, eval.ErrInput) {
		return command.BadUsage(err)
	}
	return err
}

func (o *evalOptions) options() eval.Options {
	return eval.Options{Limit: o.limit, Concurrency: o.concurrency, Half: eval.Half(o.half)}
}

// evalReport is the result of the command.
type evalReport struct {
	Run        eval.Result      `json:"run"`
	Ablations  []ablation       `json:"ablations,omitempty"`
	Comparison *eval.Comparison `json:"comparison,omitempty"`
}

// ablation is a run without one component.
type ablation struct {
	Name string      `json:"name"`
	Run  eval.Result `json:"run"`
}

func evalRetrieval(ctx context.Context, a *command.App, o *evalOptions) error {
	if !slices.Contains(llm.EmbedderProviders(), a.Cfg.Embedder.Provider) {
		_, err := llm.NewEmbedder(ctx, a.Cfg.Embedder)
		return command.BadUsage(err)
	}
	var report evalReport
	if err := evalRuns(ctx, a, o, &report); err != nil {
		return err
	}
	if o.out != "" {
		if err := writeRun(o.out, report.Run); err != nil {
			return err
		}
	}
	if o.baseline != nil {
		comparison, err := eval.Compare(*o.baseline, report.Run, eval.MaxDrop(o.maxDrop))
		if err != nil {
			return command.BadUsage(err)
		}
		report.Comparison = &comparison
	}
	if err := a.Print(report, func(b *strings.Builder) { printEval(b, o, report) }); err != nil {
		return err
	}
	return report.verdict()
}

// verdict returns an error if a metric dropped too far.
func (r evalReport) verdict() error {
	if r.Comparison == nil {
		return nil
	}
	var fell []string
	for _, c := range r.Comparison.Failed() {
		fell = append(fell, fmt.Sprintf("%s fell by %.3f, from %.3f to %.3f; %.3f is allowed", c.Metric, c.Before-c.After, c.Before, c.After, *c.MaxDrop))
	}
	if len(fell) == 0 {
		return nil
	}
	return errors.New(strings.Join(fell, "\n"))
}

// writeRun writes the run to a temporary file and renames it, so that no partial run remains.
func writeRun(name string, run eval.Result) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".run-*.json")
	if err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // After the rename it no longer exists.
	err = errors.Join(run.Write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	return nil
}
