package tier

import (
	"errors"
	"time"

	"axiommind/schema"
)

// GatherInput is the request to gather the input of a dream.
type GatherInput struct {
	// DeepDreamInput sets the day by Date or At.
	schema.DeepDreamInput
	// From leaves out the days before it: dreams before this one have read them.
	From string `json:"from,omitempty"`
}

// Gathered names the gathered input of a dream, or explains why there is no dream.
type Gathered struct {
	// Skipped says to a person why there is nothing to dream of.
	Skipped string `json:"skipped,omitempty"`
	// Date is the day for which it is dreamt.
	Date string `json:"date"`
	// Next is the first day that was left for another dream, because there is more than one dream reads.
	Next string `json:"next,omitempty"`
	// EventID is the id of the event with the gathered input. It is the same for the same content.
	EventID string `json:"event_id,omitempty"`
	Ordinal int    `json:"ordinal"`
	Version int    `json:"version"`
	// Model is the model that is asked. Local is true if it is in the worker: then no question is asked apart.
	Model string `json:"model"`
	Local bool   `json:"local,omitempty"`
}

// PlanInput asks for the next questions of a dream.
type PlanInput struct {
	Gathered string `json:"gathered"`
	// Level counts the levels of questions that were asked. Answers are the keys of the last one's answers, and Last is
	// true if that was the level whose answers make the memory.
	Level   int      `json:"level"`
	Answers []string `json:"answers,omitempty"`
	Last    bool     `json:"last,omitempty"`
}

// Plan is the next level of questions.
type Plan struct {
	// Windows is the number of questions. Their answers make the memory if Last is true, and the next level if not.
	Windows int  `json:"windows"`
	Last    bool `json:"last,omitempty"`
	// Done is true if no question is left. Refused then says why the answers are of no use, or is empty.
	Done    bool   `json:"done,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// AskInput names a question of a dream.
type AskInput struct {
	Gathered string `json:"gathered"`
	// Answers are the keys of the answers of the level before, and Window is the question's number in its level.
	Answers []string `json:"answers,omitempty"`
	Window  int      `json:"window"`
	// Again says why the answer to the same question was of no use.
	Again string `json:"again,omitempty"`
}

// Asked is the key under which an answer is stored.
type Asked struct {
	Key string `json:"key,omitempty"`
	// Useless explains why there is no usable answer.
	Useless string       `json:"useless,omitempty"`
	Usage   schema.Usage `json:"usage"`
}

// CommitInput hands a dream over to the memory's writer.
type CommitInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// Gathered is the id of the event with the gathered input, and Responses are the keys of the answers. A local model
	// has none.
	Gathered  string       `json:"gathered"`
	Model     string       `json:"model"`
	Responses []string     `json:"responses,omitempty"`
	Usage     schema.Usage `json:"usage"`
	At        time.Time    `json:"at"`
	// Refused explains why there is no readable answer.
	Refused string `json:"refused,omitempty"`
	// DryRun commits nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// Run is the id of the run of the workflow deep_dream, and Metrics are its steps so far.
	Run     string              `json:"run,omitempty"`
	Metrics []schema.StepMetric `json:"metrics,omitempty"`
}

// Writer returns the input of the workflow that commits the dream.
func (in CommitInput) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: in.User, Agent: in.Agent}
}

// Validate returns an error if the input is invalid.
func (in CommitInput) Validate() error {
	if in.Gathered == "" {
		return errors.New("commit a dream: gathered is empty: it names the event with the dream's input")
	}
	return schema.DeepDreamInput{User: in.User, Agent: in.Agent}.Validate()
}

// CommitResult is how a dream ended.
type CommitResult struct {
	schema.DeepDreamResult
	// Stale is true if core memory has moved on since the dream began: then it is to begin again.
	Stale bool `json:"stale,omitempty"`
}
