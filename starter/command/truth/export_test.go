package truth

// The tests of package truth_test see these.
type (
	FoundReport = foundReport
	Realigned   = realigned
	Realignment = realignment
)

var StoredEvidence = storedEvidence
