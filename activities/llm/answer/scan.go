package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

const (
	// maxCandidates bounds how many pieces of an answer are kept.
	maxCandidates = 4096
	// maxScan bounds how much is read of overlapping pieces, in bytes.
	maxScan = 64 << 20
	// maxDepth bounds nesting: an extraction is five levels deep, and the repair recurses.
	maxDepth = 64
	// maxRepair bounds the input of the repair, in bytes for a whole answer: its time grows with the square.
	maxRepair = 96 << 10
)

// scanner finds and reads the pieces of JSON in an answer.
type scanner struct {
	text   string
	found  []candidate
	scan   int
	repair int
}

// candidate is a piece of an answer that may be JSON, and the list read from it.
type candidate struct {
	text string
	// open is true when the piece never closes its first bracket.
	open bool
	// alone is true when the answer holds nothing else but thoughts and code fences.
	alone bool
	list  itemList
	err   error
}

// thoughtTags are the names of the tags some models put around their thoughts.
var thoughtTags = []string{"think", "thinking", "thought", "thoughts", "reasoning", "reflection"}

// run finds the pieces of JSON outside of thoughts, in order. Tags inside of JSON strings are text,
// so thoughts are skipped while scanning and not before. It reports false when it gave up.
func (s *scanner) run() bool {
	text := s.text
	start, brokenUntil := 0, 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '<':
			next, dropped := skipThought(text, i)
			if dropped {
				s.found = nil
			}
			if next > i+1 {
				start = next
			}
			i = next
		case '{', '[':
			length, closed := matching(text[i:])
			end := i + length
			if s.scan += length; s.scan > maxScan || len(s.found) == maxCandidates {
				return false
			}
			c := candidate{text: text[i:end], open: !closed, alone: filler(text[start:i]) && filler(text[end:])}
			c.list, c.err = s.items(c)
			switch {
			case c.err == nil:
				// A list inside of an unreadable piece may be incomplete.
				c.list.truncated = c.list.truncated || i < brokenUntil
				i = end
			case errors.Is(c.err, errTooDeep):
				i = end
			case errors.Is(c.err, errNoEntries):
				i++
			default:
				brokenUntil = max(brokenUntil, end)
				i++
			}
			s.keep(c)
		default:
			i++
		}
	}
	return true
}

// keep drops all pieces without a list but the first, which says why.
func (s *scanner) keep(c candidate) {
	if c.err == nil || len(s.found) == 0 {
		s.found = append(s.found, c)
		return
	}
	if first := &s.found[0]; errors.Is(first.err, errNoEntries) && !errors.Is(c.err, errNoEntries) {
		first.err = c.err
	}
}

// filler reports whether text is only white space and code fences around an answer's JSON.
func filler(text string) bool {
	const long = 256
	return len(text) < long && strings.Trim(strings.ReplaceAll(strings.ToLower(text), "json", ""), "`~ \t\r\n\ufeff") == ""
}

// skipThought returns where to go on after a tag at i. A closing tag without its opening one means that all text before
// it was thought: dropped is true.
func skipThought(text string, i int) (next int, dropped bool) {
	for _, tag := range thoughtTags {
		if hasFoldPrefix(text[i:], "</"+tag+">") {
			return i + len(tag) + 3, true
		}
		if !hasFoldPrefix(text[i:], "<"+tag+">") {
			continue
		}
		for at := i; ; at += len("</") {
			end := strings.Index(text[at:], "</")
			if end < 0 {
				return len(text), false
			}
			if at += end; hasFoldPrefix(text[at:], "</"+tag+">") {
				return at + len(tag) + 3, false
			}
		}
	}
	return i + 1, false
}

func hasFoldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// matching returns the end of the bracketed piece at the start of s, or all of s and false when it
// does not end.
func matching(s string) (int, bool) {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(s), false
}

// itemList is the list of entries in a candidate.
type itemList struct {
	items     []json.RawMessage
	truncated bool
	// single is true for an entry without a list around it.
	single bool
}

var (
	errNoEntries = errors.New("its JSON has no list of entries")
	errTooDeep   = fmt.Errorf("its JSON is nested deeper than %d", maxDepth)
)

// items reads a piece unchanged, and mended where that fails.
func (s *scanner) items(c candidate) (itemList, error) {
	if tooDeep(c.text) {
		return itemList{}, errTooDeep
	}
	list, err := readList(c.text)
	if err == nil && len(list.items) == 0 && c.text[0] == '[' && !c.alone {
		// Brackets in prose are not an answer.
		return itemList{}, errNoEntries
	}
	if err == nil || errors.Is(err, errNoEntries) || list.truncated {
		return list, unlessTruncated(err, list)
	}
	if list, err := readList(dropCommas(c.text)); err == nil {
		return list, nil
	}
	if s.repair += len(c.text); s.repair > maxRepair {
		s.repair -= len(c.text)
		return itemList{}, fmt.Errorf("broken JSON: %w", err)
	}
	mended, repairErr := repair(c.text)
	if repairErr != nil {
		return itemList{}, fmt.Errorf("broken JSON: %w", err)
	}
	list, err = readList(mended)
	if err == nil && c.open && !closesList(c.text) {
		// The repair closes a list that broke off in the middle, and so invents an end for the last item.
		list.items = list.items[:max(0, len(list.items)-1)]
		list.truncated, list.single = true, false
	}
	return list, err
}

