package feed

// The tests of package feed_test see these.
type (
	EnqueueReport = enqueueReport
	PassedOver    = passedOver
	Watcher       = watcher
)

var (
	Note    = note
	Outcome = outcome
	Refuse  = refuse
)
