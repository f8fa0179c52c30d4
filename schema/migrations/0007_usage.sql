-- Which entries were returned, by which event: its place in its stream tells it from others, in less space than its id.
CREATE TABLE IF NOT EXISTS usage_raw
(
    project  LowCardinality(String),
    entry_id String,
    stream   LowCardinality(String),
    seq      UInt64 CODEC(Delta, ZSTD(1)),
    ts       DateTime64(6, 'UTC'),
    -- What returned it: search or context.
    means    LowCardinality(String),
    version  UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, entry_id, stream, seq);

CREATE OR REPLACE VIEW usage AS
SELECT project, entry_id, count() AS retrievals, min(ts) AS first_at, max(ts) AS last_at
FROM usage_raw FINAL
GROUP BY project, entry_id;