// unlessTruncated drops the error of a truncated list: its items before the break can be read.
func unlessTruncated(err error, list itemList) error {
	if list.truncated {
		return nil
	}
	return err
}

// dropCommas takes out the commas before closing brackets, the mistake models make most.
func dropCommas(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	quoted, comma := false, -1
	for i := 0; i < len(s); i++ {
		c := s[i]
		if comma >= 0 && c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			if c == '}' || c == ']' {
				b.WriteString(s[comma+1 : i])
			} else {
				b.WriteString(s[comma:i])
			}
			comma = -1
		}
		switch {
		case quoted && c == '\\' && i+1 < len(s):
			b.WriteByte(c)
			i++
			c = s[i]
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted && comma < 0:
			comma = i
			continue
		}
		if comma < 0 {
			b.WriteByte(c)
		}
	}
	if comma >= 0 {
		b.WriteString(s[comma:])
	}
	return b.String()
}

// closesList reports whether all that a piece leaves open is the object around its list.
func closesList(s string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth == 1 && !quoted && s[0] == '{'
}

// readList reads the entries of strict JSON. Of JSON that breaks off within the list it returns
// the complete items, truncated, and an error.
func readList(text string) (itemList, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	first, err := dec.Token()
	if err != nil {
		return itemList{}, fmt.Errorf("read JSON: %w", err)
	}
	if first == json.Delim('[') {
		return readArray(dec)
	}
	if first != json.Delim('{') {
		return itemList{}, errNoEntries
	}
	return readObject(dec, text)
}

func readObject(dec *json.Decoder, text string) (itemList, error) {
	var found *itemList
	keys := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return itemList{}, fmt.Errorf("read JSON: %w", err)
		}
		name, _ := token.(string)
		key := foldKey(name)
		keys[key] = true
		if !listKeys[key] || found != nil {
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return orFound(found, err)
			}
			continue
		}
		list, err := readListValue(dec, text)
		if err != nil {
			return list, err
		}
		found = &list
	}
	if found != nil {
		// Whether the object itself is closed makes no difference to its list.
		return *found, nil
	}
	if _, err := dec.Token(); err != nil {
		return itemList{}, fmt.Errorf("read JSON: %w", err)
	}
	if keys["type"] && (keys["title"] || keys["evidence"]) {
		rest := text[:dec.InputOffset()]
		return itemList{items: []json.RawMessage{json.RawMessage(rest)}, single: true}, nil
	}
	return itemList{}, errNoEntries
}

func orFound(found *itemList, err error) (itemList, error) {
	if found != nil {
		return *found, nil
	}
	return itemList{}, fmt.Errorf("read JSON: %w", err)
}

// readListValue reads the value of the list's key: a list, null for an empty one, or one item that
// should have been in a list.
func readListValue(dec *json.Decoder, text string) (itemList, error) {
	if strings.HasPrefix(strings.TrimLeft(text[dec.InputOffset():], ": \t\r\n"), "[") {
		if _, err := dec.Token(); err != nil {
			return itemList{}, fmt.Errorf("read JSON: %w", err)
		}
		return readArray(dec)
	}
	var peek json.RawMessage
	if err := dec.Decode(&peek); err != nil {
		return itemList{truncated: errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)},
			fmt.Errorf("read JSON: %w", err)
	}
	switch {
	case string(peek) == "null":
		return itemList{}, nil
	case peek[0] == '{':
		return itemList{items: []json.RawMessage{peek}}, nil
	default:
		return itemList{}, errNoEntries
	}
}

// readArray reads items up to the closing bracket; a list of anything but objects is no list of
// entries.
func readArray(dec *json.Decoder) (itemList, error) {
	var list itemList
	for dec.More() {
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			list.truncated = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			return list, fmt.Errorf("read JSON: %w", err)
		}
		list.items = append(list.items, item)
	}
	if _, err := dec.Token(); err != nil {
		list.truncated = true
		return list, fmt.Errorf("read JSON: %w", err)
	}
	objects := 0
	for _, item := range list.items {
		if item[0] == '{' {
			objects++
		}
	}
	if len(list.items) > 0 && objects == 0 {
		return itemList{}, errNoEntries
	}
	return list, nil
}

func tooDeep(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth = max(0, depth-1)
		}
	}
	return false
}

// repair mends broken JSON. The library is given text of anybody's making, so a panic of it is an
// error like any other.
func repair(s string) (mended string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("repair JSON: %v", r)
		}
	}()
	mended, err = jsonrepair.Repair(s)
	if err != nil {
		return "", fmt.Errorf("repair JSON: %w", err)
	}
	return mended, nil
}
