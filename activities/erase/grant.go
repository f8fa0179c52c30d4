package erase

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/transcript/grant"
	"axiommind/schema"
)

// signed returns an activity that runs f only for a signed erasure, because anyone who reaches Temporal can schedule an
// activity.
func signed[In interface{ forget() schema.ForgetInput }, Out any](a *Activities, f func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		if err := a.permitted(in.forget()); err != nil {
			return out, err
		}
		return f(ctx, in)
	}
}

func (in Input) forget() schema.ForgetInput { return in.ForgetInput }

// permitted returns an error unless the erasure is signed for its id and scope.
func (a *Activities) permitted(in schema.ForgetInput) error {
	if a.unsigned {
		return nil
	}
	key, err := grant.ReadKey(a.keyFile)
	switch {
	case err != nil:
		return boundary.Invalid(schema.ErrorSourceForbidden, fmt.Errorf("erasure %q: %w", in.ID, err))
	case !hmac.Equal([]byte(in.Grant), []byte(grant.OfErasure(key, in.ID, in.ErasureScope))):
		return boundary.Invalid(schema.ErrorSourceForbidden, fmt.Errorf("erasure %q is not signed by the key %q: give it by starter forget with that key, "+
			"or start the worker with --unsigned-erasures, so that whoever reaches Temporal may erase", in.ID, a.keyFile))
	}
	return nil
}

// notLifted returns an error if a person has lifted the erasure. A signature from an old history or its backup must not
// start a second erasure of content that was admitted again.
func (a *Activities) notLifted(ctx context.Context, in Input) error {
	_, err := a.log.Get(ctx, schema.EventID(schema.ErasureKey(in.ErasureID, schema.ErasureLifted, 0)))
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
		return nil
	case err == nil:
		return boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("erasure %q was lifted: give another id, or none", in.ErasureID))
	}
	return err
}
