package recall

// The tests of package recall_test see these.
type (
	Correction   = correction
	ModelReport  = modelReport
	ShownMessage = shownMessage
)

var (
	EntryShowCommand = entryShowCommand
	PrintEntry       = printEntry
)
