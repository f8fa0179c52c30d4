package graduate

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

const storesEvents = "The event store is ClickHouse."

// proposing is a command that proposes to change the entry, as an agent of the user.
func (b *passBench) proposing(user, id string, change schema.Change, text string) Command {
	c := b.command(Command{
		Op: OpPropose, Project: "p", User: user, EntryIDs: []string{id}, Change: change, Text: text, Because: "the log says \"다른\"\nthing",
	})
	c.Actor = "mcp/claude-code"
	return c
}

func (b *passBench) deciding(op Op, id string) Command {
	return b.command(Command{Op: op, Project: "p", ProposalID: id, Because: "I looked"})
}

func (b *passBench) proposals(q ProposalQuery) []Proposal {
	b.t.Helper()
	q.Project = "p"
	found, err := b.ledgers.Proposals(b.t.Context(), b.log.Store, q)
	require.NoError(b.t, err)
	return found
}

// stateCorrection states the proposed correction as the person who accepts it, and runs a pass.
func (b *passBench) stateCorrection(p Proposal) string {
	b.t.Helper()
	row := b.entry("p", p.Entry.EntryID)
	in := CorrectionInput(row, p.CorrectionText(), b.now())
	said, _, _ := strings.Cut(p.CorrectionText(), "\n")
	ids := b.say(in.Key(), 40, spoken{text: said, corrects: row.ID, category: row.Category, entryType: row.Type})
	b.pass("p")
	require.Equal(b.t, ids[0], b.entry("p", row.ID).SupersededBy)
	return ids[0]
}

// A proposal counts once and changes nothing, whoever makes it and however often. Accepting it retires the entry in the
// person's name, with the proposer in the reason. Accepting it again changes nothing.
func TestI1ProposalToRetire(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	id := b.say(inSession("p", "u", "s"), 0, spoken{text: storesEvents})[0]
	b.pass("p")
	before, digests := b.entry("p", id), b.digests(t.Context())
	first := b.do(b.proposing("u", id, schema.ChangeRetire, ""))
	require.Equal(t, 1, first.Events)
	other := b.proposing("u", id, schema.ChangeRetire, "")
	other.Actor, other.Because = "mcp/codex", "it is old"
	again := b.do(other)
	require.Zero(t, again.Events)
	require.Equal(t, first.Changes, again.Changes)
	require.Equal(t, before, b.entry("p", id))
	require.Equal(t, digests, b.digests(t.Context()), "a proposal changes no row")
	proposalID := first.Changes[0].ID
	listed := b.proposals(ProposalQuery{})
	require.Len(t, listed, 1)
	require.Equal(t, []any{proposalID, ProposalOpen, "mcp/claude-code", storesEvents},
		[]any{listed[0].ID, listed[0].State, listed[0].ProposedBy, listed[0].Entry.Title})

	done := b.do(b.deciding(OpAccept, proposalID))
	require.Equal(t, 2, done.Events)
	row := b.entry("p", id)
	require.Equal(t, schema.StatusDeprecated, row.Status)
	require.Equal(t, "ann", row.EndedBy)
	require.Equal(t, "proposed by mcp/claude-code: the log says \"다른\"\nthing", row.EndedBecause)
	once := b.do(b.deciding(OpAccept, proposalID))
	require.Zero(t, once.Events)
	require.Equal(t, done.Changes, once.Changes)
	require.Empty(t, b.proposals(ProposalQuery{}))
	all := b.proposals(ProposalQuery{Decided: true})
	require.Equal(t, []any{ProposalAccepted, "ann", "I looked"}, []any{all[0].State, all[0].DecidedBy, all[0].DecidedBecause})
	b.refuse(b.deciding(OpReject, proposalID), "was accepted by ann: I looked")
	b.refuse(b.proposing("u", id, schema.ChangeRetire, ""), "asked for the same and was accepted by ann")
	b.refuse(b.proposing("u", id, schema.ChangeCorrect, "The event store is Postgres."), "is retired already")
	b.rebuilt()
	require.Equal(t, row, b.entry("p", id))
}

