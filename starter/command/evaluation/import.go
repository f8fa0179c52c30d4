package evaluation

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/activities/retrieve/eval"
	"axiommind/starter/command"
)

// Data sets that can be imported.
const (
	datasetLoCoMo      = "locomo"
	datasetLongMemEval = "longmemeval"
	datasetOwn         = "own"
)

func datasets() []string { return []string{datasetLoCoMo, datasetLongMemEval, datasetOwn} }

const evalImportDetails = `locomo takes its JSON file; each conversation becomes a project. longmemeval takes the questions and the sessions (JSON
lines, the latter also with gzip); each question becomes a project with its own sessions. own takes questions, as CSV with
a header or as JSON lines, and optionally the messages they are about:
  question, and answer (a part of the text that answers), or entry, task or fact (ids, several with ";"), or session and
  message, or abstain; and id, project, user, agent, category, lang, as_of
  messages: JSON lines with project, session, role, speaker, time, text

It writes goldset.jsonl and a transcript for each project, and asks no server.`

func evalImportCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import DATASET FILE…", Short: "turn a data set into transcripts to process, and questions about them",
		Long: evalImportDetails,
		Example: "starter eval import locomo locomo.json --to gold\n" +
			"starter eval import longmemeval questions.jsonl sessions.jsonl.gz --to gold\n" +
			"starter eval import own questions.csv --to gold",
	}
	f := cmd.Flags()
	to := f.String("to", "", "directory to write to; it is made where there is none")
	unanswerable := f.Bool("unanswerable", false, "also the questions that the data set has no answer to:\ncategory 5 of LoCoMo, the abstentions of LongMemEval")
	cmd.ValidArgsFunction = a.Arguments(command.Fixed(datasets()...))
	return a.Online(cmd, func(_ context.Context, args []string) error {
		if *to == "" {
			return command.Usagef("say with --to which directory to write to")
		}
		d, err := importDataset(args[0], args[1:], eval.ImportOptions{Unanswerable: *unanswerable})
		if err != nil {
			return inputMistake(err)
		}
		written, err := d.Write(*to)
		switch {
		case errors.Is(err, eval.ErrInput), errors.Is(err, eval.ErrExists):
			return command.BadUsage(err)
		case err != nil:
			return err
		}
		return a.Print(written, func(b *strings.Builder) { printImport(b, written) })
	})
}

// importDataset reads the files of a data set.
func importDataset(name string, paths []string, opts eval.ImportOptions) (d eval.Dataset, err error) {
	least, most := 1, 1
	switch name {
	case datasetLoCoMo:
	case datasetLongMemEval:
		least, most = 2, 2
	case datasetOwn:
		most = 2
	default:
		return d, command.Usagef("data set %q: want one of %s", name, strings.Join(datasets(), ", "))
	}
	if len(paths) < least || len(paths) > most {
		return d, command.Usagef("eval import %s takes %s, not %d", name,
			map[string]string{datasetLoCoMo: "1 file", datasetLongMemEval: "2 files: questions and sessions", datasetOwn: "1 or 2 files: questions and messages"}[name],
			len(paths))
	}
	files := make([]*os.File, len(paths))
	for i, path := range paths {
		if files[i], err = os.Open(path); err != nil {
			return d, err
		}
		defer func() { err = errors.Join(err, files[i].Close()) }()
	}
	switch {
	case name == datasetLoCoMo:
		return eval.LoCoMo(files[0], paths[0], opts)
	case name == datasetLongMemEval:
		return eval.LongMemEval(files[0], paths[0], files[1], paths[1], opts)
	case len(files) == 2:
		return eval.Own(files[0], paths[0], files[1], paths[1])
	}
	return eval.Own(files[0], paths[0], nil, "")
}

// Bounds of the lists in the text output.
const (
	maxLeftOut   = 10
	maxProcessed = 3
)

func printImport(b *strings.Builder, r eval.Written) {
	command.Say(b, "%s: %s\n", r.GoldSet, command.Plural(r.Questions, "question", "questions"))
	if n := len(r.Transcripts); n > 0 {
		command.Say(b, "%s: %s, %s\n", command.Plural(n, "transcript", "transcripts"), command.Plural(r.Sessions, "session", "sessions"), command.Plural(r.Messages, "message", "messages"))
	}
	if len(r.LeftOut) > 0 {
		command.Say(b, "left out:\n")
		for _, reason := range r.LeftOut[:min(maxLeftOut, len(r.LeftOut))] {
			command.Say(b, "  %s\n", command.OneLine(reason, 160))
		}
		command.SayMore(b, "  ", len(r.LeftOut)-maxLeftOut)
	}
	b.WriteString("next:\n")
	for _, t := range r.Transcripts[:min(maxProcessed, len(r.Transcripts))] {
		command.Say(b, "  %s\n", build.Command("process", t.Path, "--project="+t.Project))
	}
	if more := len(r.Transcripts) - maxProcessed; more > 0 {
		command.Say(b, "  and so on for %d more, each in the project that its file is named after\n", more)
	}
	command.Say(b, "  %s\n", build.Command("eval", "retrieval", "--goldset="+r.GoldSet))
}
