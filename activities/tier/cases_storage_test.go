package tier

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

var (
	_ = judgeArea("storage", judgeStorage)
	_ = judgeArea("daily_file", judgeDailyFile)
)

func judgeStorage(t *testing.T, input, expect json.RawMessage) string {
	var in struct {
		File      *string         `json:"file"`
		Op        string          `json:"op"`
		T0        string          `json:"t0"`
		T1        string          `json:"t1"`
		T2        string          `json:"t2"`
		AgentName *string         `json:"agent_name"`
		Raw       json.RawMessage `json:"raw"`
		Writes    []caseWrite     `json:"writes"`
	}
	var want struct {
		Valid         *bool                                 `json:"valid"`
		Safe          json.RawMessage                       `json:"safe"`
		Files         map[string]map[string]json.RawMessage `json:"files"`
		Preserved     *bool                                 `json:"old_bytes_preserved"`
		ErrorSurfaced *bool                                 `json:"error_surfaced"`
		FactA         *bool                                 `json:"fact_a_present"`
		FactB         *bool                                 `json:"fact_b_present"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	switch {
	case in.AgentName != nil && want.Valid != nil:
		return judgeAgent(*in.AgentName, *want.Valid)
	case in.Raw != nil && want.Safe != nil:
		return judgeSafe(in.Raw, want.Safe)
	case in.Writes != nil && want.Files != nil:
		return judgeWrites(in.Writes, want.Files)
	case in.File != nil && (want.Preserved != nil || want.ErrorSurfaced != nil):
		preserved, surfaced := damage(t, *in.File)
		if want.Preserved != nil && *want.Preserved != preserved || want.ErrorSurfaced != nil && *want.ErrorSurfaced != surfaced {
			return fmt.Sprintf("old bytes preserved: %v, error surfaced: %v", preserved, surfaced)
		}
		return ""
	case in.T1 != "" && (want.FactA != nil || want.FactB != nil):
		return judgeLateSave(in.T1, map[string]*bool{"fact_a": want.FactA, "fact_b": want.FactB})
	}
	return "nothing here to play"
}

// judgeAgent judges the directory of an agent. The original refuses names of other characters than letters, digits and
// hyphens. Here each agent has a directory: that of such a name shows it, and that of another one is made up.
func judgeAgent(name string, valid bool) string {
	dir := layout{user: defaultUser, agent: name}.dir()
	shown, ok := strings.CutPrefix(dir, "memory/agents/")
	// An underscore is the one character that the original refuses and a directory's name keeps.
	if !ok || strings.HasPrefix(shown, strings.ToLower(name)) != (valid || strings.Contains(name, "_")) {
		return fmt.Sprintf("the directory is %q", dir)
	}
	return ""
}

// judgeSafe compares the names of one id or of several.
func judgeSafe(raw, want json.RawMessage) string {
	var ids, names []string
	for from, to := range map[*json.RawMessage]*[]string{&raw: &ids, &want: &names} {
		one := ""
		if json.Unmarshal(*from, &one) == nil {
			*to = []string{one}
		} else if err := json.Unmarshal(*from, to); err != nil {
			return fmt.Sprintf("cannot read %s: %v", *from, err)
		}
	}
	if len(ids) != len(names) {
		return fmt.Sprintf("%d ids and %d names", len(ids), len(names))
	}
	for i, id := range ids {
		if got := SafeID(id); got != names[i] {
			return fmt.Sprintf("the safe name of %q is %q, want %q", id, got, names[i])
		}
	}
	return ""
}

// caseWrite is a write of a case: {"user": …, "agent": …} or a list of both. No agent is null or "".
type caseWrite struct{ User, Agent string }

func (w *caseWrite) UnmarshalJSON(data []byte) error {
	var pair []*string
	if json.Unmarshal(data, &pair) == nil && len(pair) >= 1 {
		for i, into := range []*string{&w.User, &w.Agent} {
			if i < len(pair) && pair[i] != nil {
				*into = *pair[i]
			}
		}
		return nil
	}
	type plain caseWrite
	return json.Unmarshal(data, (*plain)(w))
}

// judgeWrites plays that each writer writes its name into its own file. Each expected file must contain the text of its
// own writer, and two writers share a file only if expected.
func judgeWrites(writes []caseWrite, want map[string]map[string]json.RawMessage) string {
	stored := map[string]caseWrite{}
	scopes := map[caseWrite]bool{}
	for _, w := range writes {
		stored[layout{w.User, w.Agent}.core()] = w
		scopes[w] = true
	}
	expected := 0
	for user, agents := range want {
		for agent := range agents {
			expected++
			if agent == "null" || agent == "None" {
				agent = ""
			}
			w := caseWrite{user, agent}
			if got, ok := stored[layout{user, agent}.core()]; !ok || got != w {
				return fmt.Sprintf("the file of %v holds what %v wrote", w, got)
			}
		}
	}
	if expected != len(scopes) {
		return fmt.Sprintf("%d files are expected of %d memories", expected, len(scopes))
	}
	return ""
}

// damage plays that the stored data of a memory is damaged. A damaged file of ours is recorded as a person's edit, or
// refused and left alone. A damaged event of the log is an error, not a memory without facts that a write builds upon.
func damage(t *testing.T, bytes string) (preserved, surfaced bool) {
	s := &filesSync{Activities: &Activities{root: openMemory(t)}, in: FilesInput{User: defaultUser, At: filesAt}}
	p := memoryFile{kind: schema.RecordDaily, date: "2026-06-07", path: "memory/2026-06-07.md", file: File{Text: bytes, Exists: true}}
	err := s.compareRecord(p, nil)
	switch {
	case err != nil:
		preserved = len(s.writes) == 0
	case len(s.edits) == 1 && len(s.writes) == 1:
		payload, decodeErr := schema.DecodePayload(s.edits[0])
		edit, ok := payload.(schema.RecordEditedPayload)
		preserved = decodeErr == nil && ok && edit.Text == bytes && !s.writes[0].write
	}
	stored := schema.Event{
		ID: "e", Stream: schema.MemoryStream(defaultUser, ""), Type: schema.CoreCommitted, Seq: 1, Payload: json.RawMessage(bytes),
	}
	err = (&tierRows{}).add(stored)
	return preserved && string(stored.Payload) == bytes, err != nil
}

var caseAct = regexp.MustCompile(`(?i)\b(delete|remove|clear|add|create)s?\b(?: (?:all|everything|memory|the) ?)?\s*(fact_\w+)?`)

// judgeLateSave plays that a person edits MEMORY.md while a model is thinking. Then the memory that the model read is
// committed with an addition.
func judgeLateSave(person string, present map[string]*bool) string {
	base := []schema.CoreItem{{Text: "fact_a", Heading: "Knowledge"}}
	text := RenderCore(base)
	for _, act := range caseAct.FindAllStringSubmatch(person, -1) {
		switch verb := strings.ToLower(act[1]); {
		case verb == "add" || verb == "create":
			text += "- " + act[2] + "\n"
		case act[2] == "":
			text = ""
		default:
			text = strings.ReplaceAll(text, "- "+act[2]+"\n", "")
		}
	}
	saved := slices.Concat(base, []schema.CoreItem{{Text: "what the model learned", Heading: "Knowledge"}})
	got := withItems(text, base, saved)
	for name, want := range present {
		if want != nil && strings.Contains(got, name) != *want {
			return fmt.Sprintf("%s is in %q: want %v", name, got, *want)
		}
	}
	if !strings.Contains(got, "what the model learned") {
		return fmt.Sprintf("what was saved is lost: %q", got)
	}
	return ""
}

// caseFlush is a flush as a case writes it.
type caseFlush struct {
	Reason  string `json:"reason"`
	Summary string `json:"summary"`
	Text    string `json:"text"`
	Clock   string `json:"clock"`
}

var caseHeading = regexp.MustCompile(`(?m)^## (.+) \(\d\d:\d\d\)\n\n`)

func judgeDailyFile(_ *testing.T, input, expect json.RawMessage) string {
	var in struct {
		Flushes []caseFlush `json:"flushes"`
		Clock   string      `json:"clock"`
		UserID  *string     `json:"user_id"`
		Summary *string     `json:"summary"`
		Reason  string      `json:"reason"`
	}
	var want struct {
		Path    *string  `json:"path"`
		Content *string  `json:"content"`
		MDFiles []string `json:"md_files"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	flushes := in.Flushes
	switch {
	case flushes != nil:
	case in.Summary != nil:
		flushes = []caseFlush{{Reason: in.Reason, Summary: *in.Summary}}
	case want.Content != nil:
		flushes = caseFlushesOf(*want.Content)
	}
	l := layout{user: defaultUser}
	if in.UserID != nil && *in.UserID != "" {
		l.user = *in.UserID
	}
	files := map[string][]Record{}
	var paths []string
	for i, f := range flushes {
		at, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(strings.TrimSuffix(cmp.Or(f.Clock, in.Clock), " local"), "Z"))
		if err != nil {
			return err.Error()
		}
		r := Record{
			Kind: schema.RecordDaily, Date: at.Format(schema.DateLayout), Clock: at.Format(schema.ClockLayout), Seq: uint64(i + 1),
			Reason: schema.FlushReason(f.Reason), Text: cmp.Or(f.Summary, f.Text),
		}
		p, err := l.record(r.Kind, r.Date)
		if err != nil {
			return err.Error()
		}
		if files[p] = append(files[p], r); len(files[p]) == 1 {
			paths = append(paths, p)
		}
	}
	return judgeRendered(files, paths, want.Path, want.Content, want.MDFiles)
}

func judgeRendered(files map[string][]Record, paths []string, wantPath, wantContent *string, wantFiles []string) string {
	texts := map[string]string{}
	for p, records := range files {
		if text, ok := RenderRecord(records); ok {
			texts[p] = text
		}
	}
	if wantFiles != nil && len(texts) != len(wantFiles) {
		return fmt.Sprintf("got %d files, want %q", len(texts), wantFiles)
	}
	for _, name := range wantFiles {
		if _, ok := texts[name]; !ok && !hasBase(texts, name) {
			return fmt.Sprintf("there is no file %q", name)
		}
	}
	if wantPath == nil && wantContent == nil {
		return ""
	}
	if len(paths) != 1 || wantPath != nil && paths[0] != *wantPath {
		return fmt.Sprintf("got the files %q, want %q", paths, *cmp.Or(wantPath, &paths[0]))
	}
	if got := texts[paths[0]]; wantContent != nil && got != *wantContent {
		return fmt.Sprintf("got %q, want %q", got, *wantContent)
	}
	return ""
}

// hasBase reports whether one of the files has the name in its directory.
func hasBase(texts map[string]string, name string) bool {
	for p := range texts {
		if path.Base(p) == name {
			return true
		}
	}
	return false
}

// caseFlushesOf returns the flushes of a case that shows them only in the expected content.
func caseFlushesOf(content string) []caseFlush {
	var flushes []caseFlush
	places := caseHeading.FindAllStringSubmatchIndex(content, -1)
	for i, at := range places {
		end := len(content)
		if i+1 < len(places) {
			end = places[i+1][0] - 1
		}
		for _, reason := range schema.FlushReasons() {
			if recordTitle(reason) == content[at[2]:at[3]] {
				flushes = append(flushes, caseFlush{Reason: string(reason), Text: strings.TrimSuffix(content[at[1]:end], "\n")})
			}
		}
	}
	return flushes
}
