-- The model that found a conflict, or empty if the rule did.
ALTER TABLE conflicts_raw ADD COLUMN IF NOT EXISTS model LowCardinality(String) AFTER reason;

CREATE OR REPLACE VIEW conflicts AS
WITH r.version > c.version AS resolved
SELECT c.project AS project, c.user AS user, c.agent AS agent, c.conflict_id AS conflict_id, c.older_id AS older_id,
       c.newer_id AS newer_id, c.conflict_type AS conflict_type, c.reason AS reason, c.detected_at AS detected_at,
       if(resolved, r.resolved_at, NULL) AS resolved_at, if(resolved, r.kept, '') AS kept,
       if(resolved, r.resolution, '') AS resolution, if(resolved, r.resolved_by, '') AS resolved_by, c.model AS model
FROM conflicts_raw AS c FINAL
LEFT JOIN (SELECT * FROM conflict_resolutions_raw FINAL) AS r ON r.project = c.project AND r.conflict_id = c.conflict_id;

-- The pairs of entries that a model was asked about. The id of a pair is that of its conflict, whether there is one or not.
CREATE TABLE IF NOT EXISTS judged_pairs_raw
(
    project  LowCardinality(String),
    user     LowCardinality(String),
    agent    LowCardinality(String),
    pair_id  String,
    older_id String,
    newer_id String,
    model    LowCardinality(String),
    prompt   LowCardinality(String),
    verdict  LowCardinality(String),
    reason   String CODEC(ZSTD(1)),
    ts       DateTime64(6, 'UTC'),
    event_id String,
    version  UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, pair_id, model, prompt);

CREATE OR REPLACE VIEW judged_pairs AS
SELECT * EXCEPT (version) FROM judged_pairs_raw FINAL;
