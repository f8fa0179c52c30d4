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
    -- Whether somebody has said that it is done, and nobody has confirmed it.
    reported_done    Bool,
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

-- What each task waits for in the end: a condition or a merged task that resolves to
-- something stands for that, through chains of up to 32. A path ends where it would enter a circle;
-- its last member is then the blocker.
CREATE OR REPLACE VIEW v_task_blockers_effective AS
WITH RECURSIVE
    resolved AS (SELECT project, src_id, dst_id FROM edges WHERE rel_type = 'resolves_to'),
    chains AS
    (
        SELECT project, src_id, dst_id, [src_id, dst_id] AS path
        FROM resolved
        UNION ALL
        SELECT c.project, c.src_id, r.dst_id, arrayPushBack(c.path, r.dst_id)
        FROM chains AS c
        INNER JOIN resolved AS r ON r.project = c.project AND r.src_id = c.dst_id
        WHERE NOT has(c.path, r.dst_id) AND length(c.path) <= 32
    ),
    ends AS
    (
        SELECT project, src_id, argMax(path, length(path)) AS path
        FROM chains
        GROUP BY project, src_id
    )
SELECT b.project AS project, b.src_id AS task_id, b.dst_id AS blocker_id,
       if(empty(e.path), b.dst_id, e.path[-1]) AS effective_id,
       if(empty(e.path), 0, length(e.path) - 1) AS hops,
       b.meta_json AS meta_json, b.created_at AS created_at
FROM edges AS b
LEFT JOIN ends AS e ON e.project = b.project AND e.src_id = b.dst_id
WHERE b.rel_type = 'blocked_by';
