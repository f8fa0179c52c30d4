package build

import "axiommind/schema"

// hints are the remedies for failures, by their types.
var hints = map[string]string{
	schema.ErrorInvalidInput:     "the input itself is wrong, as the error says: process the session with another one",
	schema.ErrorSourceUnreadable: "see that the file is there, can be read and is whole; then retry with --force",
	schema.ErrorSourceKills:      "workers died while they read it: see how much memory they have, split the file or leave it out; then retry with --force",
	schema.ErrorSourceForbidden:  "start the worker with --source-root for the file's directory, or process the file with the starter on the worker's machine",
	schema.ErrorUnknownFormat:    "name the format: starter process FILE --format; a file that is no transcript holds nothing to remember",
	schema.ErrorScopeMismatch:    "a writer was asked for another project or user than its own: start the workflow under the id of its stream",

	schema.ErrorModelRefused:     "the provider refuses the key, the model's name or the account: see starter doctor, mend the worker's settings and restart it",
	schema.ErrorModelRateLimited: "the provider's quota is used up: wait or raise it, and lower --jobs or the worker's --model-concurrency",
	schema.ErrorModelUnavailable: "the model's server did not answer: see its status, then retry",
	schema.ErrorModelTooLong:     "the request is too long for the model: a smaller --window-bytes of the worker, or another model, may take it",
	schema.ErrorModelBlocked:     "the provider's filter stops this text: another model may answer",
	schema.ErrorModelCut:         "the answer broke off at the model's limit: raise --max-output-tokens of the worker, then retry with --force, or use another model",
	schema.ErrorModelUnreadable:  "the model does not answer in the form it is asked for: see --model-format of the worker, then retry with --force, or use another model",
	schema.ErrorModelMalformed:   "the answer is not from the provider: see the worker's --model-url and any proxy in between, then retry",
	schema.ErrorModelRejected:    "the model ended without an answer: another model may give one",

	schema.ErrorStoreUnavailable: "ClickHouse did not answer in time: see starter doctor, then retry",
	schema.ErrorStoreRejected:    "ClickHouse refused the request: see the rights of its user and whether its schema is the program's, with starter doctor",
	schema.ErrorCorruptLog:       "a stored event is corrupt: restore the table events_raw from a backup, and report it",
	schema.ErrorConcurrentWriter: "another writer wrote to the same stream: make sure that only one does, then retry",

	schema.ErrorVectorUnavailable: "Weaviate or the embedder did not answer: see starter doctor, then retry",
	schema.ErrorVectorRejected:    "Weaviate or the embedder refused the request: see its key and the embedder's settings with starter doctor",

	schema.ErrorTaskRefused:       "the change breaks a rule of tasks, as the error says: see starter task show",
	schema.ErrorTaskNotFound:      "there is no such task in the project: see starter tasks",
	schema.ErrorFactRefused:       "the change breaks a rule of facts, as the error says: see starter facts",
	schema.ErrorGraduationRefused: "the request does not fit the state of the entries, as the error says: see starter entry show",
	schema.ErrorErased:            "it was forgotten, and is kept out: see starter forget list; starter forget lift admits it again",
	schema.ErrorErasing:           "an erasure is at work on it, and ends in some minutes: see starter forget list",
	schema.ErrorEntryNotFound:     "there is no such memory in the project: see starter search",
	schema.ErrorFactStale:         "it was changed meanwhile: look at it again, with starter facts show",
	schema.ErrorFactNotFound:      "there is no such fact of the user: see starter facts",
	schema.ErrorVersionNotFound:   "core memory has no such version: see starter memory history",

	schema.ErrorFilesUnavailable: "the place of the memory's files did not answer: see --memory-root of the worker, then retry",
	schema.ErrorFilesRefused:     "the worker may not write the memory's files: see the rights of --memory-root",

	schema.ErrorNotifyUnavailable: "the receiver of the summary did not answer: see --notify and the worker's --summary-webhook, then retry",
	schema.ErrorNotifyRefused:     "the receiver refused the summary: see --notify and the worker's --summary-webhook and its secret",

	schema.ErrorTemporalUnavailable: "Temporal did not answer: see starter doctor, then retry",
	schema.ErrorTemporalRefused:     "Temporal refused the request: see the worker's rights in the namespace, the server's version and its limits, as the error says",
	schema.ErrorWorkerStopped:       "its worker was stopped and no other one took over in time: see that a worker runs, then retry",
	schema.ErrorDraining:            "a workflow was about to begin a new run: retry",
	schema.ErrorInternal:            "this is a bug: report the error with the output of builds show; another version may succeed",

	schema.ErrorTimeout:     "it took longer than it may: see whether workers run and answer, with starter doctor, then retry",
	schema.ErrorCancelled:   "it was cancelled: retry if it is wanted after all",
	schema.ErrorInterrupted: "its workflow ended without a word: it was terminated, or ran for too long: retry",
}

// Hint returns the remedy for a failure of the type. An unknown type is a bug.
func Hint(errorType string) string {
	if hint, ok := hints[errorType]; ok {
		return hint
	}
	return hints[schema.ErrorInternal]
}