// A correction is accepted once the person has stated it. After a crash in between, the proposal is open, and can be
// accepted but not rejected.
func TestI2ProposalToCorrect(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	id := b.say(inSession("p", "u", "s"), 0, spoken{text: storesEvents})[0]
	b.pass("p")
	right := b.do(b.proposing("u", id, schema.ChangeCorrect, "  The event store is Postgres. ")).Changes[0].ID
	require.Equal(t, schema.ProposalID(b.entry("p", id).Scope, id, schema.ChangeCorrect, "The event store is Postgres."), right)
	other := b.do(b.proposing("u", id, schema.ChangeCorrect, "The event store is SQLite.")).Changes[0].ID
	b.refuse(b.deciding(OpAccept, right), "is not corrected yet")
	p, err := b.ledgers.Proposal(t.Context(), b.log.Store, "p", strings.ToUpper(right[:8]))
	require.NoError(t, err)
	by := b.stateCorrection(p)

	b.log = projection.New(b.conn, eventlog.Options{}) // Another process.
	b.activities.log = b.log
	states := map[string]ProposalState{}
	for _, each := range b.proposals(ProposalQuery{}) {
		states[each.ID] = each.State
	}
	require.Equal(t, map[string]ProposalState{right: ProposalOpen, other: ProposalOvertaken}, states)
	b.refuse(b.deciding(OpReject, right), "was carried out")
	b.refuse(b.deciding(OpAccept, other), "is overtaken")
	require.Equal(t, 1, b.do(b.deciding(OpAccept, right)).Events)
	require.Zero(t, b.do(b.deciding(OpAccept, right)).Events)
	require.Equal(t, by, b.entry("p", id).SupersededBy)
	require.Equal(t, 1, b.do(b.deciding(OpReject, other)).Events)
	require.Zero(t, b.do(b.deciding(OpReject, other)).Events)
	b.refuse(b.deciding(OpAccept, other), "was rejected by ann: I looked")
	b.refuse(b.proposing("u", id, schema.ChangeCorrect, "The event store is SQLite."), "was rejected by ann")
	require.Equal(t, "The event store is Postgres.", b.entry("p", by).Title)
}

// A proposal about another user's entry, or a decision on another project's proposal, fails as if the target did not
// exist.
func TestI10Proposals(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	id := b.say(inSession("p", "u", "s"), 0, spoken{text: storesEvents})[0]
	elsewhere := b.say(inSession("q", "u", "s"), 0, spoken{text: storesEvents})[0]
	b.pass("p")
	unknown := `entry "` + strings.Repeat("0", len(id)) + `" in project "p": no such entry: give a whole id`
	b.refuse(b.proposing("u", strings.Repeat("0", len(id)), schema.ChangeRetire, ""), unknown)
	for _, user := range []string{"", "bob", "U", "u "} {
		b.refuse(b.proposing(user, id, schema.ChangeRetire, ""), strings.ReplaceAll(unknown, strings.Repeat("0", len(id)), id))
	}
	b.refuse(b.proposing("u", elsewhere, schema.ChangeRetire, ""), "no such entry")
	made := b.do(b.proposing("u", id, schema.ChangeRetire, "")).Changes[0].ID
	for _, op := range []Op{OpAccept, OpReject} {
		other := b.deciding(op, made)
		other.Project = "q"
		b.refuse(other, "no such proposal")
		b.refuse(b.deciding(op, made[:8]), "no such proposal: give a whole id")
	}
	_, err := b.ledgers.Proposal(t.Context(), b.log.Store, "q", made)
	require.ErrorIs(t, err, ErrNoProposal)
	project, err := ProjectOfProposal(t.Context(), b.log.Store, made)
	require.NoError(t, err)
	require.Equal(t, "p", project)
	_, err = ProjectOfProposal(t.Context(), b.log.Store, "x")
	require.ErrorIs(t, err, ErrNoProposal)
	bob, mine := "bob", "u"
	require.Empty(t, b.proposals(ProposalQuery{User: &bob}))
	require.Len(t, b.proposals(ProposalQuery{User: &mine}), 1)
	require.Equal(t, schema.StatusActive, b.entry("p", id).Status)
}

