package schema

import "slices"

// FailureClass is the remedy for a failure.
type FailureClass string

// Classes of failures.
const (
	// FailurePassing: a server was busy, slow or unavailable. A retry may succeed.
	FailurePassing FailureClass = "passing"
	// FailureSetup: a server refused a key, a right or a setting. A retry succeeds once a person has corrected it.
	FailureSetup FailureClass = "setup"
	// FailureInput: the input cannot be read, is not allowed or too long, or the model refuses it. A retry fails again.
	FailureInput FailureClass = "input"
	// FailureBug: a bug in this program. Another version may succeed.
	FailureBug FailureClass = "ours"
)

// FailureClasses returns all classes.
func FailureClasses() []FailureClass {
	return []FailureClass{FailurePassing, FailureSetup, FailureInput, FailureBug}
}

// Types of failures that no activity returns.
const (
	ErrorTimeout   = "Timeout"
	ErrorCancelled = "Cancelled"
	// ErrorInterrupted: the workflow ended without recording its outcome, because it was terminated or ran for too
	// long.
	ErrorInterrupted = "Interrupted"
)

var failureClasses = map[FailureClass][]string{
	FailurePassing: {
		ErrorModelRateLimited, ErrorModelUnavailable, ErrorModelMalformed, ErrorStoreUnavailable, ErrorVectorUnavailable,
		ErrorTemporalUnavailable, ErrorFilesUnavailable, ErrorNotifyUnavailable, ErrorConcurrentWriter, ErrorDraining,
		ErrorWorkerStopped, ErrorTimeout, ErrorCancelled, ErrorInterrupted, ErrorErasing,
	},
	FailureSetup: {ErrorModelRefused, ErrorStoreRejected, ErrorVectorRejected, ErrorFilesRefused, ErrorNotifyRefused, ErrorTemporalRefused, ErrorSourceForbidden},
	FailureInput: {
		ErrorInvalidInput, ErrorSourceUnreadable, ErrorSourceKills, ErrorUnknownFormat, ErrorScopeMismatch, ErrorModelTooLong, ErrorModelBlocked,
		ErrorModelCut, ErrorModelUnreadable, ErrorModelRejected, ErrorTaskRefused, ErrorTaskNotFound, ErrorFactRefused, ErrorFactNotFound, ErrorFactStale,
		ErrorVersionNotFound, ErrorGraduationRefused, ErrorEntryNotFound, ErrorErased,
	},
	FailureBug: {ErrorInternal, ErrorCorruptLog},
}

// FailureTypes returns the types of the class. [FailureBug] also has every type that is in no class.
func FailureTypes(class FailureClass) []string { return slices.Clone(failureClasses[class]) }

// ClassOf returns the class of a failure by its type, one of the Error constants. An unknown type is [FailureBug].
func ClassOf(errorType string) FailureClass {
	for _, class := range FailureClasses() {
		if slices.Contains(failureClasses[class], errorType) {
			return class
		}
	}
	return FailureBug
}
