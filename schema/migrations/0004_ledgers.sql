-- The ledgers of graduation: projections of its events. A row's version is the position of its event in its stream.
CREATE TABLE IF NOT EXISTS promotions_raw
(
    project          LowCardinality(String),
    entry_id         String,
    event_id         String,
    ts               DateTime64(6, 'UTC'),
    from_stage       LowCardinality(String),
    to_stage         LowCardinality(String),
    demotes          Bool,
    policy           UInt32,
    -- Which verifier stood behind it, and the check that it rests on, where it needed a proof.
    verifier         LowCardinality(String),
    checked_event_id String,
    actor            String,
    reasons          Array(String),
    sources          Array(String),
    user             LowCardinality(String),
    agent            LowCardinality(String),
    stream           String,
    version          UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, entry_id, event_id, to_stage);

CREATE OR REPLACE VIEW promotions AS
SELECT * EXCEPT (version) FROM promotions_raw FINAL;

-- The checks of sessions' modules by the verifiers.
CREATE TABLE IF NOT EXISTS checks_raw
(
    project       LowCardinality(String),
    user          LowCardinality(String),
    agent         LowCardinality(String),
    session_id    String,
    event_id      String,
    ts            DateTime64(6, 'UTC'),
    module        String,
    entries       UInt32,
    status        LowCardinality(String),
    idris_version LowCardinality(String),
    verifier      LowCardinality(String),
    failures_json String CODEC(ZSTD(1)),
    reason        String,
    build_id      String,
    version       UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, user, agent, session_id, event_id);

CREATE OR REPLACE VIEW checks AS
SELECT * EXCEPT (version) FROM checks_raw FINAL;

CREATE TABLE IF NOT EXISTS decisions_raw
(
    project      LowCardinality(String),
    user         LowCardinality(String),
    agent        LowCardinality(String),
    decision_id  String,
    ts           DateTime64(6, 'UTC'),
    actor        String,
    action       String,
    outcome_json String,
    confidence   Nullable(Float64),
    build_id     String,
    event_id     String,
    created_at   DateTime64(6, 'UTC'),
    version      UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, decision_id);

CREATE TABLE IF NOT EXISTS decision_evidence_raw
(
    project        LowCardinality(String),
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
ORDER BY (project, decision_id, id);

-- The constraint takes the writer's word. What a decision rests on is only what the ledger of promotions has as verified.
CREATE OR REPLACE VIEW decision_evidence AS
SELECT * EXCEPT (version) FROM decision_evidence_raw FINAL
WHERE (project, evidence_id) IN
    (SELECT project, entry_id FROM promotions_raw WHERE to_stage IN ('verified', 'certified'));

-- Those that rest on something.
CREATE OR REPLACE VIEW decisions AS
SELECT * EXCEPT (version) FROM decisions_raw FINAL
WHERE (project, decision_id) IN (SELECT project, decision_id FROM decision_evidence);

CREATE TABLE IF NOT EXISTS conflicts_raw
(
    project       LowCardinality(String),
    user          LowCardinality(String),
    agent         LowCardinality(String),
    conflict_id   String,
    older_id      String,
    newer_id      String,
    conflict_type LowCardinality(String),
    reason        String,
    detected_at   DateTime64(6, 'UTC'),
    event_id      String,
    version       UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, conflict_id);

CREATE TABLE IF NOT EXISTS conflict_resolutions_raw
(
    project     LowCardinality(String),
    conflict_id String,
    resolved_at DateTime64(6, 'UTC'),
    kept        String,
    resolution  String,
    resolved_by String,
    event_id    String,
    version     UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, conflict_id);

-- A conflict is open if it was detected after it was last resolved. Both stand in one stream.
CREATE OR REPLACE VIEW conflicts AS
WITH r.version > c.version AS resolved
SELECT c.project AS project, c.user AS user, c.agent AS agent, c.conflict_id AS conflict_id, c.older_id AS older_id,
       c.newer_id AS newer_id, c.conflict_type AS conflict_type, c.reason AS reason, c.detected_at AS detected_at,
       if(resolved, r.resolved_at, NULL) AS resolved_at, if(resolved, r.kept, '') AS kept,
       if(resolved, r.resolution, '') AS resolution, if(resolved, r.resolved_by, '') AS resolved_by
FROM conflicts_raw AS c FINAL
LEFT JOIN (SELECT * FROM conflict_resolutions_raw FINAL) AS r ON r.project = c.project AND r.conflict_id = c.conflict_id;

-- What statements are found by that may conflict with one or say the same: see activities/graduate/pair.
CREATE TABLE IF NOT EXISTS claims_raw
(
    project   LowCardinality(String),
    user      LowCardinality(String),
    agent     LowCardinality(String),
    claim_key String,
    entry_id  String,
    version   UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, user, agent, claim_key, entry_id)
SETTINGS index_granularity = 1024;

-- How far graduation has considered each session, and with it its own stream.
CREATE TABLE IF NOT EXISTS graduated_sessions_raw
(
    project LowCardinality(String),
    stream  String,
    seq     UInt64,
    head    UInt64,
    policy  UInt32,
    rule    UInt32,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, stream);
