package dreams

// The tests of package dreams_test see these.
const (
	ApplyChanged   = applyChanged
	ApplyCreated   = applyCreated
	ApplyUnchanged = applyUnchanged
	NoSchedule     = noSchedule
)

type (
	AppliedSchedule = appliedSchedule
	Backfilled      = backfilled
	Comparison      = comparison
	Duration        = duration
	Source          = source
	Triggered       = triggered
)
