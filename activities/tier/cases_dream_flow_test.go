package tier

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"axiommind/activities/llm"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

var _ = judgeArea("dream_flow", judgeDreamFlow)

// flowInput is the course of a case of dream_flow, in order: first the files, then the calls.
type flowInput struct {
	Clock    string            `json:"clock"`
	Files    map[string]string `json:"files"`
	Calls    []flowCall        `json:"calls"`
	Lookback int               `json:"lookback"`
}

// flowCall is a dream, or an edit of files if Write is given.
type flowCall struct {
	Force    bool              `json:"force"`
	Lookback int               `json:"lookback"`
	LLM      *string           `json:"llm"`
	LLMError bool              `json:"llm_error"`
	Write    map[string]string `json:"write"`
}

type flowExpect struct {
	Calls       []flowOutcome     `json:"calls"`
	Files       map[string]string `json:"files"`
	UserPrompt  *string           `json:"user_prompt"`
	Temperature *float64          `json:"temperature"`
	MaxTokens   *int              `json:"max_tokens"`
}

type flowOutcome struct {
	Ran       bool `json:"ran"`
	LLMCalled bool `json:"llm_called"`
}

// originalLabels are the words of the original's prompt.
var originalLabels = Labels{
	Memory: "当前长期记忆（MEMORY.md）", Records: "近期日记（最近 %d 天）", Empty: "(empty)", NoRecords: "(no records)",
}

// judgeDreamFlow plays a case with the real activities over a database and a directory. Where a call gives no answer of
// the model, the model answers with the MEMORY.md and the diary that the case expects, or with the memory unchanged.
//
// Our rule of grounding is stricter than the original, whose model was believed. So MEMORY.md is judged by its
// statements. An expected item that the memory or a daily record states must be there. One that neither states must be
// missing and reported as dropped. All earlier statements of the memory must still be there. Every other file must be as
// expected, byte for byte, and there must be no other one. Where a case describes another behavior in prose, the memory
// must lose nothing.
func judgeDreamFlow(t *testing.T, input, expect json.RawMessage) string {
	var in flowInput
	if problem := sharedtest.Decode(input, &in); problem != "" {
		return problem
	}
	var prose string
	var want flowExpect
	if json.Unmarshal(expect, &prose) != nil {
		if problem := sharedtest.Decode(expect, &want); problem != "" {
			return problem
		}
	}
	p := &flowPlay{t: t, in: in, want: want}
	if problem := p.play(); problem != "" {
		return problem
	}
	if prose == "" && len(want.Calls) > 0 && !slices.Equal(p.outcomes, want.Calls) {
		return fmt.Sprintf("calls: have %+v, want %+v", p.outcomes, want.Calls)
	}
	return cmp.Or(p.judgeRequest(), p.judgeMemory(), p.judgeFiles())
}

type flowPlay struct {
	t     *testing.T
	in    flowInput
	want  flowExpect
	stage *stage

	outcomes []flowOutcome
	dropped  []schema.DroppedItem
	// said are the lines of the daily records that there were.
	said  map[string]bool
	files map[string]string
}

var datedFile = regexp.MustCompile(`^memory/(\d{4}-\d\d-\d\d)\.md$`)

func (p *flowPlay) play() string {
	ctx := p.t.Context()
	var call flowCall
	p.stage = newStage(p.t, func(llm.Request) (string, llm.FinishReason, error) {
		switch {
		case call.LLMError:
			return "", "", &llm.Error{Provider: "scripted", Kind: llm.KindUnavailable}
		case call.LLM != nil:
			return *call.LLM, llm.FinishStop, nil
		}
		return p.expectedAnswer(), llm.FinishStop, nil
	})
	p.stage.labels, p.said = originalLabels, map[string]bool{}
	if problem := p.setClock(); problem != "" {
		return problem
	}
	if problem := p.write(p.in.Files); problem != "" {
		return problem
	}
	for _, call = range cmpOrCalls(p.in.Calls) {
		if call.Write != nil {
			if problem := p.write(call.Write); problem != "" {
				return problem
			}
			continue
		}
		before := p.stage.model.asked()
		result, err := p.stage.dream(ctx, schema.DeepDreamInput{LookbackDays: max(call.Lookback, p.in.Lookback), Force: call.Force})
		if err != nil && !call.LLMError {
			return fmt.Sprintf("dream: %v", err)
		}
		p.outcomes = append(p.outcomes, flowOutcome{
			Ran:       err == nil && (result.Status == schema.DreamCommitted || result.Status == schema.DreamUnchanged),
			LLMCalled: p.stage.model.asked() > before,
		})
	}
	dreams, err := p.stage.tables.Dreams(ctx, defaultUser, "", 100, 0)
	if err != nil {
		return err.Error()
	}
	for _, d := range dreams {
		p.dropped = append(p.dropped, d.Dropped...)
	}
	versions, err := p.stage.tables.Versions(ctx, defaultUser, "", 100, 0)
	if err != nil {
		return err.Error()
	}
	for _, v := range versions {
		p.dropped = append(p.dropped, v.Dropped...)
	}
	if p.files, err = p.stage.files(); err != nil {
		return err.Error()
	}
	return ""
}

