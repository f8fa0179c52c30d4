package boundary

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"axiommind/activities/text"
	"axiommind/schema"
)

// Batch is the input of an activity that does several updates of a writer at once, in their order.
type Batch[Arg any] struct {
	// Head is the head of the writer's stream.
	Head  schema.StreamHead `json:"head,omitzero"`
	Items []Arg             `json:"items"`
}

// Outcome is the outcome of one update of a batch: its result, or why it failed for good.
type Outcome[Result any] struct {
	Result Result  `json:"result"`
	Failed *Failed `json:"failed,omitempty"`
}

// Failed is the error of an update that must not be tried again.
type Failed struct {
	// Type is one of the schema.Error constants.
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Err returns the error that the sender of the update gets, or nil.
func (f *Failed) Err() error {
	if f == nil {
		return nil
	}
	return temporal.NewNonRetryableApplicationError(f.Message, f.Type, nil)
}

// Outcomes are the outcomes of a batch, in its order.
type Outcomes[Result any] struct {
	// Head is the head of the writer's stream after the batch.
	Head  schema.StreamHead `json:"head,omitzero"`
	Items []Outcome[Result] `json:"items"`
}

// Of returns the outcome of an update from the result and error of the work on it. An error that may go away is
// returned: then the whole batch is retried, which changes no update that was done before.
func Of[Result any](ctx context.Context, result Result, err error) (Outcome[Result], error) {
	if err == nil {
		return Outcome[Result]{Result: result}, nil
	}
	var application *temporal.ApplicationError
	if returned := Return(ctx, err); errors.As(returned, &application) && application.NonRetryable() {
		return Outcome[Result]{Failed: &Failed{Type: application.Type(), Message: text.Clip(application.Message(), maxMessage)}}, nil
	}
	return Outcome[Result]{}, fmt.Errorf("one of a batch: %w", err)
}

// maxMessage bounds a message in bytes, so that the outcomes of a whole batch stay a small payload.
const maxMessage = 1000
