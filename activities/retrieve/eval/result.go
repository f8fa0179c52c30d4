package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

const (
	resultVersion = 1
	maxResult     = 256 << 20 // bytes
)

// Result holds the measurements of a run.
type Result struct {
	Version  int               `json:"version"`
	GoldSet  GoldSet           `json:"goldset"`
	Settings map[string]string `json:"settings,omitempty"`
	Embedder string            `json:"embedder,omitempty"`

	Limit       int  `json:"limit"`
	Concurrency int  `json:"concurrency"`
	Half        Half `json:"half"`

	Overall Summary `json:"overall"`
	// Categories and Languages hold the questions that have one.
	Categories map[string]Summary `json:"categories"`
	Languages  map[string]Summary `json:"languages"`
	// Questions are in the order of their ids.
	Questions []Answer `json:"questions"`
}

// GoldSet says which questions were asked.
type GoldSet struct {
	// Hash is the [Hash] of the questions that were asked.
	Hash      string `json:"hash"`
	Questions int    `json:"questions"`
}

// Answer is the result of a question.
type Answer struct {
	ID       string `json:"id"`
	Category string `json:"category,omitempty"`
	Language string `json:"lang,omitempty"`
	Abstain  bool   `json:"abstain,omitempty"`
	// Ranks holds for each reference the rank, from 1, at which it was found, or 0.
	Ranks    []int `json:"ranks"`
	Returned int   `json:"returned"`
	// Sure counts those of Returned that the retriever does not call weak.
	Sure int           `json:"sure"`
	Took time.Duration `json:"took_ns"`
}

// Write writes the result as JSON. Results that are equal are written the same.
func (r Result) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// ReadResult reads the output of [Result.Write]. name is that of the file, for errors; these wrap [ErrInput] unless the
// reader fails.
func ReadResult(r io.Reader, name string) (Result, error) {
	data, err := readAll(r, name, maxResult)
	if err != nil {
		return Result{}, err
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err == nil && version.Version > resultVersion {
		return Result{}, invalid(name, 0, wrong("version", "is %d, and this program knows %d: use a newer program", version.Version, resultVersion))
	}
	var result Result
	if err := decodeStrict(bytes.TrimSpace(data), &result); err != nil {
		return Result{}, invalid(name, 0, err)
	}
	if err := result.validate(); err != nil {
		return Result{}, invalid(name, 0, fmt.Errorf("is no result of a run: %w", err))
	}
	return result, nil
}

func (r Result) validate() error {
	switch {
	case r.Version != resultVersion:
		return wrong("version", "is %d: want %d", r.Version, resultVersion)
	case r.GoldSet.Hash == "":
		return wrong("goldset.hash", "is empty")
	case r.Limit < Deepest || r.Limit > MaxLimit:
		return wrong("limit", "is %d: want %d to %d", r.Limit, Deepest, MaxLimit)
	case !slices.Contains(Halves(), r.Half):
		return wrong("half", "is %q: want one of %v", r.Half, Halves())
	case len(r.Questions) == 0 || len(r.Questions) != r.GoldSet.Questions:
		return wrong("questions", "are %d, and the gold set has %d", len(r.Questions), r.GoldSet.Questions)
	}
	for i, a := range r.Questions {
		field := fmt.Sprintf("questions[%d]", i)
		switch {
		case i > 0 && a.ID <= r.Questions[i-1].ID:
			return wrong(field+".id", "%q is not after the one before", a.ID)
		case a.Abstain != (len(a.Ranks) == 0):
			return wrong(field+".ranks", "do not fit abstain")
		case a.Returned < 0 || a.Returned > r.Limit:
			return wrong(field+".returned", "is %d: want 0 to %d", a.Returned, r.Limit)
		case slices.ContainsFunc(a.Ranks, func(rank int) bool { return rank < 0 || rank > a.Returned }):
			return wrong(field+".ranks", "are %v, and %d results were returned", a.Ranks, a.Returned)
		case a.Sure < 0 || a.Sure > a.Returned:
			return wrong(field+".sure", "is %d: want 0 to %d", a.Sure, a.Returned)
		}
	}
	for _, name := range MetricNames() {
		if v, ok := r.Overall.Metric(name); ok && !(v >= 0 && v <= 1) {
			return wrong("overall."+name, "is %v: want 0 to 1", v)
		}
	}
	return nil
}

// readAll reads a file that may not be larger than limit bytes.
func readAll(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case int64(len(data)) > limit:
		return nil, invalid(name, 0, fmt.Errorf("is larger than %d MiB", limit>>20))
	case len(bytes.TrimSpace(data)) == 0:
		return nil, invalid(name, 0, errors.New("is empty"))
	}
	return data, nil
}
