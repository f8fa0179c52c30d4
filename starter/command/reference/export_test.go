package reference

// The tests of package reference_test see these.
type EventType = eventType

var (
	EventTypes = eventTypes
	PageName   = pageName
	WalkTree   = walkTree
)
