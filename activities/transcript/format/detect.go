package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/tidwall/gjson"
)

// maxProbes is how many JSON values of the head are looked at.
const maxProbes = 64

// Detect tells the format from the first bytes of a source, of which HeadSize are enough, and from
// its name where the content leaves several. The error wraps ErrNotTranscript or ErrUnknownFormat.
func Detect(name string, head []byte) (string, error) {
	head = plainHead(head[:min(len(head), HeadSize)])
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if what := sideFile(base); what != "" {
		return "", fmt.Errorf("%w: %s", ErrNotTranscript, what)
	}
	isJSON := layoutOf(head, len(head) < HeadSize) != layoutNone
	if isJSON && startsJSON(head) {
		format, err := detectJSON(name, base, head)
		if err == nil || errors.Is(err, ErrNotTranscript) {
			return format, err
		}
	}
	switch {
	case isDatabase(head), isDump(head):
		if f := storeInHead(head); f != "" {
			return f, nil
		}
		return "sqlite", nil
	case isAider(head):
		return "aider", nil
	case isPlainText(head):
		return "text", nil
	case isJSON:
		return detectJSON(name, base, head)
	}
	return "", fmt.Errorf("%w: the content is of none that is known; %s", ErrUnknownFormat, formatHint())
}

// plainHead undoes compression, UTF-16 and byte order marks.
func plainHead(head []byte) []byte {
	if r, closer, err := decode(bytes.NewReader(head), head); err == nil && r != nil {
		// The head may end anywhere in the compressed data.
		head, _ = io.ReadAll(io.LimitReader(r, HeadSize))
		closer()
	}
	return bytes.TrimPrefix(head, utf8BOM)
}

func startsJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\x00")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

func detectJSON(name, base string, head []byte) (string, error) {
	probes := probe(head)
	var found []*format
	for i := range formats {
		f := &formats[i]
		if f.match == nil {
			continue
		}
		named := false
		for _, file := range f.files {
			named = named || file == base
		}
		for _, p := range probes {
			if f.match(p) || named && isMessages(p) {
				found = append(found, f)
				break
			}
		}
	}
	if len(found) > 0 {
		return choose(found, name).Name, nil
	}
	for _, p := range probes {
		if what := sideRecord(p); what != "" {
			return "", fmt.Errorf("%w: %s", ErrNotTranscript, what)
		}
	}
	return "", fmt.Errorf("%w: the JSON is of none that is known; %s", ErrUnknownFormat, formatHint())
}

// probe returns some of the JSON values that the head shows, and those in arrays. The last may be
// cut.
func probe(head []byte) []gjson.Result {
	head = bytes.TrimLeft(bytes.ReplaceAll(head, []byte{0}, nil), " \t\r\n")
	switch layoutOf(head, len(head) < HeadSize) {
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

// sideFile says what a file is whose name alone shows that it is no transcript.
func sideFile(base string) string {
	lower := strings.ToLower(base)
	stem, _, _ := strings.Cut(lower, ".")
	switch {
	case stem == "license" || stem == "licence" || stem == "copying" || stem == "notice":
		return "a licence"
	case stem == "readme" || stem == "source" && strings.HasSuffix(lower, ".txt"):
		return "a description"
	case strings.Contains(lower, ".checkpoint.") && strings.HasSuffix(lower, ".jsonl"):
		return "a checkpoint of a session that has its own file"
	}
	return ""
}

// sideRecord says what a JSON value is that harnesses keep beside their transcripts.
func sideRecord(rec gjson.Result) string {
	has := func(paths ...string) bool {
		for _, p := range paths {
			if !rec.Get(p).Exists() {
				return false
			}
		}
		return true
	}
	switch {
	case has("id", "task", "tokensIn"):
		return "a list of tasks"
	case has("session_id", "messages_path"), has("info.id", "session_summary"), has("createdAt", "lastPrompt"), has("workDir", "agents"):
		return "the state of a session that has its own file"
	case has("schema_version", "harnesses"):
		return "a registry"
	case has("name", "version", "dependencies"), has("name", "version", "scripts"):
		return "a package description"
	case has("mcpServers"), has("permissions.allow"):
		return "settings"
	}
	index := false
	if rec.IsObject() {
		rec.ForEach(func(_, v gjson.Result) bool {
			index = v.IsObject() && v.Get("sessionFile").Exists()
			return index
		})
	}
	if index {
		return "an index of sessions"
	}
	return ""
}
