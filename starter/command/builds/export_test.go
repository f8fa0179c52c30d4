package builds

// The tests of package builds_test see these.
type (
	BackfillPlan      = backfillPlan
	BackfilledSession = backfilledSession
	RetryPlan         = retryPlan
	RetryReport       = retryReport
	ShownBuild        = shownBuild
	SkippedBuild      = skippedBuild
)

var ReportRetry = reportRetry
