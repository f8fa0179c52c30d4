package truth

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/evidence/audit"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
	"axiommind/starter/command/show"
)

func verifyCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify", Short: "check every stored span against the log again",
	}
	f := cmd.Flags()
	var scope schema.SessionKey
	command.FilterFlags(f, "evidence", &scope.Project, &scope.User, &scope.Agent)
	f.StringVar(&scope.SessionID, "session", "", "evidence of one session")
	a.Answers(cmd, verification{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error { return verify(ctx, a, scope) })
}

// verification is the result of verify.
type verification struct {
	audit.Tally
	Findings []audit.Finding `json:"findings"`
}

// verify prints each finding immediately. With JSON output it prints all of them at the end.
func verify(ctx context.Context, a *command.App, scope schema.SessionKey) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	if scope.SessionID, err = command.FindAnySession(ctx, conn, scope); err != nil {
		return err
	}
	tally, findings, err := Audit(ctx, a, conn, scope)
	if err != nil {
		return err
	}
	if tally.Sessions+tally.False == 0 && scope != (schema.SessionKey{}) {
		return command.Usagef("nothing to verify: the log holds no session%s", inScope(scope))
	}
	report := verification{tally, findings}
	err = a.Print(report, func(b *strings.Builder) { b.WriteString(TallyLine(tally) + "\n" + ruleLines(tally)) })
	if err == nil && tally.False > 0 {
		err = fmt.Errorf("%s of evidence that is not true of the log", command.Plural(tally.False, "finding", "findings"))
	}
	return err
}

// Audit checks the evidence in the scope and shows progress. It returns the findings that were not printed.
func Audit(ctx context.Context, a *command.App, conn driver.Conn, scope schema.SessionKey) (audit.Tally, []audit.Finding, error) {
	tally, findings := audit.NewTally(), []audit.Finding{}
	reader := entry.NewReader(conn)
	total, err := reader.CountAllEvidence(ctx, scope)
	if err != nil {
		return tally, nil, err
	}
	p := progress.New(a, int(total), "entries verified")
	defer p.Finish()
	p.Describe("entries verified")
	rows := storedEvidence(reader.AllEvidence(ctx, scope))
	for session, err := range audit.Walk(ctx, eventlog.New(conn, eventlog.Options{}), rows, scope) {
		if err != nil {
			return tally, nil, err
		}
		tally.Add(session.Tally)
		p.Reached(tally.Entries, len(session.Findings) > 0)
		if a.Output == command.OutputJSON {
			findings = append(findings, session.Findings...)
			continue
		}
		var b strings.Builder
		for _, finding := range session.Findings {
			PrintFinding(&b, finding)
		}
		if _, err := io.WriteString(a.Out, b.String()); err != nil {
			return tally, nil, fmt.Errorf("write output: %w", err)
		}
	}
	return tally, findings, nil
}

// storedEvidence converts rows of the package entry to those of the package audit.
func storedEvidence(rows iter.Seq2[entry.Stored, error]) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		for row, err := range rows {
			if !yield(audit.Stored{
				EntryID: row.EntryID, Stream: row.Stream, Project: row.Project, EventID: row.EventID,
				EvidenceAligned: row.EvidenceAligned, EvidenceProven: row.EvidenceProven, Rule: row.Rule,
				ExtractedEventID: row.Origin.ExtractedEventID, Index: row.Origin.Index, Evidence: row.Evidence,
			}, err) {
				return
			}
		}
	}
}

func inScope(scope schema.SessionKey) string {
	text := ""
	if scope.SessionID != "" {
		text += fmt.Sprintf(" %q", scope.SessionID)
	}
	if scope.Project != "" {
		text += fmt.Sprintf(" in project %q", scope.Project)
	}
	if scope.User != "" {
		text += fmt.Sprintf(" of user %q", scope.User)
	}
	if scope.Agent != "" {
		text += fmt.Sprintf(" and agent %q", scope.Agent)
	}
	return text
}

// PrintFinding writes a finding of the audit.
func PrintFinding(b *strings.Builder, f audit.Finding) {
	command.Say(b, "FALSE  session %s", f.SessionID)
	if f.EntryID != "" {
		command.Say(b, ", entry %s", command.ShortID(f.EntryID))
	}
	if e := f.Evidence; e != nil {
		command.Say(b, ", message %d, bytes %d–%d", e.MessageIndex, e.Span.ByteStart, e.Span.ByteEnd)
	}
	b.WriteString("\n")
	if e := f.Evidence; e != nil {
		command.Say(b, "       “%s”\n       recorded as %s\n", command.OneLine(e.Quote, 120), show.EvidenceState(*e, show.LineDifferences))
		if p, known := show.PassageOf(*e); known && !e.Proven {
			command.Say(b, "       in “%s”\n", p.Line(""))
		}
	}
	if f.StoredIn != "" {
		command.Say(b, "       %s, event %s: ", f.StoredIn, command.ShortID(f.EventID))
	} else {
		b.WriteString("       ")
	}
	command.Say(b, "%s\n", command.OneLine(f.Problem, 300))
}

// TallyLine summarizes the audit in one line.
func TallyLine(t audit.Tally) string {
	methods := []schema.Method{schema.MethodExact, schema.MethodNormalized, schema.MethodJoined, schema.MethodApproximate}
	for _, method := range slices.Sorted(maps.Keys(t.Spans)) {
		if !slices.Contains(methods, method) {
			methods = append(methods, method)
		}
	}
	spans, byMethod := 0, make([]string, len(methods))
	for i, method := range methods {
		spans += t.Spans[method]
		byMethod[i] = fmt.Sprintf("%d %s", t.Spans[method], method)
	}
	lost, byReason := 0, []string{}
	for _, reason := range slices.Sorted(maps.Keys(t.NotFound)) {
		lost += t.NotFound[reason]
		byReason = append(byReason, fmt.Sprintf("%d %s", t.NotFound[reason], reason))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s: %s", command.Plural(t.Sessions, "session", "sessions"), command.Plural(t.Entries, "entry", "entries"),
		command.Plural(spans, "span", "spans"), strings.Join(byMethod, ", "))
	fmt.Fprintf(&b, "; %d proven, %d aligned and not proven, %d found and not aligned, %d not found",
		t.Proven, t.Aligned-t.Proven, spans-t.Aligned, lost)
	if lost > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(byReason, ", "))
	}
	if t.Unprojected > 0 {
		fmt.Fprintf(&b, "; %s not in the table yet", command.Plural(t.Unprojected, "entry", "entries"))
	}
	fmt.Fprintf(&b, "; %d false", t.False)
	return b.String()
}

// ruleLines counts the pieces that were judged by another rule than this program's.
func ruleLines(t audit.Tally) string {
	var b strings.Builder
	for _, rule := range slices.Sorted(maps.Keys(t.Older)) {
		fmt.Fprintf(&b, "%s judged by rule %d: `starter realign` judges them again by rule %d\n",
			pieces(t.Older[rule]), rule, evidence.Rule)
	}
	for _, rule := range slices.Sorted(maps.Keys(t.Unknown)) {
		fmt.Fprintf(&b, "%s judged by rule %d, which this program does not know: run a newer one\n", pieces(t.Unknown[rule]), rule)
	}
	return b.String()
}

func pieces(n int) string { return command.Plural(n, "piece was", "pieces were") }
