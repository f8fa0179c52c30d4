package tier

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// compareCore compares MEMORY.md with the current version of core memory.
func (s *filesSync) compareCore(ctx context.Context, p memoryFile) error {
	current, err := s.tables.Current(ctx, s.in.User, s.in.Agent)
	if err != nil {
		return err
	}
	p.seq = current.Seq
	exists := current.Version > 0
	if s.settled(p, current.Text, exists, func() bool { return false }) {
		return nil
	}
	if !exists && strings.TrimSpace(p.file.Text) == "" {
		return nil
	}
	if err := s.checkEdit(p, p.file.Text); err != nil {
		return err
	}
	base, behind, err := s.basis(ctx, p)
	if err != nil {
		return err
	}
	if behind {
		s.writes = append(s.writes, fileWrite{memoryFile: p, text: current.Text, write: true, hash: hashText(current.Text)})
		return nil
	}
	text, _ := redact.Text(p.file.Text) // A file with secrets is rewritten without them.
	if base.version != current.Version {
		text = withItems(text, base.items, current.Items)
	}
	version := current.Version + 1
	key := schema.CoreOfEditKey(s.in.User, s.in.Agent, version)
	items, dropped := EditItems(current.Items, text, schema.EventID(key))
	for i, item := range items { // An item that has left since the person read the file is not the person's.
		if !item.Written {
			continue
		}
		same := func(b schema.CoreItem) bool { return statementOf(b) == statementOf(item) }
		if n := slices.IndexFunc(base.items, same); n >= 0 {
			items[i] = restated(item, base.items[n])
		}
	}
	return s.edit(p, key, schema.CoreCommittedPayload{
		Version: version, Parent: current.Version, Origin: schema.OriginEdit, Text: text, Items: items, Dropped: dropped,
		Read: hashText(p.file.Text), Diff: Diff(current.Text, text, VersionName(current.Version), VersionName(version)),
	}, text)
}

// coreBasis is the basis of a person's edit: a version of core memory, and the items that the person has seen.
type coreBasis struct {
	version int
	items   []schema.CoreItem
}

// basis returns the version that the program last wrote to the file, if known, and the person's recorded edits since.
// behind is true if the file is no new edit: it has a version that was written after that, or exactly the bytes read
// for an edit that is in the log already. Any other content comes from the person and is recorded.
func (s *filesSync) basis(ctx context.Context, p memoryFile) (base coreBasis, behind bool, err error) {
	const query = `SELECT version, seq, read_sha256, read_sha256 = ? OR lower(hex(SHA256(text))) = ? FROM core_versions_raw FINAL
		WHERE user = ? AND agent = ? AND seq >= ? ORDER BY version`
	file := hashText(p.file.Text)
	var edits []int
	err = clickhouse.Query(ctx, s.conn, func(r driver.Rows) error {
		var version uint32
		var seq uint64
		var read string
		var holds bool
		if err := r.Scan(&version, &seq, &read, &holds); err != nil {
			return err
		}
		switch {
		case seq == p.row.seq:
			base.version = int(version)
		case holds:
			behind = true
		case read != "" && p.row.known:
			edits = append(edits, int(version))
		}
		return nil
	}, query, file, file, s.in.User, s.in.Agent, p.row.seq)
	if err != nil || behind {
		return base, behind, err
	}
	if base.version > 0 {
		c, err := s.tables.Version(ctx, s.in.User, s.in.Agent, base.version)
		if err != nil {
			return base, false, err
		}
		base.items = c.Items
	}
	for _, version := range edits {
		written, err := s.written(ctx, version)
		if err != nil {
			return base, false, err
		}
		base.items = append(base.items, written...)
	}
	return base, false, nil
}

