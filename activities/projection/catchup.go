package projection

import "context"

// CatchUp applies to the shadow the events that came after it was filled. It returns [ErrShadowGone] if it was not
// filled. The projector's connection is the shadow's Conn.
func (sh *Shadow) CatchUp(ctx context.Context, p Projector) (Progress, error) {
	if err := sh.complete(ctx, []Projector{p}); err != nil {
		return Progress{}, err
	}
	return sh.catchUp(ctx, p)
}

func (sh *Shadow) catchUp(ctx context.Context, p Projector) (Progress, error) {
	run := sh.pass(p)
	err := run.all(ctx, p.StreamPrefix(), logEnds)
	return run.done, err
}

// pass returns a run of the projector over the shadow, which no other program writes.
func (sh *Shadow) pass(p Projector) *pass {
	return sh.shadow.newPass(p, exclusive(shadowGeneration))
}
