package truth

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/activities/text"
	"axiommind/schema"
	"axiommind/starter/command/recall"
)

// The results of passes are printed as a sentence. Memories past their half-life are printed with the commands that demote
// or keep them.
func TestGraduatedIsTold(t *testing.T) {
	t.Parallel()
	fall := graduate.Fall{
		EntryID: "04a5ad1b-0000", Title: "The mirror\nis in Oslo.", From: schema.StageVerified, To: schema.StageCandidate, Reason: "last said in 2024",
	}
	for name, tt := range map[string]struct {
		applied bool
		result  graduate.PassResult
		says    []string
		not     string
	}{
		"nothing": {result: graduate.PassResult{}, not: "--apply", says: []string{
			"checked 0 sessions with new memories in project it's p: no changes\nnothing is older than its half-life\n",
		}},
		"much": {not: "demote", result: graduate.PassResult{Sessions: 1, Verified: 1, Certified: 2, Linked: 1, Superseded: 2, Conflicts: 1, Decisions: 3}, says: []string{
			"checked 1 session with", "1 memory verified, 2 memories certified, 1 memory repeats an older one, 2 memories superseded by corrections, " +
				"1 conflict found, 3 decisions recorded\n", `starter conflicts '--project=it'\''s p'`,
		}},
		"would fall": {result: graduate.PassResult{Demoted: 3, Falls: []graduate.Fall{fall}}, not: " demoted ", says: []string{
			"3 memories are older than their half-life:\n", "04a5ad1b  The mirror is in Oslo.  verified  candidate", "\nand 2 more\n",
			`to demote them: starter graduate --apply '--project=it'\''s p'`, `to keep one as it is: starter entry confirm ENTRY '--project=`,
		}},
		"fell": {applied: true, result: graduate.PassResult{Demoted: 1, Falls: []graduate.Fall{fall}}, not: "--apply", says: []string{
			"1 memory older than its half-life was demoted by one stage:\n", "last said in 2024\n",
		}},
	} {
		var b strings.Builder
		printGraduated(&b, "it's p", tt.applied, tt.result)
		for _, says := range tt.says {
			require.Contains(t, b.String(), says, name)
		}
		require.NotContains(t, b.String(), tt.not, name)
	}
	require.Equal(t, "starter graduate", InProject("default", "graduate"), "the default project need not be given")
}

// The sum of passes counts each item once: each pass repeats pending demotions, but not applied ones.
func TestSumOfPasses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 50)
		passes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) graduate.PassResult {
			falls := make([]graduate.Fall, rapid.IntRange(0, 3).Draw(t, "falls"))
			return graduate.PassResult{
				Sessions: count.Draw(t, "sessions"), Verified: count.Draw(t, "verified"), Certified: count.Draw(t, "certified"), Linked: count.Draw(t, "linked"),
				Superseded: count.Draw(t, "superseded"), Conflicts: count.Draw(t, "conflicts"), Decisions: count.Draw(t, "decisions"),
				Demoted: len(falls) + count.Draw(t, "other falls"), Falls: falls,
			}
		}), 1, 6).Draw(t, "passes")
		applied := rapid.Bool().Draw(t, "applied")
		var all, want graduate.PassResult
		for _, one := range passes {
			all = sumOfPasses(all, one, applied)
			want.Demoted += one.Demoted
			want.Sessions += one.Sessions + one.Verified + one.Certified + one.Linked + one.Superseded + one.Conflicts + one.Decisions
		}
		last := passes[len(passes)-1]
		if !applied {
			want.Demoted = last.Demoted
			require.Len(t, all.Falls, len(last.Falls))
		}
		require.Equal(t, want.Demoted, all.Demoted)
		require.Equal(t, want.Sessions, all.Sessions+all.Verified+all.Certified+all.Linked+all.Superseded+all.Conflicts+all.Decisions)
	})
}

func TestRuledIsTold(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]graduate.CommandResult{
		"nothing to change\n": {},
		"04a5ad1b: certified: confirmed by ann\n7c20e9f4: active\nand 2 changes more\n": {MoreChanges: 2, Changes: []graduate.CommandChange{
			{ID: "04a5ad1b-1", Text: "certified: confirmed by\nann"}, {ID: "7c20e9f4-1", Text: "active"},
		}},
	} {
		var b strings.Builder
		recall.PrintRuled(&b, r)
		require.Equal(t, want, b.String())
	}
}

var (
	oslo = graduate.Side{
		EntryID: "04a5ad1b-1", Type: schema.EntryFact, Title: "The mirror is in Oslo.", Stage: schema.StageVerified, Status: schema.StatusContested,
		SessionID: "s1", OccurredAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}
	lima = graduate.Side{
		EntryID: "7c20e9f4-1", Type: schema.EntryFact, Title: "The mirror is in Lima.", Stage: schema.StageWorking, Status: schema.StatusContested,
		SessionID: "s2", OccurredAt: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
	}
	ended = time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
)

