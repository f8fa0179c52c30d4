package feed

// The tests of package feed_test see these.
type (
	EnqueueReport = enqueueReport
	PassedOver    = passedOver
)

var (
	Note    = note
	Outcome = outcome
	Refuse  = refuse
)
