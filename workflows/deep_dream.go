package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/tier"
	"axiommind/schema"
)

const (
	// maxStale is how often a dream starts over because the memory has changed meanwhile.
	maxStale = 5
	// questionsAtOnce bounds how many model calls of one dream run at a time.
	questionsAtOnce = 4
	// maxDreams is how many dreams of a backlog one run does. The next run continues.
	maxDreams = 10
)

// Steps of a dream, shown to people.
const (
	dreamFiles  = "take in edits"
	dreamGather = "gather"
	dreamAsk    = "ask"
	dreamCommit = "commit"
	dreamWrite  = "write files"
)

// DeepDream consolidates the daily records of a memory, with the proven entries and the facts of these days, into core
// memory. It passes the result to the memory's only writer. A memory has one dream at a time, because its id is
// [schema.DeepDreamInput.WorkflowID]. Started under another id it runs itself as a child.
func DeepDream(ctx workflow.Context, in schema.DeepDreamInput) (schema.DeepDreamResult, error) {
	in.User = cmp.Or(in.User, DefaultUser)
	if err := in.Validate(); err != nil {
		return schema.DeepDreamResult{}, invalidInput(err)
	}
	if in.At.IsZero() {
		in.At = dueAt(ctx)
	}
	if id := in.WorkflowID(); !hasID(ctx, id) {
		return runAsOwner[schema.DeepDreamResult](ctx, id, "dream of "+in.Writer().Stream(), in)
	}
	d := &deepDream{input: in, progress: schema.Progress{Status: schema.BuildRunning}}
	if err := serveProgress(ctx, &d.progress); err != nil {
		return schema.DeepDreamResult{}, err
	}
	result, err := d.run(ctx)
	if workflow.IsContinueAsNewError(err) {
		return result, err
	}
	if err != nil {
		d.progress.Status = schema.BuildFailed
		return schema.DeepDreamResult{}, describeFailure(d.progress.Step, err).end(err)
	}
	d.progress.Status, d.progress.Step = schema.BuildSuccess, ""
	workflow.SetCurrentDetails(ctx, describeDream(result))
	return result, nil
}

// scheduledStart is the time at which a scheduled run was due, which may be long ago. The server sets it.
var scheduledStart = temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime")

// dueAt returns the time for which the run was started.
func dueAt(ctx workflow.Context) time.Time {
	if due, ok := workflow.GetTypedSearchAttributes(ctx).GetTime(scheduledStart); ok {
		return due.UTC()
	}
	return workflow.GetInfo(ctx).WorkflowStartTime.UTC()
}

// deepDream is one run over a memory.
type deepDream struct {
	input    schema.DeepDreamInput
	progress schema.Progress
}

// run dreams until nothing is left to read, which may take several runs. A dry run dreams once, because a second dream
// would begin from the commit of the first, and touches no file.
func (d *deepDream) run(ctx workflow.Context) (schema.DeepDreamResult, error) {
	from, total := d.input.From, d.input.Done
	d.input.From, d.input.Done = "", schema.DeepDreamResult{}
	refused := total.Files
	if !d.input.DryRun && from == "" {
		var err error
		if refused, err = d.importEdits(ctx); err != nil {
			return total, err
		}
	}
	for dreams := 1; ; dreams++ {
		result, err := d.dream(ctx, from)
		if err != nil {
			return total, err
		}
		total = joinDreams(total, result)
		if from = result.Next; from == "" || d.input.DryRun || result.Status == schema.DreamIsRefused {
			break
		}
		if dreams == maxDreams || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			total.Files = refused
			return total, d.goOn(ctx, from, total)
		}
	}
	total.Files = refused
	if d.input.DryRun || total.Dreams == 0 {
		return total, nil
	}
	var err error
	total.Files, err = d.writeFiles(ctx)
	return total, err
}

// goOn continues as new from the day.
func (d *deepDream) goOn(ctx workflow.Context, from string, done schema.DeepDreamResult) error {
	next := d.input
	next.From, next.Done = from, done
	return workflow.NewContinueAsNewError(ctx, schema.WorkflowDeepDream, next)
}

// joinDreams returns the last of several dreams with the counts of all of them. A skipped dream does not count.
func joinDreams(total, next schema.DeepDreamResult) schema.DeepDreamResult {
	if next.Status == schema.DreamSkipped {
		if total.Dreams == 0 {
			return next
		}
		total.Next = next.Next
		return total
	}
	next.Dreams = total.Dreams + 1
	next.Added += total.Added
	next.Dropped += total.Dropped
	next.Carried += total.Carried
	next.LeftOut += total.LeftOut
	usage := total.Usage
	usage.Add(next.Usage)
	next.Usage = usage
	if total.Dreams > 0 {
		next.Parent = total.Parent
		if total.Status == schema.DreamCommitted && next.Status == schema.DreamUnchanged {
			next.Status = schema.DreamCommitted
		}
	}
	return next
}