// A list of conflicts shows both statements, how each conflict ended, and the next step for an open one.
func TestConflictsAreTold(t *testing.T) {
	t.Parallel()
	open := graduate.Conflict{ID: "0a1b2c3d-1", Older: oslo, Newer: lima, Type: "value", Reason: "Oslo is not Lima", DetectedAt: ended}
	kept, both := open, open
	kept.ID, kept.ResolvedAt, kept.Kept, kept.ResolvedBy, kept.Resolution = "1b", ended, lima.EntryID, "ann", "it moved"
	both.ID, both.ResolvedAt, both.ResolvedBy = "2c", ended, "ann"
	var b strings.Builder
	printConflicts(&b, "p", []graduate.Conflict{open, kept, both})
	require.Contains(t, b.String(), "0a1b2c3d  value       04a5ad1b  2026-03-01  The mirror is in Oslo.  open\n"+
		"                      7c20e9f4  2026-05-01  The mirror is in Lima.\n")
	require.Contains(t, b.String(), "7c20e9f4 is right: it moved\n")
	require.Contains(t, b.String(), "neither is wrong\n")
	require.Contains(t, b.String(), "to resolve one: starter conflicts resolve CONFLICT --keep=ENTRY --project=p\n")
	b.Reset()
	printConflicts(&b, "p", []graduate.Conflict{kept, both})
	require.NotContains(t, b.String(), "to resolve")

	rows := map[string]entry.Row{lima.EntryID: {EvidenceSessionID: "s2", Entry: schema.Entry{Evidence: []schema.Evidence{{Quote: "in Lima"}}}}}
	b.Reset()
	printConflict(&b, "p", open, rows)
	require.Contains(t, b.String(), "differs   in value: Oslo is not Lima\n")
	require.Contains(t, b.String(), "state     open: both sides are contested\n\nolder     The mirror is in Oslo.\n          entry 04a5ad1b · fact · verified, contested · ")
	require.Contains(t, b.String(), "session s2\n          “in Lima” — not found\n")
	require.Contains(t, b.String(), "to resolve it: starter conflicts resolve 0a1b2c3d --keep=7c20e9f4 --project=p\nor keep 04a5ad1b, or keep both if ")
	b.Reset()
	printConflict(&b, "p", kept, nil)
	require.Contains(t, b.String(), "by ann: 7c20e9f4 is right: it moved\n")
	require.Contains(t, b.String(), ", by rule\n")
	require.NotContains(t, b.String(), "to resolve")
}

// A decision is shown with its grounds as recorded and as they are now, and is flagged if a ground is no longer valid.
func TestDecisionsAreTold(t *testing.T) {
	t.Parallel()
	sure := 0.9
	ground := oslo
	ground.Status = schema.StatusActive
	stands := graduate.Decision{ID: "0a1b2c3d-1", At: ended, Action: "Close the mirror", By: "ann", Confidence: &sure, Evidence: []graduate.DecisionGround{
		{Side: lima, Role: schema.RoleStatement, Recorded: schema.StageVerified}, {Side: ground, Role: schema.RoleGround, Recorded: schema.StageCertified},
	}}
	flagged := stands
	flagged.ID, flagged.Confidence, flagged.Flagged = "1b", nil, []string{`entry "7c20e9f4-1" is contested`}
	var b strings.Builder
	printDecisions(&b, []graduate.Decision{stands, flagged})
	require.Regexp(t, `(?m)^0a1b2c3d +2026-06-01 +ann +Close the mirror +7c20e9f4 +stands\n +04a5ad1b\n1b .* +in question$`, b.String())
	b.Reset()
	printDecision(&b, flagged, nil)
	require.Contains(t, b.String(), "Close the mirror\n\ndecision  1b\n")
	require.Contains(t, b.String(), "state     in question\n          entry \"7c20e9f4-1\" is contested\n\nstated in The mirror is in Lima.\n")
	require.Contains(t, b.String(), "\nrests on  The mirror is in Oslo.\n          entry 04a5ad1b · fact · verified · ")
	require.Contains(t, b.String(), "          it was certified when the decision was recorded\n")
	require.NotContains(t, b.String(), "confidence")
	b.Reset()
	printDecision(&b, stands, nil)
	require.Contains(t, b.String(), " by ann, confidence 0.90\nstate     stands\n")
}

// No text of a memory, a reason or a name adds a line that looks like the program's own output.
func TestLedgersKeepToTheirLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string {
			return rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("ab\"'\\\n\r\u0085\u2028\u202e\x1b[2J⟦⟧👩\u200d🚀")), 0, 20, -1)).Draw(t, label)
		}
		side := graduate.Side{EntryID: "04a5ad1b", Title: draw("title"), SessionID: draw("session"), Stage: schema.StageRaw, Status: schema.StatusActive}
		c := graduate.Conflict{ID: "0a", Older: side, Newer: side, Type: "value", Reason: draw("reason")}
		d := graduate.Decision{ID: "0a", Action: draw("action"), By: draw("name"), Flagged: []string{draw("flag")},
			Evidence: []graduate.DecisionGround{{Side: side, Role: schema.RoleGround}}}
		plain := func(print func(b *strings.Builder)) int {
			var b strings.Builder
			print(&b)
			return strings.Count(text.Visible(b.String()), "\n")
		}
		project := draw("project")
		require.Equal(t, 10, plain(func(b *strings.Builder) { printDecision(b, d, nil) }))
		require.Equal(t, 13, plain(func(b *strings.Builder) { printConflict(b, project, c, nil) }))
		require.Equal(t, 4, plain(func(b *strings.Builder) { printConflicts(b, project, []graduate.Conflict{c}) }))
		require.Equal(t, 2, plain(func(b *strings.Builder) { printDecisions(b, []graduate.Decision{d}) }))
		require.Equal(t, 2, plain(func(b *strings.Builder) {
			recall.PrintRuled(b, graduate.CommandResult{Changes: []graduate.CommandChange{{ID: "1", Text: draw("what")}, {ID: draw("id")}}})
		}))
	})
}