// cmpOrCalls is one dream where a case names no calls.
func cmpOrCalls(calls []flowCall) []flowCall {
	if len(calls) == 0 {
		return []flowCall{{}}
	}
	return calls
}

// setClock sets the time of the case: without one, the evening of the last daily record.
func (p *flowPlay) setClock() string {
	clock := strings.TrimSuffix(p.in.Clock, " local")
	if clock == "" {
		for _, name := range slices.Sorted(maps.Keys(p.in.Files)) {
			if m := datedFile.FindStringSubmatch(name); m != nil {
				clock = m[1] + "T23:55"
			}
		}
	}
	at, err := time.Parse("2006-01-02T15:04", clock)
	if err != nil {
		return fmt.Sprintf("cannot read the clock: %v", err)
	}
	p.stage.clock = at
	return ""
}

// write writes files as a person does, and notes the lines of daily records.
func (p *flowPlay) write(files map[string]string) string {
	for name, text := range files {
		if path.Dir(name) == "memory" {
			for line := range strings.Lines(text) {
				p.said[bare(line)] = true
			}
		}
		if err := p.stage.write(name, text); err != nil {
			return err.Error()
		}
	}
	return ""
}

// bare is a line without a bullet and blanks.
func bare(line string) string {
	line = strings.TrimSpace(line)
	return strings.TrimSpace(strings.TrimPrefix(line, "- "))
}

// bulletsOf are the lines of a memory that are bullets.
func bulletsOf(text string) (items []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "- ") {
			items = append(items, bare(line))
		}
	}
	return items
}

// expectedAnswer is an answer with the content that the case expects. Without an expected memory it repeats the given
// one, and without an expected diary it has one of its own.
func (p *flowPlay) expectedAnswer() string {
	diary := "Nothing to tell."
	for name, text := range p.want.Files {
		if path.Dir(name) == "memory/dreams" {
			_, diary, _ = strings.Cut(text, "\n\n")
		}
	}
	memory, ok := p.want.Files["MEMORY.md"]
	if !ok {
		memory = p.in.Files["MEMORY.md"]
	}
	return "[MEMORY]\n" + memory + "\n[DREAM]\n" + diary
}

func (p *flowPlay) judgeRequest() string {
	w := p.want
	if w.UserPrompt == nil && w.Temperature == nil && w.MaxTokens == nil {
		return ""
	}
	if p.stage.model.asked() == 0 {
		return "the model was not asked"
	}
	r := p.stage.model.requests[0]
	switch {
	case w.UserPrompt != nil && r.Prompt != *w.UserPrompt:
		return fmt.Sprintf("prompt: have %q, want %q", r.Prompt, *w.UserPrompt)
	case w.Temperature != nil && (r.Params.Temperature == nil || *r.Params.Temperature != *w.Temperature):
		return fmt.Sprintf("temperature: have %v, want %v", r.Params.Temperature, *w.Temperature)
	case w.MaxTokens != nil && r.Params.MaxOutputTokens != *w.MaxTokens:
		return fmt.Sprintf("max_tokens: have %d, want %d", r.Params.MaxOutputTokens, *w.MaxTokens)
	}
	return ""
}

func (p *flowPlay) judgeMemory() string {
	before, have := bulletsOf(p.in.Files["MEMORY.md"]), bulletsOf(p.files["MEMORY.md"])
	for _, item := range before {
		if !slices.Contains(have, item) {
			return fmt.Sprintf("the memory has lost %q", item)
		}
	}
	for _, item := range have {
		if !slices.Contains(before, item) && !p.said[item] {
			return fmt.Sprintf("nothing says %q", item)
		}
	}
	for _, item := range bulletsOf(p.want.Files["MEMORY.md"]) {
		switch says := slices.Contains(before, item) || p.said[item]; {
		case says && !slices.Contains(have, item):
			return fmt.Sprintf("the memory does not hold %q", item)
		case !says && !slices.ContainsFunc(p.dropped, func(d schema.DroppedItem) bool {
			return d.Text == item && d.From == schema.FromAnswer && d.Reason == schema.DroppedUngrounded
		}):
			return fmt.Sprintf("%q is not reported as dropped", item)
		}
	}
	return ""
}

func (p *flowPlay) judgeFiles() string {
	if p.want.Files == nil {
		return ""
	}
	for name, text := range p.want.Files {
		if have, ok := p.files[name]; name != "MEMORY.md" && (!ok || have != text) {
			return fmt.Sprintf("%s: have %q, want %q", name, have, text)
		}
	}
	for name := range p.files {
		if _, ok := p.want.Files[name]; !ok {
			return fmt.Sprintf("there is a file %s", name)
		}
	}
	return ""
}