// importEdits records people's edits of the files as events before anything is read. A file with an invalid edit is
// left alone until the person corrects it. The reason is returned, and the dream continues without the edit.
func (d *deepDream) importEdits(ctx workflow.Context) (refused string, err error) {
	d.at(ctx, dreamFiles)
	files := d.files(ctx)
	files.All = true
	_, err = call(storeWork(ctx, "take in edits"), memories.SubmitFiles, files)
	var application *temporal.ApplicationError
	if errors.As(err, &application) && application.Type() == schema.ErrorFilesRefused {
		return application.Message(), nil
	}
	return "", err
}

// writeFiles has outdated files written. If that fails, it returns the reason: the dream is committed all the same, and
// the memory's writer keeps retrying.
func (d *deepDream) writeFiles(ctx workflow.Context) (reason string, err error) {
	d.at(ctx, dreamWrite)
	if _, err = call(submitFiles(ctx, "write files"), memories.SubmitFiles, d.files(ctx)); err == nil {
		return "", nil
	}
	if temporal.IsCanceledError(err) {
		return "", err
	}
	return describeFailure(dreamWrite, err).Error, nil
}

func (d *deepDream) files(ctx workflow.Context) tier.FilesInput {
	return tier.FilesInput{User: d.input.User, Agent: d.input.Agent, At: workflow.Now(ctx).UTC()}
}

// dream dreams once. It starts over if the memory has changed meanwhile.
func (d *deepDream) dream(ctx workflow.Context, from string) (schema.DeepDreamResult, error) {
	var usage schema.Usage
	for range maxStale {
		d.at(ctx, dreamGather)
		start := workflow.Now(ctx)
		in := tier.GatherInput{DeepDreamInput: d.input, From: from}
		gathered, err := call(storeWork(ctx, "input of the dream"), memories.GatherDream, in)
		if err != nil {
			return schema.DeepDreamResult{}, err
		}
		if gathered.Skipped != "" {
			return schema.DeepDreamResult{
				User: d.input.User, Agent: d.input.Agent, Date: gathered.Date, Status: schema.DreamSkipped, Reason: gathered.Skipped,
				Parent: gathered.Version, Version: gathered.Version, Next: gathered.Next,
			}, nil
		}
		commit := tier.CommitInput{
			User: d.input.User, Agent: d.input.Agent, Gathered: gathered.EventID, Model: gathered.Model, DryRun: d.input.DryRun,
			Run: workflow.GetInfo(ctx).WorkflowExecution.RunID, Metrics: []schema.StepMetric{measured(ctx, dreamGather, start, nil)},
		}
		if !gathered.Local {
			start = workflow.Now(ctx)
			err := d.answer(ctx, &commit)
			commit.Metrics = append(commit.Metrics, measured(ctx, dreamAsk, start, err))
			usage.Add(commit.Usage)
			commit.Usage = usage
			if err != nil {
				return schema.DeepDreamResult{}, err
			}
		}
		result, err := d.commit(ctx, commit)
		if err != nil || !result.Stale {
			result.Next = gathered.Next
			return result.DeepDreamResult, err
		}
	}
	message := fmt.Sprintf("the memory moved on during each of %d dreams: dream again when less is written to it", maxStale)
	return schema.DeepDreamResult{}, temporal.NewNonRetryableApplicationError(message, schema.ErrorConcurrentWriter, nil)
}

// commit passes the dream to the memory's writer. A dry run writes nothing, so it does not start the writer, which
// would read the files.
func (d *deepDream) commit(ctx workflow.Context, in tier.CommitInput) (tier.CommitResult, error) {
	d.at(ctx, dreamCommit)
	in.At = workflow.Now(ctx).UTC()
	if in.DryRun {
		return call(storeWork(ctx, "compose the draft"), memories.CommitDream, in)
	}
	return call(storeWork(ctx, "core memory"), memories.SubmitDream, in)
}

// answer asks the model until a memory can be made of the answers, and sets them. If they are unusable even after a
// second try, it sets the reason.
func (d *deepDream) answer(ctx workflow.Context, commit *tier.CommitInput) error {
	d.at(ctx, dreamAsk)
	var before []string
	for level := 0; ; level++ {
		in := tier.PlanInput{Gathered: commit.Gathered, Level: level, Answers: before}
		plan, err := quickly(storeWork(ctx, "questions"), memories.PlanDream, in)
		if err != nil {
			return err
		}
		if plan.Done {
			commit.Refused = plan.Refused
			return nil
		}
		l := &dreamLevel{d: d, gathered: commit.Gathered, before: before, last: plan.Last, windows: plan.Windows}
		before, err = l.ask(ctx)
		commit.Usage.Add(l.usage)
		commit.Refused = l.refused
		if plan.Last {
			commit.Responses = before
		}
		if err != nil || l.refused != "" || plan.Last {
			return err
		}
	}
}

