package tier

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"axiommind/schema"
)

// recordTitle is the heading of what was flushed for the reason.
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

// recordBlock is what a record that is no edit adds to its file.
func recordBlock(r Record) string {
	if r.Kind == schema.RecordDiary {
		return r.Text + "\n"
	}
	return "## " + recordTitle(r.Reason) + " (" + r.Clock + ")\n\n" + r.Text + "\n"
}

// endFence closes the block of code that a text leaves open, where it was opened: it would take in what is added below.
func endFence(text string) string {
	open, indent := "", ""
	for line := range strings.SplitSeq(plainLines(text), "\n") {
		before := open
		if open = fenceAfter(open, line); before == "" && open != "" {
			indent, _, _ = strings.Cut(line, open)
		}
	}
	if open == "" {
		return text
	}
	// Behind the mark of a list's entry, the code is indented by the width of the mark.
	indent = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return r
		}
		return ' '
	}, indent)
	return strings.TrimSuffix(text, "\n") + "\n" + indent + open + "\n"
}

// appendBlock adds a block to the text of a dated file.
func appendBlock(text string, r Record) string {
	text = endFence(text)
	switch {
	case strings.TrimSpace(text) == "":
		text = recordHeader(r.Kind, r.Date)
		if r.Kind == schema.RecordDiary {
			return text + recordBlock(r)
		}
	case !strings.HasSuffix(text, "\n"):
		text += "\n"
	}
	return text + "\n" + recordBlock(r)
}

// fileState is the text of a dated file after an event. read is the hash of the file of which an edit was taken in.
type fileState struct {
	seq  uint64
	text string
	read string
}

// fileStates returns the texts that the dated file of the records had, in order. The last one is what it has to hold. A
// file that never had a text has no state: it does not exist.
func fileStates(records []Record) []fileState {
	var states []fileState
	text := ""
	for _, r := range records {
		switch {
		case r.Edited:
			text = r.Text
		case strings.TrimSpace(r.Text) == "":
			continue
		case r.Kind == schema.RecordDiary && strings.HasSuffix(text, "\n\n"+recordBlock(r)):
			// A dream of a day that was dreamt of before told the same.
		default:
			text = appendBlock(text, r)
		}
		states = append(states, fileState{r.Seq, text, r.Read})
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
	for _, r := range records {
		if r.Seq <= after || r.Edited || strings.TrimSpace(r.Text) == "" {
			continue
		}
		if strings.Contains(lines, "\n"+strings.TrimSuffix(recordBlock(r), "\n")+"\n") {
			continue
		}
		text = appendBlock(text, r)
	}
	return text
}

// hashText is the hex SHA-256 of a file.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