// written returns the items of a version that a person made which its parent does not have.
func (s *filesSync) written(ctx context.Context, version int) ([]schema.CoreItem, error) {
	versions, err := s.tables.Between(ctx, s.in.User, s.in.Agent, version-1, version)
	if err != nil || len(versions) == 0 {
		return nil, err
	}
	had := map[coreStatement]bool{}
	for _, parent := range versions[:len(versions)-1] {
		for _, item := range parent.Items {
			had[statementOf(item)] = true
		}
	}
	items := versions[len(versions)-1].Items
	return slices.DeleteFunc(items, func(item schema.CoreItem) bool { return had[statementOf(item)] }), nil
}

// withItems returns the text that a person made of the base's items, with the current items that are neither in the
// base nor in the text. The person has not seen them. Items that core memory has dropped since are in the text still:
// the next dream finds the same reason again.
//
// Items without a heading are added before the text's first heading, and the others below the text. Where that would
// change the meaning of the text or of an item, they are added above it.
func withItems(text string, base, current []schema.CoreItem) string {
	known := map[coreStatement]bool{}
	for _, item := range append(base[:len(base):len(base)], ParseCore(text)...) {
		known[statementOf(item)] = true
	}
	var free, headed []schema.CoreItem
	for _, item := range current {
		switch {
		case known[statementOf(item)]:
		case item.Heading == "":
			free = append(free, item)
		default:
			headed = append(headed, item)
		}
	}
	if len(free)+len(headed) == 0 {
		return text
	}
	text = endFence(text)
	first := firstHeading(text)
	all := slices.Concat(ParseCore(text), free, headed)
	for _, added := range []string{RenderCore(free), paragraphs(free)} { // A list may become part of the text above it.
		for _, at := range [][2]int{{first, len(text)}, {first, first}, {0, len(text)}, {0, first}, {0, 0}} {
			for outermost := 2; outermost > 0; outermost-- { // Below a title, other headings would be under it.
				with := joinParts(text[:at[0]], added, text[at[0]:at[1]], renderCore(headed, outermost), text[at[1]:])
				if statesAll(with, all) {
					return with
				}
			}
		}
	}
	return joinParts(text[:first], RenderCore(free), text[first:], RenderCore(headed), "")
}

// paragraphs renders items without a heading as paragraphs.
func paragraphs(items []schema.CoreItem) string {
	text := ""
	for i, item := range items {
		if i > 0 {
			text += "\n"
		}
		text += item.Text + "\n"
	}
	return text
}

// coreStatement is the meaning of an item: the same words under another heading mean something else.
type coreStatement struct{ heading, text string }

func statementOf(item schema.CoreItem) coreStatement { return coreStatement{item.Heading, item.Text} }

// statesAll reports whether a text states all items.
func statesAll(text string, items []schema.CoreItem) bool {
	states := map[coreStatement]bool{}
	for _, item := range ParseCore(text) {
		states[statementOf(item)] = true
	}
	return !slices.ContainsFunc(items, func(item schema.CoreItem) bool { return !states[statementOf(item)] })
}

// joinParts inserts the additions between the parts of a text, each between blank lines.
func joinParts(start, first, middle, second, end string) string {
	text := start
	for _, next := range [][2]string{{first, middle}, {second, end}} {
		if next[0] != "" {
			text = blankLine(endFence(text)) + next[0]
			if next[1] != "" {
				text += "\n"
			}
		}
		text += next[1]
	}
	return text
}

// blankLine ends a text with a blank line, if there is any text.
func blankLine(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if text != "" && !strings.HasSuffix(text, "\n\n") && !strings.HasSuffix(text, "\n\r\n") {
		text += "\n"
	}
	return text
}

// headingLine is a line that is a heading outside a block of code.
var headingLine = regexp.MustCompile(`^ {0,3}#{1,6}([ \t\r]|$)`)

// firstHeading returns where the line of the text's first heading begins, or the length of the text.
func firstHeading(text string) int {
	fence, at := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		if fence == "" && headingLine.MatchString(line) {
			return at
		}
		fence = fenceAfter(fence, line)
		at += len(line) + 1
	}
	return len(text)
}
