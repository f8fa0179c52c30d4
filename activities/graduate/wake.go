package graduate

import (
	"context"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// WakeInput names the project whose graduation has something to consider.
type WakeInput struct {
	Project string `json:"project"`
}

// WakeGraduation tells the writer of the project's graduation that a session has changed. It does not wait for it.
func (a *Activities) WakeGraduation(ctx context.Context, in WakeInput) error {
	_, err := boundary.Run(ctx, in, func(ctx context.Context, in WakeInput) (struct{}, error) {
		return struct{}{}, boundary.WriterOf(schema.GraduationInput{Project: in.Project}).Wake(ctx, a.temporal)
	})
	return err
}
