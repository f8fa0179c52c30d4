package evaluation

// The tests of package evaluation_test see these.
type (
	Ablation    = ablation
	EvalOptions = evalOptions
	EvalReport  = evalReport
)

var (
	FoundOf   = foundOf
	PrintEval = printEval
	WriteRun  = writeRun
)
