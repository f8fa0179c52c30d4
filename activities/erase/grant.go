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

// permitted returns an error unless the erasure is signed for its id and scope. A signature that stands in an old history, or in a backup
// of one, starts no second erasure of content that was admitted again.
func (a *Activities) permitted(ctx context.Context, in Input) error {
	if a.unsigned {
		return nil
	}
	key, err := grant.ReadKey(a.keyFile)
	switch {
	case err != nil:
		return boundary.Invalid(schema.ErrorSourceForbidden, fmt.Errorf("erasure %q: %w", in.ErasureID, err))
	case !hmac.Equal([]byte(in.Grant), []byte(grant.OfErasure(key, in.ErasureID, in.ErasureScope))):
		return boundary.Invalid(schema.ErrorSourceForbidden, fmt.Errorf("erasure %q is not signed by the key %q: give it by starter forget with that key, "+
			"or start the worker with --unsigned-erasures, so that whoever reaches Temporal may erase", in.ErasureID, a.keyFile))
	}
	_, err = a.log.Get(ctx, schema.EventID(schema.ErasureKey(in.ErasureID, schema.ErasureLifted, 0)))
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
		return nil
	case err == nil:
		return boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("erasure %q was lifted: give another id, or none", in.ErasureID))
	}
	return err
}
