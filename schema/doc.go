// Package schema contains the definitions that all parts of AxiomMind share: event types and their payloads, derived
// ids, the ClickHouse migrations, the Weaviate classes and the JSON schema of an extraction. It imports no other
// package of the project.
package schema
