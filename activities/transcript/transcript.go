// Package transcript brings sessions into the event log: it finds the file that an input names, reads it
// when it may, and appends the messages that the log does not know.
//
// How the transcripts of each harness are read is in package format.
package transcript

import "axiommind/activities/transcript/format"

// Session is one conversation of a source.
type Session = format.Session

// Errors of sources that are passed over in a directory; see package format.
var (
	ErrUnknownFormat = format.ErrUnknownFormat
	ErrNotTranscript = format.ErrNotTranscript
)

// Formats lists the readable formats, in the order of detection.
func Formats() []format.Format { return format.All() }
