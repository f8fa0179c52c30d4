-- The ledgers of graduation: projections of their events.
CREATE TABLE IF NOT EXISTS decisions_raw
(
    decision_id  String,
    ts           DateTime64(6, 'UTC'),
    actor        LowCardinality(String),
    action       String,
    outcome_json String,
    confidence   Nullable(Float64),
    build_id     String,
    created_at   DateTime64(6, 'UTC'),
    version      UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY decision_id;

CREATE OR REPLACE VIEW decisions AS
SELECT * EXCEPT (version) FROM decisions_raw FINAL;

CREATE TABLE IF NOT EXISTS decision_evidence_raw
(
    id             String,
    decision_id    String,
    evidence_kind  LowCardinality(String),
    evidence_id    String,
    evidence_stage LowCardinality(String),
    role           LowCardinality(String),
    version        UInt64,
    CONSTRAINT verified_evidence CHECK evidence_stage IN ('verified', 'certified')
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (decision_id, id);

CREATE OR REPLACE VIEW decision_evidence AS
SELECT * EXCEPT (version) FROM decision_evidence_raw FINAL;

CREATE TABLE IF NOT EXISTS conflicts_raw
(
    conflict_id   String,
    older_id      String,
    newer_id      String,
    conflict_type LowCardinality(String),
    reason        String,
    detected_at   DateTime64(6, 'UTC'),
    resolved_at   Nullable(DateTime64(6, 'UTC')),
    resolution    String,
    resolved_by   String,
    version       UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY conflict_id;

CREATE OR REPLACE VIEW conflicts AS
SELECT * EXCEPT (version) FROM conflicts_raw FINAL;
