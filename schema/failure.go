package schema

import "slices"

// FailureClass says what can be done about a failure.
type FailureClass string

// Classes of failures.
const (
	// FailurePassing: a server was busy, slow or away. The same again may succeed.
	FailurePassing FailureClass = "passing"
	// FailureSetup: a server refused a key, a right or a setting. The same again succeeds once a person has mended that.
	FailureSetup FailureClass = "setup"
	// FailureInput: the input cannot be read, is not allowed or too long, or the model refuses it. The same again fails
	// again.
	FailureInput FailureClass = "input"
	// FailureOurs: a bug of this program. Another version of it may succeed.
	FailureOurs FailureClass = "ours"
)

// FailureClasses returns all classes.
func FailureClasses() []FailureClass {
	return []FailureClass{FailurePassing, FailureSetup, FailureInput, FailureOurs}
}

// Types of failures that no activity returns.
const (
	ErrorTimeout   = "Timeout"
	ErrorCancelled = "Cancelled"
	// ErrorInterrupted: the workflow ended without recording how, because somebody terminated it or it ran for too long.
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
	FailureOurs: {ErrorInternal, ErrorCorruptLog},
}

// FailureTypes returns the types of the class. [FailureOurs] has also every type that no class has.
func FailureTypes(class FailureClass) []string { return slices.Clone(failureClasses[class]) }

// ClassOf returns the class of a failure by its type: one of the Error constants. A type that nobody knows is ours.
func ClassOf(errorType string) FailureClass {
	for _, class := range FailureClasses() {
		if slices.Contains(failureClasses[class], errorType) {
			return class
		}
	}
	return FailureOurs
}
