-- Projections of the memory streams: the facts of a user and agent. A row is a function of its fact's
-- events up to the version, the position of the last of them in the stream.
CREATE TABLE IF NOT EXISTS facts_raw
(
    fact_id      String,
    user         String,
    agent        String,
    project      LowCardinality(String),
    content      String,
    -- What makes two contents the same fact.
    content_key  String,
    category     LowCardinality(String),
    confidence   Float64,
    source_error String,
    -- Who said it in the session: user or assistant. Empty where a person entered it.
    said_by      LowCardinality(String),
    status       LowCardinality(String),
    actor        LowCardinality(String),
    session_id   String,
    entry_id     String,
    created_at   DateTime64(6, 'UTC'),
    created_seq  UInt64,
    updated_at   DateTime64(6, 'UTC'),
    gone_at      Nullable(DateTime64(6, 'UTC')),
    gone_reason  String,
    version      UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (user, agent, fact_id)
SETTINGS index_granularity = 512;

CREATE OR REPLACE VIEW facts AS
SELECT * EXCEPT (version, gone_at, gone_reason) FROM facts_raw FINAL
WHERE status = 'active';

-- What was deleted, and what gave way to others.
CREATE OR REPLACE VIEW facts_gone AS
SELECT * EXCEPT (version) FROM facts_raw FINAL
WHERE status != 'active';

-- What was proposed and not stored, each with its reason.
CREATE TABLE IF NOT EXISTS facts_skipped_raw
(
    user         String,
    agent        String,
    seq          UInt64,
    event_id     String,
    ts           DateTime64(6, 'UTC'),
    project      LowCardinality(String),
    session_id   String,
    entry_id     String,
    skipped      LowCardinality(String),
    detail       String,
    content      String,
    category     LowCardinality(String),
    confidence   Nullable(Float64),
    duplicate_of String,
    INDEX idx_entry_id entry_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (user, agent, seq)
SETTINGS index_granularity = 512;

CREATE OR REPLACE VIEW facts_skipped AS
SELECT * FROM facts_skipped_raw FINAL;