// An impossible change can't be proposed.
func TestProposalsRefused(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	ids := b.say(inSession("p", "u", "s"), 0, spoken{text: storesEvents}, spoken{text: "TODO: write the report.", entryType: schema.EntryTaskNote})
	long := strings.Repeat("가", schema.MaxStatementBytes/3)
	for says, change := range map[string]func(*Command){
		`change is "delete", want one of`:             func(c *Command) { c.Change = "delete" },
		"text has no letter and no digit":             func(c *Command) { c.Text = " …\t" },
		"text has a line break":                       func(c *Command) { c.Text = "a\nb" },
		"text holds a control character":              func(c *Command) { c.Text = "a\x1b[31m" },
		"text is no valid UTF-8":                      func(c *Command) { c.Text = "a\xff" },
		"text has 9000 bytes, more than":              func(c *Command) { c.Text = strings.Repeat("a", 9000) },
		"because is empty":                            func(c *Command) { c.Because = " \n" },
		"text is for a correction":                    func(c *Command) { c.Change = schema.ChangeRetire },
		"entry_ids has 0 ids":                         func(c *Command) { c.EntryIDs = nil },
		"entry_ids has 2 ids":                         func(c *Command) { c.EntryIDs = ids },
		"the name that the program itself goes by":    func(c *Command) { c.Actor = actorGraduation },
		"says the same":                               func(c *Command) { c.Text = "the event store is clickhouse" },
		"bytes, more than 8192: state its main point": func(c *Command) { c.Text = long },
		"a task note can't be stated":                 func(c *Command) { c.EntryIDs = ids[1:] },
	} {
		c := b.proposing("u", ids[0], schema.ChangeCorrect, "The event store is Postgres.")
		change(&c)
		b.refuse(c, says)
	}
	b.refuse(b.command(Command{Op: OpAccept, Project: "p"}), "proposal_id is empty, which accept needs")
	require.Empty(t, b.proposals(ProposalQuery{Decided: true}))
}

// Another value of any part gives another proposal, except for the reason and its author.
func TestProposalIDs(t *testing.T) {
	t.Parallel()
	part := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "a/b", "1:a", "\x00", "한국"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) [6]string {
			var p [6]string
			for i := range p {
				p[i] = part.Draw(t, label)
			}
			return p
		}
		id := func(p [6]string) string {
			return schema.ProposalID(schema.Scope{Project: p[0], User: p[1], Agent: p[2]}, p[3], schema.Change(p[4]), p[5])
		}
		a := draw("one")
		b := a
		if rapid.Bool().Draw(t, "far") {
			b = draw("other")
		} else {
			b[rapid.IntRange(0, 5).Draw(t, "at")] = part.Draw(t, "part")
		}
		if (id(a) == id(b)) != (a == b) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

// For any text, a proposal is either refused or its statement begins with the text on a line of its own.
func FuzzProposalCommand(f *testing.F) {
	f.Add("The store is Postgres.", "the log says so", "mcp/x")
	f.Add("a\u2028b", "\u202e", "x\ny")
	f.Fuzz(func(t *testing.T, text, because, by string) {
		b := &passBench{}
		c := b.proposing("u", "e", schema.ChangeCorrect, text)
		c.Because, c.Actor = because, by
		if c.Validate() != nil {
			return
		}
		first, rest, _ := strings.Cut(correctionText(schema.ChangeProposedPayload{Text: text, Because: because, By: by}), "\n")
		if first != strings.TrimSpace(text) || !strings.HasPrefix(rest, "proposed by ") {
			t.Fatal(errors.New("what is stated begins with something else"), first, rest)
		}
	})
}
