// Package schema is what every part of AxiomMind agrees on: the types of events and their payloads,
// derived ids, the ClickHouse migrations, the Weaviate classes and the JSON schema of an
// extraction. It imports nothing of the project.
package schema
