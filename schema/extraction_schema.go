package schema

import _ "embed"

// SchemaVersion names the shape of [ExtractionSchema]. It changes when an answer of the older
// shape could be refused by the newer one, or the other way round.
const SchemaVersion = "extraction-v3"

// ExtractionSchema is the JSON Schema (2020-12) of [Extraction].
//
//go:embed extraction.schema.json
var ExtractionSchema []byte

// MaxQuote is the length of the longest quote in characters, as ExtractionSchema has it: far above any sentence,
// since quotes are whole sentences. What is longer is a paste.
const MaxQuote = 16384
