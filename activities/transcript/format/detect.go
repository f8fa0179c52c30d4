package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// maxProbes is how many JSON values of the head are looked at.
const maxProbes = 64

// detect returns the name of the format that the first headSize bytes of a source are of. The name of the
// source decides between formats that are alike. The error wraps ErrNotTranscript or ErrUnknownFormat.
func detect(name string, head []byte) (string, error) {
	head = plainHead(head[:min(len(head), headSize)])
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if what := companionFile(base); what != "" {
		return "", fmt.Errorf("%w: %s", ErrNotTranscript, what)
	}
	isJSON := layoutOf(head, len(head) < headSize) != layoutNone
	if isJSON && startsJSON(head) {
		format, err := detectJSON(name, base, head)
		if err == nil || errors.Is(err, ErrNotTranscript) {
			return format, err
		}
	}
	if isDatabase(head) || isDump(head) {
		return cmp.Or(formatOfDump(head), anyDatabase.Name), nil
	}
	if f := detectText(head); f != nil {
		return f.Name, nil
	}
	if isJSON {
		return detectJSON(name, base, head)
	}
	return "", fmt.Errorf("%w: the content is of none that is known; %s", ErrUnknownFormat, formatHint())
}

// detectText detects a format that is not JSON; nil for none.
func detectText(head []byte) *Format {
	for i := range registry {
		if f := &registry[i]; f.isText != nil && !f.migrated && f.isText(head) {
			return f
		}
	}
	return nil
}

// plainHead undoes compression, UTF-16 and byte order marks.
func plainHead(head []byte) []byte {
	if r, closer, err := decode(bytes.NewReader(head), head); err == nil && r != nil {
		// The head may end anywhere in the compressed data.
		head, _ = io.ReadAll(io.LimitReader(r, headSize))
		closer()
	}
	return bytes.TrimPrefix(head, utf8BOM)
}

// fits returns an error if a source does not begin like memory of the format's system. The YAML head of a note may be longer
// than the bytes at hand: its reader decides.
func (f *Format) fits(head []byte, whole bool) error {
	head = plainHead(head)
	if !whole && f.readText != nil && (bytes.HasPrefix(head, []byte("---\n")) || bytes.HasPrefix(head, []byte("---\r\n"))) {
		return nil
	}
	if f.isText != nil && f.isText(head) || f.isRecord != nil && startsJSON(head) && slices.ContainsFunc(probe(head), f.isRecord) {
		return nil
	}
	return f.unfit()
}

func (f *Format) unfit() error {
	return fmt.Errorf("%w: not an export of %s: %s", ErrNotTranscript, f.Title, f.Files)
}

func startsJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\x00")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

func detectJSON(name, base string, head []byte) (string, error) {
	probes := probe(head)
	var found []*Format
	for i := range registry {
		f := &registry[i]
		if f.isRecord == nil || f.migrated {
			continue
		}
		named := false
		for _, file := range f.messageFiles {
			named = named || file == base
		}
		for _, p := range probes {
			if f.isRecord(p) || named && isMessages(p) {
				found = append(found, f)
				break
			}
		}
	}
	if len(found) > 0 {
		return pickByPath(found, name).Name, nil
	}
	for _, p := range probes {
		if what := companionRecord(p); what != "" {
			return "", fmt.Errorf("%w: %s", ErrNotTranscript, what)
		}
	}
	return "", fmt.Errorf("%w: the JSON is of none that is known; %s", ErrUnknownFormat, formatHint())
}

// probe returns some of the JSON values that the head shows, and those in arrays. The last may be
// cut.
func probe(head []byte) []gjson.Result {
	head = bytes.TrimLeft(bytes.ReplaceAll(head, []byte{0}, nil), " \t\r\n")
	switch layoutOf(head, len(head) < headSize) {
	case layoutArray:
		return probeArray(head, nil)
	case layoutDocument:
		return []gjson.Result{parseCut(head)}
	}
	var probes []gjson.Result
	for len(head) > 0 {
		line, rest, complete := bytes.Cut(head, []byte("\n"))
		line, head = bytes.TrimSpace(line), rest
		switch {
		case len(probes) >= maxProbes:
			return probes
		case len(line) == 0 || tooDeep(line):
		case line[0] == '{':
			if !complete {
				probes = append(probes, parseCut(line))
			} else {
				probes = append(probes, gjson.ParseBytes(line))
			}
		case line[0] == '[':
			probes = probeArray(line, probes)
		}
	}
	return probes
}

// probeArray adds the objects in an array, and in the arrays in it.
func probeArray(data []byte, probes []gjson.Result) []gjson.Result {
	if tooDeep(data) {
		return probes
	}
	var state nesting
	var open []byte // the object that has begun, up to the end of the data
	level := 0
	for i, c := range data {
		if !state.quoted && c == '{' && open == nil {
			open, level = data[i:], state.depth
		}
		state.next(c)
		if open != nil && !state.quoted && c == '}' && state.depth == level {
			probes = append(probes, gjson.ParseBytes(open[:len(open)-len(data)+i+1]))
			if open = nil; len(probes) >= maxProbes {
				return probes
			}
		}
	}
	if open != nil {
		probes = append(probes, parseCut(open))
	}
	return probes
}

// parseCut parses a JSON value that may be cut anywhere: its string, arrays and objects are closed.
func parseCut(data []byte) gjson.Result {
	var state nesting
	var open []byte
	for _, c := range data {
		before := state.depth
		if state.next(c); state.depth > before {
			open = append(open, c+2) // '{' and '[' lie two before '}' and ']'
		} else if state.depth < before && len(open) > 0 {
			open = open[:len(open)-1]
		}
	}
	if state.quoted {
		if state.backslash {
			data = data[:len(data)-1]
		}
		data = append(bytes.Clone(data), '"')
	}
	for i := len(open) - 1; i >= 0; i-- {
		data = append(data[:len(data):len(data)], open[i])
	}
	return gjson.ParseBytes(data)
}
