package schema

import _ "embed"

// SchemaVersion names the version of [ExtractionSchema]. It changes whenever an answer that is valid in one version
// could be invalid in the other.
const SchemaVersion = "extraction-v5"

// ExtractionSchema is the JSON Schema (2020-12) of [Extraction].
//
//go:embed extraction.schema.json
var ExtractionSchema []byte

// MaxQuote is the maximum length of a quote in characters, as in ExtractionSchema. Quotes are whole sentences, and no
// sentence comes near this limit: longer text was pasted.
const MaxQuote = 16384

// MinLetters is the minimum number of letters and digits in a quote. A shorter one would match anywhere.
const MinLetters = 5