// at sets the current step.
func (d *deepDream) at(ctx workflow.Context, step string) {
	d.progress.Step, d.progress.WindowsDone, d.progress.WindowsTotal = step, 0, 0
	workflow.SetCurrentDetails(ctx, "**"+step+"**")
}

// dreamLevel is a level of questions. The memory is made of the answers to the last level.
type dreamLevel struct {
	d        *deepDream
	gathered string
	before   []string
	last     bool
	windows  int

	usage   schema.Usage
	refused string
}

// ask asks the questions and returns the keys of the answers. A question with an unusable answer is asked a second
// time. All questions of the last level are if no memory can be made of the answers together.
func (l *dreamLevel) ask(ctx workflow.Context) ([]string, error) {
	asked, err := l.askAll(ctx, make([]string, l.windows))
	if err != nil || !l.last {
		return l.keys(asked), err
	}
	if l.refused == "" {
		plan, err := l.judge(ctx, asked)
		if err != nil || plan.Refused == "" {
			return l.keys(asked), err
		}
		again := make([]string, l.windows)
		for i := range again {
			again[i] = plan.Refused
		}
		if asked, err = l.askAll(ctx, again); err != nil || l.refused != "" {
			return l.keys(asked), err
		}
		if plan, err = l.judge(ctx, asked); err != nil {
			return nil, err
		}
		l.refused = plan.Refused
	}
	return l.keys(asked), nil
}

// judge checks whether a memory can be made of the answers.
func (l *dreamLevel) judge(ctx workflow.Context, asked []tier.Asked) (tier.Plan, error) {
	in := tier.PlanInput{Gathered: l.gathered, Answers: l.keys(asked), Last: true}
	return quickly(storeWork(ctx, "judge the answers"), memories.PlanDream, in)
}

func (l *dreamLevel) keys(asked []tier.Asked) []string {
	var keys []string
	for _, a := range asked {
		if a.Key != "" {
			keys = append(keys, a.Key)
		}
	}
	return keys
}

// askAll asks all questions, a few at a time. again contains for each the reason why its last answer was unusable, or
// "".
func (l *dreamLevel) askAll(ctx workflow.Context, again []string) ([]tier.Asked, error) {
	l.d.progress.WindowsDone, l.d.progress.WindowsTotal = 0, l.windows
	asked := make([]tier.Asked, l.windows)
	errs := make([]error, l.windows)
	slots := workflow.NewSemaphore(ctx, questionsAtOnce)
	group := workflow.NewWaitGroup(ctx)
	for i := range l.windows {
		if err := slots.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			defer slots.Release(1)
			asked[i], errs[i] = l.askOne(ctx, i, again[i])
			l.d.progress.WindowsDone++
		})
	}
	group.Wait(ctx)
	return asked, errors.Join(errs...)
}

// askOne asks one question, and once more if the answer is unusable by itself and this was the first try.
func (l *dreamLevel) askOne(ctx workflow.Context, window int, again string) (tier.Asked, error) {
	in := tier.AskInput{Gathered: l.gathered, Answers: l.before, Window: window, Again: again}
	for {
		summary := fmt.Sprintf("question %d of %d", window+1, l.windows)
		if in.Again != "" {
			summary = "again: " + summary
		}
		asked, err := call(modelWork(ctx, summary), memories.AskDream, in)
		l.usage.Add(asked.Usage)
		if err != nil || asked.Useless == "" {
			return asked, err
		}
		if in.Again != "" {
			l.refused = asked.Useless
			return asked, nil
		}
		in.Again = asked.Useless
	}
}

// describeDream returns the outcome of the dream in one line.
func describeDream(r schema.DeepDreamResult) string {
	parts := []string{fmt.Sprintf("**%s**", r.Status), "dream of " + r.Date}
	if r.Reason != "" {
		parts = append(parts, r.Reason)
	}
	if r.Dreams > 0 {
		parts = append(parts,
			fmt.Sprintf("version %d after %d", r.Version, r.Parent),
			fmt.Sprintf("%d items (%d new, %d dropped, %d carried over)", r.Items, r.Added, r.Dropped, r.Carried),
			fmt.Sprintf("%d model calls, %d + %d tokens", r.Usage.Calls, r.Usage.InputTokens, r.Usage.OutputTokens))
	}
	if r.Dreams > 1 {
		parts = append(parts, fmt.Sprintf("%d dreams", r.Dreams))
	}
	if r.Files != "" {
		parts = append(parts, "the files are not written yet: "+r.Files)
	}
	return strings.Join(parts, " · ")
}
