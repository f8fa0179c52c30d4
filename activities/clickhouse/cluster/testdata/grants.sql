CREATE ROLE IF NOT EXISTS axiommind_worker ON CLUSTER memory;

GRANT ON CLUSTER memory SELECT, INSERT, ALTER, TRUNCATE, OPTIMIZE, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP DATABASE, DROP TABLE, DROP VIEW ON axiom_rebuild_*.* TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, ALTER, TRUNCATE, OPTIMIZE, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP DATABASE, DROP TABLE, DROP VIEW ON axiom_replay_*.* TO axiommind_worker;

GRANT ON CLUSTER memory SELECT ON axiom.* TO axiommind_worker;

REVOKE ON CLUSTER memory SELECT ON axiom.erasure_secrets FROM axiommind_worker;

REVOKE ON CLUSTER memory SELECT ON axiom.erasure_secrets_local FROM axiommind_worker;

GRANT ON CLUSTER memory SHOW TABLES ON axiom.erasure_secrets TO axiommind_worker;

GRANT ON CLUSTER memory SHOW TABLES ON axiom.erasure_secrets_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.events_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.events_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.projection_offsets_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.projection_offsets_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entries_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entries_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entry_changes_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entry_changes_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.build_runs_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.build_runs_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.vector_outbox_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.vector_outbox_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entities_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entities_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entity_aliases_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entity_aliases_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.edges_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.edges_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entity_events_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entity_events_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.promotions_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.promotions_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.checks_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.checks_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.decisions_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.decisions_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.decision_evidence_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.decision_evidence_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.conflicts_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.conflicts_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.conflict_resolutions_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.conflict_resolutions_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.claims_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.claims_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.graduated_sessions_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.graduated_sessions_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.facts_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.facts_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.facts_skipped_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.facts_skipped_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.records_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.records_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.core_versions_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.core_versions_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.dreams_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.dreams_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.memory_files_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.memory_files_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.usage_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.usage_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.judged_pairs_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.judged_pairs_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.profile_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.profile_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.memory_cleared_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.memory_cleared_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.erasing_raw TO axiommind_worker;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.erasing_raw_local TO axiommind_worker;

GRANT ON CLUSTER memory CLUSTER, REMOTE, SYSTEM SYNC REPLICA ON *.* TO axiommind_worker;

CREATE ROLE IF NOT EXISTS axiommind_reader ON CLUSTER memory;

GRANT ON CLUSTER memory SELECT ON axiom.* TO axiommind_reader;

REVOKE ON CLUSTER memory SELECT ON axiom.erasure_secrets FROM axiommind_reader;

REVOKE ON CLUSTER memory SELECT ON axiom.erasure_secrets_local FROM axiommind_reader;

GRANT ON CLUSTER memory SHOW TABLES ON axiom.erasure_secrets TO axiommind_reader;

GRANT ON CLUSTER memory SHOW TABLES ON axiom.erasure_secrets_local TO axiommind_reader;

CREATE ROLE IF NOT EXISTS axiommind_eraser ON CLUSTER memory;

GRANT ON CLUSTER memory SELECT, INSERT, ALTER, TRUNCATE, OPTIMIZE, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP DATABASE, DROP TABLE, DROP VIEW ON axiom_rebuild_*.* TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, ALTER, TRUNCATE, OPTIMIZE, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP DATABASE, DROP TABLE, DROP VIEW ON axiom_replay_*.* TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT ON axiom.* TO axiommind_eraser;

REVOKE ON CLUSTER memory SELECT ON axiom.erasure_secrets FROM axiommind_eraser;

REVOKE ON CLUSTER memory SELECT ON axiom.erasure_secrets_local FROM axiommind_eraser;

GRANT ON CLUSTER memory SHOW TABLES ON axiom.erasure_secrets TO axiommind_eraser;

GRANT ON CLUSTER memory SHOW TABLES ON axiom.erasure_secrets_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.events_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.events_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.projection_offsets_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.projection_offsets_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entries_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entries_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entry_changes_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entry_changes_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.build_runs_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.build_runs_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.vector_outbox_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.vector_outbox_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entities_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entities_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entity_aliases_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entity_aliases_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.edges_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.edges_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entity_events_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.entity_events_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.promotions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.promotions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.checks_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.checks_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.decisions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.decisions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.decision_evidence_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.decision_evidence_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.conflicts_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.conflicts_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.conflict_resolutions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.conflict_resolutions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.claims_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.claims_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.graduated_sessions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.graduated_sessions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.facts_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.facts_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.facts_skipped_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.facts_skipped_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.records_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.records_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.core_versions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.core_versions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.dreams_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.dreams_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.memory_files_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.memory_files_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.usage_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.usage_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.judged_pairs_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.judged_pairs_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.profile_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.profile_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.memory_cleared_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT, CREATE TABLE, DROP TABLE ON axiom.memory_cleared_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.erasing_raw TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.erasing_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.erasure_secrets TO axiommind_eraser;

GRANT ON CLUSTER memory SELECT, INSERT ON axiom.erasure_secrets_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.events_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.events_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.projection_offsets_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.projection_offsets_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entries_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entries_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entry_changes_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entry_changes_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.build_runs_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.build_runs_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.vector_outbox_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.vector_outbox_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entities_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entities_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entity_aliases_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entity_aliases_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.edges_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.edges_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entity_events_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.entity_events_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.promotions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.promotions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.checks_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.checks_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.decisions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.decisions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.decision_evidence_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.decision_evidence_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.conflicts_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.conflicts_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.conflict_resolutions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.conflict_resolutions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.claims_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.claims_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.graduated_sessions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.graduated_sessions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.facts_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.facts_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.facts_skipped_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.facts_skipped_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.records_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.records_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.core_versions_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.core_versions_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.dreams_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.dreams_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.memory_files_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.memory_files_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.usage_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.usage_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.judged_pairs_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.judged_pairs_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.profile_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.profile_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.memory_cleared_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.memory_cleared_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.erasing_raw TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.erasing_raw_local TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.erasure_secrets TO axiommind_eraser;

GRANT ON CLUSTER memory ALTER DELETE, OPTIMIZE ON axiom.erasure_secrets_local TO axiommind_eraser;

GRANT ON CLUSTER memory CLUSTER, REMOTE, SYSTEM SYNC REPLICA ON *.* TO axiommind_eraser;

