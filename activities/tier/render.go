package tier

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"axiommind/schema"
)

// recordTitle is the heading of a flush with the reason.
func recordTitle(r schema.FlushReason) string {
	switch r {
	case schema.FlushTrim:
		return "Trimmed Context"
	case schema.FlushOverflow:
		return "Context Overflow Recovery"
	case schema.FlushDaily:
		return "Daily Summary"
	default:
		return "Session Notes"
	}
}

// recordHeader is the beginning of a dated file.
func recordHeader(kind schema.RecordKind, date string) string {
	if kind == schema.RecordDiary {
		return "# Dream Diary: " + date + "\n\n"
	}
	return "# Daily Memory: " + date + "\n\n"
}

// recordBlock is the text that a record other than an edit adds to its file.
func recordBlock(r Record) string {
	if r.Kind == schema.RecordDiary {
		return r.Text + "\n"
	}
	return "## " + recordTitle(r.Reason) + " (" + r.Clock + ")\n\n" + r.Text + "\n"
}

// growing is the text of a dated file to which blocks are added. The cost of a block depends on its own size only, not
// on the length of the text: a day may have thousands.
type growing struct {
	text strings.Builder
	// blank is true if the text holds nothing but white space.
	blank bool
	// open is the mark of the code block that the text leaves open, and indent the text before the mark.
	open, indent string
}

func newGrowing(text string) *growing {
	g := &growing{}
	g.begin(text)
	return g
}

// begin replaces the text.
func (g *growing) begin(text string) {
	*g = growing{blank: true}
	g.add(text)
}

// add adds whole lines. The last one may lack its end.
func (g *growing) add(lines string) {
	g.text.WriteString(lines)
	g.blank = g.blank && strings.TrimSpace(lines) == ""
	for line := range strings.SplitSeq(plainLines(lines), "\n") {
		before := g.open
		if g.open = fenceAfter(g.open, line); before == "" && g.open != "" {
			g.indent, _, _ = strings.Cut(line, g.open)
		}
	}
}

// endLine ends the last line.
func (g *growing) endLine() {
	if !strings.HasSuffix(g.text.String(), "\n") {
		g.add("\n")
	}
}

// endFence closes an open code block at its own indentation. Otherwise the block would include later additions.
func (g *growing) endFence() {
	if g.open == "" {
		return
	}
	// Behind the mark of a list's entry, the code is indented by the width of the mark.
	indent := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return r
		}
		return ' '
	}, g.indent)
	g.endLine()
	g.add(indent + g.open + "\n")
}

// endFence returns the text with the block of code closed that it leaves open.
func endFence(text string) string {
	g := newGrowing(text)
	g.endFence()
	return g.text.String()
}

// append adds the block of a record.
func (g *growing) append(r Record) {
	g.endFence()
	if g.blank {
		g.begin(recordHeader(r.Kind, r.Date))
		if r.Kind == schema.RecordDiary {
			g.add(recordBlock(r))
			return
		}
	}
	g.endLine()
	g.add("\n" + recordBlock(r))
}

// fileState is the text of a dated file after an event. read is the hash of the file read for an edit.
type fileState struct {
	seq  uint64
	text string
	read string
}

// fileStates returns the texts that the dated file of the records had, in order. The last one is the text it should
// have. A file that never had a text has no state: it does not exist.
func fileStates(records []Record) []fileState {
	var states []fileState
	file := newGrowing("")
	for _, r := range records {
		switch {
		case r.Edited:
			file.begin(r.Text)
		case strings.TrimSpace(r.Text) == "":
			continue
		case r.Kind == schema.RecordDiary && strings.HasSuffix(file.text.String(), "\n\n"+recordBlock(r)):
			// A second dream of the same day had the same diary.
		default:
			file.append(r)
		}
		states = append(states, fileState{r.Seq, file.text.String(), r.Read}) // The texts share their bytes.
	}
	return states
}

// RenderRecord returns the text of the dated file that the records, all of one date and kind and in order, make up. It
// is false if they hold nothing: then there is no file.
func RenderRecord(records []Record) (string, bool) {
	states := fileStates(records)
	if len(states) == 0 {
		return "", false
	}
	return states[len(states)-1].text, true
}

// withLater returns the text that a person made of a dated file, with the blocks below it that the log holds after the
// position and that are not in the text. The person has not seen them, so their absence says nothing.
func withLater(text string, records []Record, after uint64) string {
	lines := "\n" + strings.ReplaceAll(text, "\r\n", "\n") + "\n"
	file := newGrowing(text)
	for _, r := range records {
		if r.Seq <= after || r.Edited || strings.TrimSpace(r.Text) == "" {
			continue
		}
		if strings.Contains(lines, "\n"+strings.TrimSuffix(recordBlock(r), "\n")+"\n") {
			continue
		}
		file.append(r)
	}
	return file.text.String()
}

// hashText is the hex SHA-256 of a file.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
