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
    confidence   Nullable(Float64),
    -- The entry that states the decision, by which repeats of one are found.
    statement_id String,
    build_id     String,
    event_id     String,
    created_at   DateTime64(6, 'UTC'),
    version      UInt64,
    INDEX idx_statement statement_id TYPE bloom_filter(0.001) GRANULARITY 1
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
    CONSTRAINT verified_evidence CHECK evidence_stage IN ('verified', 'certified'),
    INDEX idx_evidence evidence_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, decision_id, id)
SETTINGS index_granularity = 256;

-- The constraint takes the writer's word. A decision rests only on entries that the ledger of promotions has as verified,
-- and on tasks that one of these states.
CREATE OR REPLACE VIEW decision_evidence AS
WITH verified AS (SELECT project, entry_id FROM promotions_raw WHERE to_stage IN ('verified', 'certified'))
SELECT * EXCEPT (version) FROM decision_evidence_raw FINAL
WHERE evidence_kind = 'entry' AND (project, evidence_id) IN (SELECT project, entry_id FROM verified)
   OR evidence_kind = 'entity' AND (project, evidence_id) IN
      (SELECT project, dst_id FROM edges_raw WHERE rel_type = 'evidence_of' AND (project, src_id) IN (SELECT project, entry_id FROM verified));

-- The decisions that rest on something, and their outcome: whether all of it still stands, or else what became of it. It is
-- read from the entries and tasks, which change long after the decision was recorded.
CREATE OR REPLACE VIEW decisions AS
SELECT d.project AS project, d.user AS user, d.agent AS agent, d.decision_id AS decision_id, d.ts AS ts, d.actor AS actor,
       d.action AS action, o.outcome_json AS outcome_json, d.confidence AS confidence, d.build_id AS build_id,
       d.event_id AS event_id, d.created_at AS created_at
FROM decisions_raw AS d FINAL
INNER JOIN (
    SELECT e.project AS project, e.decision_id AS decision_id,
           arraySort(groupArrayIf(
               CAST((e.role, e.evidence_kind, e.evidence_id, s.status, s.stage, s.superseded_by, s.ended_because, s.ended_by),
                    'Tuple(role String, kind String, id String, status String, stage String, superseded_by String, because String, by String)'),
               s.status != 'active' OR s.stage NOT IN ('verified', 'certified'))) AS fell,
           toJSONString(CAST((if(empty(fell), 'stands', 'in question'), fell),
               'Tuple(state String, changes Array(Tuple(role String, kind String, id String, status String, stage String, superseded_by String, because String, by String)))')) AS outcome_json
    FROM decision_evidence AS e
    LEFT JOIN (
        SELECT project, entry_id AS id, status, stage, superseded_by, ended_because, ended_by FROM entries
        UNION ALL
        -- The stage of a task is that of the best entry which states it and is believed.
        SELECT t.project AS project, t.entity_id AS id, any(t.status) AS status,
               ['', 'verified', 'certified'][1 + maxIf(indexOf(['verified', 'certified'], n.stage), n.status IN ('active', 'contested'))] AS stage,
               '' AS superseded_by, '' AS ended_because, '' AS ended_by
        FROM entities AS t
        INNER JOIN (SELECT project, src_id, dst_id FROM edges_raw WHERE rel_type = 'evidence_of') AS g ON g.project = t.project AND g.dst_id = t.entity_id
        INNER JOIN entries AS n ON n.project = g.project AND n.entry_id = g.src_id
        GROUP BY t.project, t.entity_id
    ) AS s ON s.project = e.project AND s.id = e.evidence_id
    GROUP BY e.project, e.decision_id
) AS o ON o.project = d.project AND o.decision_id = d.decision_id;

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
