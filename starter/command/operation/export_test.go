package operation

// The tests of package operation_test see these.
const VectorsWord = vectorsWord

type RebuildReport = rebuildReport

var (
	CheckProjections = checkProjections
	PhaseText        = phaseText
	PrintRebuild     = printRebuild
	RebuildArgs      = rebuildArgs
	SameRebuild      = sameRebuild
	Together         = together
)
