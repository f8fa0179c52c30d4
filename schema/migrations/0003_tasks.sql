-- Projections of the project streams: tasks, conditions and artifacts. A row is a function of its
-- entity's events up to the version, the position of the last of them in the project's stream.
-- Point reads prevail, so granules are small.
CREATE TABLE IF NOT EXISTS entities_raw
(
    entity_id        String,
    entity_type      LowCardinality(String),
    project          LowCardinality(String),
    canonical_key    String,
    title            String,
    stage            LowCardinality(String),
    status           LowCardinality(String),
    task_status      LowCardinality(String),
    priority         LowCardinality(String),
    auto_placeholder Bool,
    current_json     String CODEC(ZSTD(1)),
    title_norm       String,
    -- The words of the title, and pairs of characters of scripts that write no spaces.
    search_text      String,
    created_at       DateTime64(6, 'UTC'),
    updated_at       DateTime64(6, 'UTC'),
    version          UInt64,
    INDEX idx_search search_text TYPE text(tokenizer = 'splitByString'),
    INDEX idx_type entity_type TYPE set(4) GRANULARITY 1,
    INDEX idx_task_status task_status TYPE set(8) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, entity_id)
SETTINGS index_granularity = 512;

CREATE OR REPLACE VIEW entities AS
SELECT * EXCEPT (version) FROM entities_raw FINAL;

CREATE TABLE IF NOT EXISTS entity_aliases_raw
(
    project       LowCardinality(String),
    entity_type   LowCardinality(String),
    canonical_key String,
    entity_id     String,
    is_primary    Bool,
    created_at    DateTime64(6, 'UTC'),
    version       UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, canonical_key)
SETTINGS index_granularity = 512;

CREATE OR REPLACE VIEW entity_aliases AS
SELECT * EXCEPT (version) FROM entity_aliases_raw FINAL;

CREATE TABLE IF NOT EXISTS edges_raw
(
    edge_id    String,
    project    LowCardinality(String),
    src_type   LowCardinality(String),
    src_id     String,
    rel_type   LowCardinality(String),
    dst_type   LowCardinality(String),
    dst_id     String,
    meta_json  String CODEC(ZSTD(1)),
    created_at DateTime64(6, 'UTC'),
    -- Nothing is deleted: an edge that is no more has a newer row that says so.
    removed    Bool,
    version    UInt64,
    INDEX idx_dst dst_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_rel rel_type TYPE set(8) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, src_id, rel_type, dst_id)
SETTINGS index_granularity = 512;

CREATE OR REPLACE VIEW edges AS
SELECT * EXCEPT (version, removed) FROM edges_raw FINAL
WHERE NOT removed;

-- Which events an entity was folded from: its history, and how to fold it as of a time.
CREATE TABLE IF NOT EXISTS entity_events_raw
(
    project    LowCardinality(String),
    entity_id  String,
    seq        UInt64,
    event_id   String,
    event_type LowCardinality(String),
    ts         DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (project, entity_id, seq)
SETTINGS index_granularity = 512;

CREATE OR REPLACE VIEW entity_events AS
SELECT * FROM entity_events_raw FINAL;

-- What each blocked task waits for in the end: a condition or a merged task that resolves to
-- something stands for that, through chains of any length. A path ends where it would enter a
-- circle; its last member is then the blocker.
CREATE OR REPLACE VIEW v_task_blockers_effective AS
WITH RECURSIVE
    resolved AS (SELECT project, src_id, dst_id FROM edges WHERE rel_type = 'resolves_to'),
    expanded AS
    (
        SELECT project, src_id AS task_id, dst_id AS blocker_id, dst_id AS effective_id, [dst_id] AS path
        FROM edges
        WHERE rel_type = 'blocked_by'
        UNION ALL
        SELECT e.project, e.task_id, e.blocker_id, r.dst_id, arrayPushBack(e.path, r.dst_id)
        FROM expanded AS e
        INNER JOIN resolved AS r ON r.project = e.project AND r.src_id = e.effective_id
        WHERE NOT has(e.path, r.dst_id)
    )
SELECT project, task_id, blocker_id,
       argMax(effective_id, length(path)) AS effective_id, max(length(path)) - 1 AS hops
FROM expanded
GROUP BY project, task_id, blocker_id;
