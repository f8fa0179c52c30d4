-- Projections of the memory streams besides the facts: the profile of a user and agent, and when it all was forgotten.
-- Every summary that a section of the profile had: what was said last and is believed counts.
CREATE TABLE IF NOT EXISTS profile_raw
(
    user       String,
    agent      String,
    section    LowCardinality(String),
    seq        UInt64,
    -- Empty if a person removed the section.
    summary    String,
    confidence Float64,
    project    LowCardinality(String),
    actor      LowCardinality(String),
    session_id String,
    entry_id   String,
    -- When it was said.
    ts         DateTime64(6, 'UTC'),
    event_id   String
)
ENGINE = ReplacingMergeTree
ORDER BY (user, agent, section, seq)
SETTINGS index_granularity = 512;

-- What was said last of each section, believed or not: starter profile leaves out what is no longer believed.
CREATE OR REPLACE VIEW profile AS
SELECT user, agent, section, argMax(p.summary, (p.ts, p.seq)) AS summary, argMax(p.entry_id, (p.ts, p.seq)) AS entry_id,
       max(p.seq) AS version
FROM profile_raw AS p GROUP BY user, agent, section
HAVING summary != '';

CREATE TABLE IF NOT EXISTS memory_cleared_raw
(
    user     String,
    agent    String,
    seq      UInt64,
    ts       DateTime64(6, 'UTC'),
    actor    LowCardinality(String),
    reason   String,
    facts    UInt64,
    sections UInt64,
    event_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (user, agent, seq);

-- For which section of the profile a proposal was, or nothing if it was for a fact; and which fact was to be removed.
ALTER TABLE facts_skipped_raw ADD COLUMN IF NOT EXISTS section LowCardinality(String) AFTER duplicate_of;
ALTER TABLE facts_skipped_raw ADD COLUMN IF NOT EXISTS fact_id String AFTER section;

CREATE OR REPLACE VIEW facts_skipped AS
SELECT * FROM facts_skipped_raw FINAL;
