CREATE TABLE IF NOT EXISTS events_raw_local ON CLUSTER memory
(
    `event_id` String,
    `stream` String,
    `seq` UInt64,
    `event_type` LowCardinality(String),
    `ts` DateTime64(6, 'UTC'),
    `actor` LowCardinality(String),
    `session_id` String,
    `project` LowCardinality(String),
    `build_id` String,
    `dedupe_key` String,
    `payload_json` String CODEC(ZSTD(3)),
    `payload_bytes` UInt32,
    `payload_redacted` String CODEC(ZSTD(1)),
    `sensitivity` LowCardinality(String),
    `checksum` String,
    `recorded_at` DateTime64(6, 'UTC'),
    `precedence` UInt64,
    `heading` String CODEC(ZSTD(1)),
    `message_index` String CODEC(ZSTD(1)),
    PROJECTION by_id
    (
        SELECT
            event_id,
            stream,
            seq,
            precedence
        ORDER BY event_id
    ) WITH SETTINGS (index_granularity = 128)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', precedence)
ORDER BY (stream, seq, event_id)
SETTINGS index_granularity = 256, replicated_deduplication_window_seconds = 604800, replicated_deduplication_window = 10000, deduplicate_merge_projection_mode = 'rebuild', old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS events_raw ON CLUSTER memory AS events_raw_local
ENGINE = Distributed('memory', 'axiom', 'events_raw_local', cityHash64(stream));

CREATE OR REPLACE VIEW events_displaced ON CLUSTER memory
AS SELECT
    place.1 AS stream,
    place.2 AS seq,
    event_id
FROM
(
    SELECT
        event_id,
        groupArray((stream, seq)) AS places,
        argMin((stream, seq), (bitNot(first), stream, seq)) AS kept
    FROM
    (
        SELECT
            event_id,
            stream,
            seq,
            max(precedence) AS first
        FROM events_raw
        WHERE event_id IN (
            SELECT event_id
            FROM events_raw
            GROUP BY event_id
            HAVING count() > 1
        )
        GROUP BY
            event_id,
            stream,
            seq
    )
    WHERE first != 18446744073709551615
    GROUP BY event_id
)
ARRAY JOIN places AS place
WHERE place != kept;

CREATE OR REPLACE VIEW events ON CLUSTER memory
AS SELECT
    event_id,
    ts,
    event_type,
    actor,
    session_id,
    payload_json,
    payload_redacted,
    sensitivity,
    checksum,
    build_id,
    recorded_at AS created_at,
    stream,
    seq,
    dedupe_key,
    project,
    recorded_at
FROM events_raw
FINAL
WHERE precedence != 18446744073709551615;

CREATE OR REPLACE VIEW event_dedup ON CLUSTER memory
AS SELECT
    dedupe_key,
    event_id,
    ts,
    event_type
FROM events;

CREATE TABLE IF NOT EXISTS projection_offsets_raw_local ON CLUSTER memory
(
    `projector_name` LowCardinality(String),
    `stream` String,
    `last_seq` UInt64,
    `last_ts` DateTime64(6, 'UTC'),
    `last_event_id` String,
    `generation` UInt64,
    `version` UInt32
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', last_seq)
ORDER BY (projector_name, stream, generation)
SETTINGS replicated_deduplication_window = 0, old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS projection_offsets_raw ON CLUSTER memory AS projection_offsets_raw_local
ENGINE = Distributed('memory', 'axiom', 'projection_offsets_raw_local', cityHash64(stream));

CREATE OR REPLACE VIEW projection_offsets ON CLUSTER memory
AS SELECT
    projector_name,
    stream,
    last_seq,
    last_ts,
    last_event_id
FROM projection_offsets_raw
FINAL
WHERE (stream != '') AND ((projector_name, generation) IN (
    SELECT
        projector_name,
        max(generation)
    FROM projection_offsets_raw
    GROUP BY projector_name
));

CREATE TABLE IF NOT EXISTS entries_raw_local ON CLUSTER memory
(
    `entry_id` String,
    `created_ts` DateTime64(6, 'UTC'),
    `entry_type` LowCardinality(String),
    `title` String,
    `content_json` String CODEC(ZSTD(1)),
    `stage` LowCardinality(String),
    `status` LowCardinality(String),
    `build_id` String,
    `evidence_json` String CODEC(ZSTD(1)),
    `evidence_aligned` Bool,
    `evidence_proven` Bool,
    `evidence_rule` UInt32,
    `canonical_key` String,
    `title_key` String MATERIALIZED substring(if(entry_type = 'task_note', replaceRegexpOne(canonical_key, '@[^@]*$', ''), canonical_key), length(entry_type) + 2),
    `project` LowCardinality(String),
    `user` LowCardinality(String),
    `agent` LowCardinality(String),
    `session_id` String,
    `stream` String,
    `event_id` String,
    `created_at` DateTime64(6, 'UTC'),
    `version` UInt64,
    INDEX idx_title title_key TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_entry_id entry_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_session session_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, entry_id)
SETTINGS replicated_deduplication_window = 0, index_granularity = 256;

CREATE TABLE IF NOT EXISTS entries_raw ON CLUSTER memory AS entries_raw_local
ENGINE = Distributed('memory', 'axiom', 'entries_raw_local', cityHash64(project));

CREATE TABLE IF NOT EXISTS entry_changes_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `entry_id` String,
    `kind` LowCardinality(String),
    `ref` String,
    `extracted_index` UInt32,
    `own` Bool,
    `evidence_json` String CODEC(ZSTD(1)),
    `evidence_aligned` Bool,
    `evidence_proven` Bool,
    `evidence_rule` UInt32,
    `status` LowCardinality(String),
    `stage` LowCardinality(String),
    `demotes` Bool,
    `other_id` String,
    `because` String,
    `by` String,
    `user` LowCardinality(String),
    `agent` LowCardinality(String),
    `session_id` String,
    `build_id` String,
    `stream` String,
    `event_id` String,
    `created_at` DateTime64(6, 'UTC'),
    `version` UInt64,
    INDEX idx_other other_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, entry_id, kind, ref, extracted_index)
SETTINGS replicated_deduplication_window = 0, index_granularity = 256;

CREATE TABLE IF NOT EXISTS entry_changes_raw ON CLUSTER memory AS entry_changes_raw_local
ENGINE = Distributed('memory', 'axiom', 'entry_changes_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW entries ON CLUSTER memory
AS WITH
    (o.own_judged OR (o.best > (e.evidence_proven, e.evidence_aligned))) AS judged,
    if(judged, o.best.2, e.evidence_aligned) AS is_aligned,
    if(judged, o.best.1, e.evidence_proven) AS is_proven,
    ['raw', 'working', 'candidate', 'verified', 'certified'] AS ladder,
    indexOf(ladder, multiIf(NOT judged, e.stage, is_aligned, 'working', 'raw')) AS own_rank,
    if(is_aligned, greatest(own_rank, indexOf(ladder, o.session_stage)), own_rank) AS session_rank,
    multiIf(o.graduate_stage = '', session_rank, o.demoted, least(session_rank, indexOf(ladder, o.graduate_stage)), greatest(session_rank, indexOf(ladder, o.graduate_stage))) AS rank
SELECT
    e.entry_id AS entry_id,
    e.created_ts AS created_ts,
    e.entry_type AS entry_type,
    e.title AS title,
    e.content_json AS content_json,
    ladder[least(rank, multiIf(NOT is_aligned, own_rank, NOT is_proven, 3, o.conflicts > 0, 4, 5))] AS stage,
    multiIf((o.graduate_status NOT IN ('', 'active')), o.graduate_status, (o.session_status NOT IN ('', 'active')), o.session_status, (o.session_status = '') AND (e.status != 'active'), e.status, o.conflicts > 0, 'contested', 'active') AS status,
    if((o.graduate_status NOT IN ('', 'active')), o.graduate_other, o.superseded_by) AS superseded_by,
    multiIf((o.graduate_status NOT IN ('', 'active')), o.graduate_at, (o.session_status NOT IN ('', 'active')), o.session_status_at, toDateTime64(0, 6, 'UTC')) AS ended_at,
    if((o.graduate_status NOT IN ('', 'active')), o.graduate_because, '') AS ended_because,
    if((o.graduate_status NOT IN ('', 'active')), o.graduate_by, '') AS ended_by,
    o.original_id AS original_id,
    o.conflicts AS conflicts,
    e.build_id AS build_id,
    if(judged, o.best_json, e.evidence_json) AS evidence_json,
    is_aligned AS evidence_aligned,
    is_proven AS evidence_proven,
    if(judged, o.best_rule, e.evidence_rule) AS evidence_rule,
    if(judged, o.best_session, e.session_id) AS evidence_session_id,
    if(judged, o.best_event, e.event_id) AS evidence_event_id,
    e.canonical_key AS canonical_key,
    e.project AS project,
    e.user AS user,
    e.agent AS agent,
    e.session_id AS session_id,
    e.stream AS stream,
    e.event_id AS event_id,
    e.created_at AS created_at
FROM entries_raw AS e
FINAL
LEFT JOIN
(
    WITH
        (kind != 'evidence', NOT evidence_proven, NOT evidence_aligned, NOT own, ref, extracted_index) AS place
    SELECT
        project,
        user,
        agent,
        entry_id,
        maxIf(status, kind = 'status') AS session_status,
        maxIf(other_id, kind = 'status') AS superseded_by,
        maxIf(created_at, kind = 'status') AS session_status_at,
        maxIf(stage, kind = 'stage') AS session_stage,
        maxIf(stage, kind = 'graduate_stage') AS graduate_stage,
        maxIf(demotes, kind = 'graduate_stage') AS demoted,
        maxIf(status, kind = 'graduate_status') AS graduate_status,
        maxIf(other_id, kind = 'graduate_status') AS graduate_other,
        maxIf(because, kind = 'graduate_status') AS graduate_because,
        maxIf(by, kind = 'graduate_status') AS graduate_by,
        maxIf(created_at, kind = 'graduate_status') AS graduate_at,
        maxIf(other_id, kind = 'link') AS original_id,
        countIf((kind = 'conflict') AND (status = 'contested')) AS conflicts,
        max(own) AS own_judged,
        max(((kind = 'evidence') AND evidence_proven, (kind = 'evidence') AND evidence_aligned)) AS best,
        argMin(evidence_json, place) AS best_json,
        argMin(evidence_rule, place) AS best_rule,
        argMin(session_id, place) AS best_session,
        argMin(event_id, place) AS best_event
    FROM entry_changes_raw
    FINAL
    GROUP BY
        project,
        user,
        agent,
        entry_id
) AS o ON (o.project = e.project) AND (o.entry_id = e.entry_id) AND (o.user = e.user) AND (o.agent = e.agent);

CREATE TABLE IF NOT EXISTS build_runs_raw_local ON CLUSTER memory
(
    `build_id` String,
    `session_id` SimpleAggregateFunction(max, String),
    `ordinal` SimpleAggregateFunction(max, UInt32),
    `project` SimpleAggregateFunction(max, LowCardinality(String)),
    `user` SimpleAggregateFunction(max, LowCardinality(String)),
    `agent` SimpleAggregateFunction(max, LowCardinality(String)),
    `started_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
    `finished_at` SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC'))),
    `extractor_model` SimpleAggregateFunction(max, LowCardinality(String)),
    `extractor_prompt_hash` SimpleAggregateFunction(max, LowCardinality(String)),
    `embedder_model` SimpleAggregateFunction(max, LowCardinality(String)),
    `embedding_version` SimpleAggregateFunction(max, LowCardinality(String)),
    `idris_version` SimpleAggregateFunction(max, LowCardinality(String)),
    `schema_version` SimpleAggregateFunction(max, LowCardinality(String)),
    `status` SimpleAggregateFunction(max, LowCardinality(String)),
    `failed_step` SimpleAggregateFunction(max, LowCardinality(String)),
    `error` SimpleAggregateFunction(max, String),
    `error_type` SimpleAggregateFunction(max, LowCardinality(String)),
    `source_json` SimpleAggregateFunction(max, String),
    `counts_json` SimpleAggregateFunction(max, String),
    `usage_json` SimpleAggregateFunction(max, String),
    `metrics_json` SimpleAggregateFunction(max, String)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (build_id)
SETTINGS replicated_deduplication_window = 0, index_granularity = 128;

CREATE TABLE IF NOT EXISTS build_runs_raw ON CLUSTER memory AS build_runs_raw_local
ENGINE = Distributed('memory', 'axiom', 'build_runs_raw_local', cityHash64(build_id));

CREATE OR REPLACE VIEW build_runs ON CLUSTER memory
AS SELECT * EXCEPT metrics_json REPLACE (if(status = '', 'running', status) AS status, if(counts_json = '', '{}', counts_json) AS counts_json, if(usage_json = '', '{}', usage_json) AS usage_json)
FROM build_runs_raw
FINAL;

CREATE OR REPLACE VIEW pipeline_metrics ON CLUSTER memory
AS SELECT
    concat(build_id, '/', step.1) AS id,
    parseDateTime64BestEffort(step.2, 6, 'UTC') AS ts,
    step.1 AS stage,
    step.3 AS latency_ms,
    step.4 AS success,
    step.5 AS error,
    session_id,
    build_id,
    toString(project) AS project
FROM build_runs_raw
FINAL
ARRAY JOIN JSONExtract(metrics_json, 'Array(Tuple(step String, started_at String, latency_ms Float64, success Bool, error String))') AS step
UNION ALL
SELECT
    concat(event_id, '/', step.1) AS id,
    parseDateTime64BestEffort(step.2, 6, 'UTC') AS ts,
    concat(splitByChar('_', toString(event_type))[1], '/', step.1) AS stage,
    step.3 AS latency_ms,
    step.4 AS success,
    step.5 AS error,
    '' AS session_id,
    build_id,
    '' AS project
FROM events
ARRAY JOIN JSONExtract(payload_json, 'metrics', 'Array(Tuple(step String, started_at String, latency_ms Float64, success Bool, error String))') AS step
WHERE ((event_type = 'dream_finished') AND startsWith(stream, 'memory/')) OR ((event_type = 'rebuild_finished') AND startsWith(stream, 'rebuild/'))
UNION ALL
SELECT
    concat(event_id, '/commit') AS id,
    ts,
    'dream/commit' AS stage,
    greatest(0, dateDiff('microsecond', ts, recorded_at) / 1000) AS latency_ms,
    true AS success,
    '' AS error,
    '' AS session_id,
    build_id,
    '' AS project
FROM events
WHERE (event_type = 'dream_finished') AND startsWith(stream, 'memory/')
UNION ALL
SELECT
    concat(event_id, '/close') AS id,
    ts,
    if((build_id IN (
        SELECT build_id
        FROM build_runs_raw
        WHERE status = 'failed'
    )), 'fail_build', 'close_build') AS stage,
    greatest(0, dateDiff('microsecond', ts, recorded_at) / 1000) AS latency_ms,
    true AS success,
    '' AS error,
    session_id,
    build_id,
    toString(project) AS project
FROM events
WHERE event_type = 'build_finished'
UNION ALL
SELECT
    concat(stream, '/', toString(at)) AS id,
    at AS ts,
    'graduation' AS stage,
    greatest(0, dateDiff('microsecond', at, max(recorded_at)) / 1000) AS latency_ms,
    true AS success,
    '' AS error,
    '' AS session_id,
    if(uniqExact(build_id) = 1, any(build_id), '') AS build_id,
    any(toString(project)) AS project
FROM
(
    SELECT
        stream,
        ts AS at,
        recorded_at,
        build_id,
        project
    FROM events
    WHERE startsWith(stream, 'graduate/') AND (actor = 'graduation') AND (event_type != 'decision_recorded')
)
GROUP BY
    stream,
    at;

CREATE TABLE IF NOT EXISTS vector_outbox_raw_local ON CLUSTER memory
(
    `job_id` String,
    `item_kind` LowCardinality(String),
    `item_id` String,
    `embedding_version` LowCardinality(String),
    `project` LowCardinality(String),
    `status` LowCardinality(String),
    `error` String,
    `attempts` UInt32,
    `permanent` Bool,
    `content_hash` String,
    `build_id` String,
    `created_at` DateTime64(6, 'UTC'),
    `updated_at` DateTime64(6, 'UTC'),
    `urgency` Int64,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (embedding_version, job_id)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS vector_outbox_raw ON CLUSTER memory AS vector_outbox_raw_local
ENGINE = Distributed('memory', 'axiom', 'vector_outbox_raw_local', cityHash64(embedding_version));

CREATE OR REPLACE VIEW vector_outbox ON CLUSTER memory
AS SELECT * EXCEPT version
FROM vector_outbox_raw
FINAL;

CREATE TABLE IF NOT EXISTS entities_raw_local ON CLUSTER memory
(
    `entity_id` String,
    `entity_type` LowCardinality(String),
    `project` LowCardinality(String),
    `canonical_key` String,
    `title` String,
    `stage` LowCardinality(String),
    `status` LowCardinality(String),
    `task_status` LowCardinality(String),
    `reported_done` Bool,
    `priority` LowCardinality(String),
    `auto_placeholder` Bool,
    `current_json` String CODEC(ZSTD(1)),
    `title_norm` String,
    `search_text` String,
    `created_at` DateTime64(6, 'UTC'),
    `updated_at` DateTime64(6, 'UTC'),
    `version` UInt64,
    INDEX idx_search search_text TYPE text(tokenizer = 'splitByString') GRANULARITY 100000000,
    INDEX idx_type entity_type TYPE set(4) GRANULARITY 1,
    INDEX idx_task_status task_status TYPE set(8) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, entity_id)
SETTINGS replicated_deduplication_window = 0, index_granularity = 512;

CREATE TABLE IF NOT EXISTS entities_raw ON CLUSTER memory AS entities_raw_local
ENGINE = Distributed('memory', 'axiom', 'entities_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW entities ON CLUSTER memory
AS SELECT * EXCEPT version
FROM entities_raw
FINAL;

CREATE TABLE IF NOT EXISTS entity_aliases_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `entity_type` LowCardinality(String),
    `canonical_key` String,
    `entity_id` String,
    `is_primary` Bool,
    `created_at` DateTime64(6, 'UTC'),
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, canonical_key)
SETTINGS replicated_deduplication_window = 0, index_granularity = 512;

CREATE TABLE IF NOT EXISTS entity_aliases_raw ON CLUSTER memory AS entity_aliases_raw_local
ENGINE = Distributed('memory', 'axiom', 'entity_aliases_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW entity_aliases ON CLUSTER memory
AS SELECT * EXCEPT version
FROM entity_aliases_raw
FINAL;

CREATE TABLE IF NOT EXISTS edges_raw_local ON CLUSTER memory
(
    `edge_id` String,
    `project` LowCardinality(String),
    `src_type` LowCardinality(String),
    `src_id` String,
    `rel_type` LowCardinality(String),
    `dst_type` LowCardinality(String),
    `dst_id` String,
    `meta_json` String CODEC(ZSTD(1)),
    `created_at` DateTime64(6, 'UTC'),
    `removed` Bool,
    `version` UInt64,
    INDEX idx_dst dst_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_rel rel_type TYPE set(8) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, src_id, rel_type, dst_id)
SETTINGS replicated_deduplication_window = 0, index_granularity = 512;

CREATE TABLE IF NOT EXISTS edges_raw ON CLUSTER memory AS edges_raw_local
ENGINE = Distributed('memory', 'axiom', 'edges_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW edges ON CLUSTER memory
AS SELECT * EXCEPT (version, removed)
FROM edges_raw
FINAL
WHERE NOT removed;

CREATE TABLE IF NOT EXISTS entity_events_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `entity_id` String,
    `seq` UInt64,
    `event_id` String,
    `event_type` LowCardinality(String),
    `ts` DateTime64(6, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (project, entity_id, seq)
SETTINGS replicated_deduplication_window = 0, index_granularity = 512;

CREATE TABLE IF NOT EXISTS entity_events_raw ON CLUSTER memory AS entity_events_raw_local
ENGINE = Distributed('memory', 'axiom', 'entity_events_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW entity_events ON CLUSTER memory
AS SELECT *
FROM entity_events_raw
FINAL;

CREATE OR REPLACE VIEW v_task_blockers_effective ON CLUSTER memory
AS WITH RECURSIVE
    resolved AS
    (
        SELECT
            project,
            src_id,
            dst_id
        FROM edges
        WHERE rel_type = 'resolves_to'
    ),
    chains AS
    (
        SELECT
            project,
            src_id,
            dst_id,
            [src_id, dst_id] AS path
        FROM resolved
        UNION ALL
        SELECT
            c.project,
            c.src_id,
            r.dst_id,
            arrayPushBack(c.path, r.dst_id)
        FROM chains AS c
        INNER JOIN resolved AS r ON (r.project = c.project) AND (r.src_id = c.dst_id)
        WHERE (NOT has(c.path, r.dst_id)) AND (length(c.path) <= 32)
    ),
    ends AS
    (
        SELECT
            project,
            src_id,
            argMax(path, length(path)) AS path
        FROM chains
        GROUP BY
            project,
            src_id
    )
SELECT
    b.project AS project,
    b.src_id AS task_id,
    b.dst_id AS blocker_id,
    if(empty(e.path), b.dst_id, e.path[-1]) AS effective_id,
    if(empty(e.path), 0, length(e.path) - 1) AS hops,
    b.meta_json AS meta_json,
    b.created_at AS created_at
FROM edges AS b
LEFT JOIN ends AS e ON (e.project = b.project) AND (e.src_id = b.dst_id)
WHERE b.rel_type = 'blocked_by';

CREATE TABLE IF NOT EXISTS promotions_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `entry_id` String,
    `event_id` String,
    `ts` DateTime64(6, 'UTC'),
    `from_stage` LowCardinality(String),
    `to_stage` LowCardinality(String),
    `demotes` Bool,
    `policy` UInt32,
    `verifier` LowCardinality(String),
    `checked_event_id` String,
    `actor` String,
    `reasons` Array(String),
    `sources` Array(String),
    `user` LowCardinality(String),
    `agent` LowCardinality(String),
    `stream` String,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, entry_id, event_id, to_stage)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS promotions_raw ON CLUSTER memory AS promotions_raw_local
ENGINE = Distributed('memory', 'axiom', 'promotions_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW promotions ON CLUSTER memory
AS SELECT * EXCEPT version
FROM promotions_raw
FINAL;

CREATE TABLE IF NOT EXISTS checks_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `user` LowCardinality(String),
    `agent` LowCardinality(String),
    `session_id` String,
    `event_id` String,
    `ts` DateTime64(6, 'UTC'),
    `module` String,
    `entries` UInt32,
    `status` LowCardinality(String),
    `idris_version` LowCardinality(String),
    `verifier` LowCardinality(String),
    `failures_json` String CODEC(ZSTD(1)),
    `reason` String,
    `build_id` String,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, user, agent, session_id, event_id)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS checks_raw ON CLUSTER memory AS checks_raw_local
ENGINE = Distributed('memory', 'axiom', 'checks_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW checks ON CLUSTER memory
AS SELECT * EXCEPT version
FROM checks_raw
FINAL;

CREATE TABLE IF NOT EXISTS decisions_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `user` LowCardinality(String),
    `agent` LowCardinality(String),
    `decision_id` String,
    `ts` DateTime64(6, 'UTC'),
    `actor` String,
    `action` String,
    `confidence` Nullable(Float64),
    `statement_id` String,
    `build_id` String,
    `event_id` String,
    `created_at` DateTime64(6, 'UTC'),
    `version` UInt64,
    INDEX idx_statement statement_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, decision_id)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS decisions_raw ON CLUSTER memory AS decisions_raw_local
ENGINE = Distributed('memory', 'axiom', 'decisions_raw_local', cityHash64(project));

CREATE TABLE IF NOT EXISTS decision_evidence_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `id` String,
    `decision_id` String,
    `evidence_kind` LowCardinality(String),
    `evidence_id` String,
    `evidence_stage` LowCardinality(String),
    `role` LowCardinality(String),
    `version` UInt64,
    INDEX idx_evidence evidence_id TYPE bloom_filter(0.001) GRANULARITY 1,
    CONSTRAINT verified_evidence CHECK evidence_stage IN ('verified', 'certified')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, decision_id, id)
SETTINGS replicated_deduplication_window = 0, index_granularity = 256;

CREATE TABLE IF NOT EXISTS decision_evidence_raw ON CLUSTER memory AS decision_evidence_raw_local
ENGINE = Distributed('memory', 'axiom', 'decision_evidence_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW decision_evidence ON CLUSTER memory
AS WITH
    verified AS
    (
        SELECT
            project,
            entry_id
        FROM promotions_raw
        WHERE to_stage IN ('verified', 'certified')
    )
SELECT * EXCEPT version
FROM decision_evidence_raw
FINAL
WHERE ((evidence_kind = 'entry') AND ((project, evidence_id) IN (
    SELECT
        project,
        entry_id
    FROM verified
))) OR ((evidence_kind = 'entity') AND ((project, evidence_id) IN (
    SELECT
        project,
        dst_id
    FROM edges_raw
    WHERE (rel_type = 'evidence_of') AND ((project, src_id) IN (
        SELECT
            project,
            entry_id
        FROM verified
    ))
)));

CREATE OR REPLACE VIEW decisions ON CLUSTER memory
AS SELECT
    d.project AS project,
    d.user AS user,
    d.agent AS agent,
    d.decision_id AS decision_id,
    d.ts AS ts,
    d.actor AS actor,
    d.action AS action,
    o.outcome_json AS outcome_json,
    d.confidence AS confidence,
    d.build_id AS build_id,
    d.event_id AS event_id,
    d.created_at AS created_at
FROM decisions_raw AS d
FINAL
INNER JOIN
(
    SELECT
        e.project AS project,
        e.decision_id AS decision_id,
        arraySort(groupArrayIf(CAST((e.role, e.evidence_kind, e.evidence_id, s.status, s.stage, s.superseded_by, s.ended_because, s.ended_by), 'Tuple(role String, kind String, id String, status String, stage String, superseded_by String, because String, by String)'), (s.status != 'active') OR (s.stage NOT IN ('verified', 'certified')))) AS fell,
        toJSONString(CAST((if(empty(fell), 'stands', 'in question'), fell), 'Tuple(state String, changes Array(Tuple(role String, kind String, id String, status String, stage String, superseded_by String, because String, by String)))')) AS outcome_json
    FROM decision_evidence AS e
    LEFT JOIN
    (
        SELECT
            project,
            entry_id AS id,
            status,
            stage,
            superseded_by,
            ended_because,
            ended_by
        FROM entries
        UNION ALL
        SELECT
            t.project AS project,
            t.entity_id AS id,
            any(t.status) AS status,
            ['', 'verified', 'certified'][1 + maxIf(indexOf(['verified', 'certified'], n.stage), (n.status IN ('active', 'contested')))] AS stage,
            '' AS superseded_by,
            '' AS ended_because,
            '' AS ended_by
        FROM entities AS t
        INNER JOIN
        (
            SELECT
                project,
                src_id,
                dst_id
            FROM edges_raw
            WHERE rel_type = 'evidence_of'
        ) AS g ON (g.project = t.project) AND (g.dst_id = t.entity_id)
        INNER JOIN entries AS n ON (n.project = g.project) AND (n.entry_id = g.src_id)
        GROUP BY
            t.project,
            t.entity_id
    ) AS s ON (s.project = e.project) AND (s.id = e.evidence_id)
    GROUP BY
        e.project,
        e.decision_id
) AS o ON (o.project = d.project) AND (o.decision_id = d.decision_id);

CREATE TABLE IF NOT EXISTS conflicts_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `user` LowCardinality(String),
    `agent` LowCardinality(String),
    `conflict_id` String,
    `older_id` String,
    `newer_id` String,
    `conflict_type` LowCardinality(String),
    `reason` String,
    `detected_at` DateTime64(6, 'UTC'),
    `event_id` String,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, conflict_id)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS conflicts_raw ON CLUSTER memory AS conflicts_raw_local
ENGINE = Distributed('memory', 'axiom', 'conflicts_raw_local', cityHash64(project));

CREATE TABLE IF NOT EXISTS conflict_resolutions_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `conflict_id` String,
    `resolved_at` DateTime64(6, 'UTC'),
    `kept` String,
    `resolution` String,
    `resolved_by` String,
    `event_id` String,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, conflict_id)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS conflict_resolutions_raw ON CLUSTER memory AS conflict_resolutions_raw_local
ENGINE = Distributed('memory', 'axiom', 'conflict_resolutions_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW conflicts ON CLUSTER memory
AS WITH
    r.version > c.version AS resolved
SELECT
    c.project AS project,
    c.user AS user,
    c.agent AS agent,
    c.conflict_id AS conflict_id,
    c.older_id AS older_id,
    c.newer_id AS newer_id,
    c.conflict_type AS conflict_type,
    c.reason AS reason,
    c.detected_at AS detected_at,
    if(resolved, r.resolved_at, NULL) AS resolved_at,
    if(resolved, r.kept, '') AS kept,
    if(resolved, r.resolution, '') AS resolution,
    if(resolved, r.resolved_by, '') AS resolved_by
FROM conflicts_raw AS c
FINAL
LEFT JOIN
(
    SELECT *
    FROM conflict_resolutions_raw
    FINAL
) AS r ON (r.project = c.project) AND (r.conflict_id = c.conflict_id);

CREATE TABLE IF NOT EXISTS claims_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `user` LowCardinality(String),
    `agent` LowCardinality(String),
    `claim_key` String,
    `entry_id` String,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, user, agent, claim_key, entry_id)
SETTINGS replicated_deduplication_window = 0, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS claims_raw ON CLUSTER memory AS claims_raw_local
ENGINE = Distributed('memory', 'axiom', 'claims_raw_local', cityHash64(project));

CREATE TABLE IF NOT EXISTS graduated_sessions_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `stream` String,
    `seq` UInt64,
    `head` UInt64,
    `policy` UInt32,
    `rule` UInt32,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, stream)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS graduated_sessions_raw ON CLUSTER memory AS graduated_sessions_raw_local
ENGINE = Distributed('memory', 'axiom', 'graduated_sessions_raw_local', cityHash64(stream));

CREATE TABLE IF NOT EXISTS facts_raw_local ON CLUSTER memory
(
    `fact_id` String,
    `user` String,
    `agent` String,
    `project` LowCardinality(String),
    `content` String,
    `content_key` String,
    `category` LowCardinality(String),
    `confidence` Float64,
    `source_error` String,
    `said_by` LowCardinality(String),
    `status` LowCardinality(String),
    `actor` LowCardinality(String),
    `session_id` String,
    `entry_id` String,
    `created_at` DateTime64(6, 'UTC'),
    `created_seq` UInt64,
    `updated_at` DateTime64(6, 'UTC'),
    `gone_at` Nullable(DateTime64(6, 'UTC')),
    `gone_reason` String,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (user, agent, fact_id)
SETTINGS replicated_deduplication_window = 0, index_granularity = 512;

CREATE TABLE IF NOT EXISTS facts_raw ON CLUSTER memory AS facts_raw_local
ENGINE = Distributed('memory', 'axiom', 'facts_raw_local', cityHash64(user));

CREATE OR REPLACE VIEW facts ON CLUSTER memory
AS SELECT * EXCEPT (version, gone_at, gone_reason)
FROM facts_raw
FINAL
WHERE status = 'active';

CREATE OR REPLACE VIEW facts_gone ON CLUSTER memory
AS SELECT * EXCEPT version
FROM facts_raw
FINAL
WHERE status != 'active';

CREATE TABLE IF NOT EXISTS facts_skipped_raw_local ON CLUSTER memory
(
    `user` String,
    `agent` String,
    `seq` UInt64,
    `event_id` String,
    `ts` DateTime64(6, 'UTC'),
    `project` LowCardinality(String),
    `session_id` String,
    `entry_id` String,
    `skipped` LowCardinality(String),
    `detail` String,
    `content` String,
    `category` LowCardinality(String),
    `confidence` Nullable(Float64),
    `duplicate_of` String,
    INDEX idx_entry_id entry_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (user, agent, seq)
SETTINGS replicated_deduplication_window = 0, index_granularity = 512;

CREATE TABLE IF NOT EXISTS facts_skipped_raw ON CLUSTER memory AS facts_skipped_raw_local
ENGINE = Distributed('memory', 'axiom', 'facts_skipped_raw_local', cityHash64(user));

CREATE OR REPLACE VIEW facts_skipped ON CLUSTER memory
AS SELECT *
FROM facts_skipped_raw
FINAL;

CREATE TABLE IF NOT EXISTS records_raw_local ON CLUSTER memory
(
    `user` String,
    `agent` String,
    `kind` LowCardinality(String),
    `date` String,
    `seq` UInt64,
    `event_id` String,
    `ts` DateTime64(6, 'UTC'),
    `actor` LowCardinality(String),
    `edited` Bool,
    `text` String CODEC(ZSTD(3)),
    `text_sha256` String,
    `text_bytes` UInt64,
    `read_sha256` String,
    `reason` LowCardinality(String),
    `clock` String,
    `project` LowCardinality(String),
    `session_id` String,
    `build_id` String,
    `first_message` Int64,
    `last_message` Int64,
    `summarizer` LowCardinality(String),
    `left_out_json` String
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (user, agent, kind, date, seq)
SETTINGS replicated_deduplication_window = 0, index_granularity = 256;

CREATE TABLE IF NOT EXISTS records_raw ON CLUSTER memory AS records_raw_local
ENGINE = Distributed('memory', 'axiom', 'records_raw_local', cityHash64(user));

CREATE OR REPLACE VIEW daily_records ON CLUSTER memory
AS SELECT * EXCEPT kind
FROM records_raw
FINAL
WHERE kind = 'daily';

CREATE TABLE IF NOT EXISTS core_versions_raw_local ON CLUSTER memory
(
    `user` String,
    `agent` String,
    `version` UInt32,
    `seq` UInt64,
    `event_id` String,
    `ts` DateTime64(6, 'UTC'),
    `actor` LowCardinality(String),
    `request_id` String,
    `parent` UInt32,
    `origin` LowCardinality(String),
    `reason` String,
    `text` String CODEC(ZSTD(3)),
    `read_sha256` String,
    `items_json` String CODEC(ZSTD(3)),
    `item_hashes` Array(UInt64) MATERIALIZED arrayMap(i -> sipHash64(JSONExtractString(i, 'text')), JSONExtractArrayRaw(items_json)),
    `diff` String CODEC(ZSTD(3)),
    `dropped_json` String CODEC(ZSTD(3)),
    `dream` UInt32,
    `restored` UInt32
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (user, agent, version)
SETTINGS replicated_deduplication_window = 0, index_granularity = 64;

CREATE TABLE IF NOT EXISTS core_versions_raw ON CLUSTER memory AS core_versions_raw_local
ENGINE = Distributed('memory', 'axiom', 'core_versions_raw_local', cityHash64(user));

CREATE OR REPLACE VIEW core_versions ON CLUSTER memory
AS SELECT *
FROM core_versions_raw
FINAL;

CREATE OR REPLACE VIEW core_memory ON CLUSTER memory
AS SELECT *
FROM core_versions_raw
FINAL
ORDER BY
    user ASC,
    agent ASC,
    version DESC
LIMIT 1 BY
    user,
    agent;

CREATE TABLE IF NOT EXISTS dreams_raw_local ON CLUSTER memory
(
    `user` String,
    `agent` String,
    `ordinal` UInt32,
    `seq` UInt64,
    `event_id` String,
    `ts` DateTime64(6, 'UTC'),
    `date` String,
    `status` LowCardinality(String),
    `reason` String,
    `parent` UInt32,
    `version` UInt32,
    `diary` String CODEC(ZSTD(3)),
    `days` Array(String) CODEC(ZSTD(3)),
    `day_hashes` Array(String) CODEC(ZSTD(3)),
    `gathered` String,
    `model` LowCardinality(String),
    `responses` Array(String) CODEC(ZSTD(3)),
    `carried` UInt32,
    `left_out` UInt32,
    `dropped_json` String CODEC(ZSTD(3)),
    `usage_json` String
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (user, agent, ordinal)
SETTINGS replicated_deduplication_window = 0, index_granularity = 64;

CREATE TABLE IF NOT EXISTS dreams_raw ON CLUSTER memory AS dreams_raw_local
ENGINE = Distributed('memory', 'axiom', 'dreams_raw_local', cityHash64(user));

CREATE OR REPLACE VIEW dreams ON CLUSTER memory
AS SELECT *
FROM dreams_raw
FINAL;

CREATE TABLE IF NOT EXISTS memory_files_raw_local ON CLUSTER memory
(
    `root` String,
    `user` String,
    `agent` String,
    `path` String,
    `sha256` String,
    `seq` UInt64,
    `listed` String,
    `written_at` DateTime64(6, 'UTC'),
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (root, user, agent, path)
SETTINGS replicated_deduplication_window = 0, index_granularity = 64, old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS memory_files_raw ON CLUSTER memory AS memory_files_raw_local
ENGINE = Distributed('memory', 'axiom', 'memory_files_raw_local', cityHash64(root));

CREATE TABLE IF NOT EXISTS usage_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `entry_id` String,
    `stream` LowCardinality(String),
    `seq` UInt64 CODEC(Delta, ZSTD(1)),
    `ts` DateTime64(6, 'UTC'),
    `means` LowCardinality(String),
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, entry_id, stream, seq)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS usage_raw ON CLUSTER memory AS usage_raw_local
ENGINE = Distributed('memory', 'axiom', 'usage_raw_local', cityHash64(stream));

CREATE OR REPLACE VIEW usage ON CLUSTER memory
AS SELECT
    project,
    entry_id,
    count() AS retrievals,
    min(ts) AS first_at,
    max(ts) AS last_at
FROM usage_raw
FINAL
GROUP BY
    project,
    entry_id;

ALTER TABLE conflicts_raw_local ON CLUSTER memory
    (ADD COLUMN IF NOT EXISTS `model` LowCardinality(String) AFTER reason);

ALTER TABLE conflicts_raw ON CLUSTER memory
    (ADD COLUMN IF NOT EXISTS `model` LowCardinality(String) AFTER reason);

CREATE OR REPLACE VIEW conflicts ON CLUSTER memory
AS WITH
    r.version > c.version AS resolved
SELECT
    c.project AS project,
    c.user AS user,
    c.agent AS agent,
    c.conflict_id AS conflict_id,
    c.older_id AS older_id,
    c.newer_id AS newer_id,
    c.conflict_type AS conflict_type,
    c.reason AS reason,
    c.detected_at AS detected_at,
    if(resolved, r.resolved_at, NULL) AS resolved_at,
    if(resolved, r.kept, '') AS kept,
    if(resolved, r.resolution, '') AS resolution,
    if(resolved, r.resolved_by, '') AS resolved_by,
    c.model AS model
FROM conflicts_raw AS c
FINAL
LEFT JOIN
(
    SELECT *
    FROM conflict_resolutions_raw
    FINAL
) AS r ON (r.project = c.project) AND (r.conflict_id = c.conflict_id);

CREATE TABLE IF NOT EXISTS judged_pairs_raw_local ON CLUSTER memory
(
    `project` LowCardinality(String),
    `user` LowCardinality(String),
    `agent` LowCardinality(String),
    `pair_id` String,
    `older_id` String,
    `newer_id` String,
    `model` LowCardinality(String),
    `prompt` LowCardinality(String),
    `verdict` LowCardinality(String),
    `reason` String CODEC(ZSTD(1)),
    `ts` DateTime64(6, 'UTC'),
    `event_id` String,
    `version` UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version)
ORDER BY (project, pair_id, model, prompt)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS judged_pairs_raw ON CLUSTER memory AS judged_pairs_raw_local
ENGINE = Distributed('memory', 'axiom', 'judged_pairs_raw_local', cityHash64(project));

CREATE OR REPLACE VIEW judged_pairs ON CLUSTER memory
AS SELECT * EXCEPT version
FROM judged_pairs_raw
FINAL;

CREATE TABLE IF NOT EXISTS profile_raw_local ON CLUSTER memory
(
    `user` String,
    `agent` String,
    `section` LowCardinality(String),
    `seq` UInt64,
    `summary` String,
    `confidence` Float64,
    `project` LowCardinality(String),
    `actor` LowCardinality(String),
    `session_id` String,
    `entry_id` String,
    `ts` DateTime64(6, 'UTC'),
    `event_id` String
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (user, agent, section, seq)
SETTINGS replicated_deduplication_window = 0, index_granularity = 512;

CREATE TABLE IF NOT EXISTS profile_raw ON CLUSTER memory AS profile_raw_local
ENGINE = Distributed('memory', 'axiom', 'profile_raw_local', cityHash64(user));

CREATE OR REPLACE VIEW profile ON CLUSTER memory
AS SELECT
    user,
    agent,
    section,
    argMax(p.summary, (p.ts, p.seq)) AS summary,
    argMax(p.entry_id, (p.ts, p.seq)) AS entry_id,
    max(p.seq) AS version
FROM profile_raw AS p
GROUP BY
    user,
    agent,
    section
HAVING summary != '';

CREATE TABLE IF NOT EXISTS memory_cleared_raw_local ON CLUSTER memory
(
    `user` String,
    `agent` String,
    `seq` UInt64,
    `ts` DateTime64(6, 'UTC'),
    `actor` LowCardinality(String),
    `reason` String,
    `facts` UInt64,
    `sections` UInt64,
    `event_id` String
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (user, agent, seq)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS memory_cleared_raw ON CLUSTER memory AS memory_cleared_raw_local
ENGINE = Distributed('memory', 'axiom', 'memory_cleared_raw_local', cityHash64(user));

ALTER TABLE facts_skipped_raw_local ON CLUSTER memory
    (ADD COLUMN IF NOT EXISTS `section` LowCardinality(String) AFTER duplicate_of);

ALTER TABLE facts_skipped_raw ON CLUSTER memory
    (ADD COLUMN IF NOT EXISTS `section` LowCardinality(String) AFTER duplicate_of);

ALTER TABLE facts_skipped_raw_local ON CLUSTER memory
    (ADD COLUMN IF NOT EXISTS `fact_id` String AFTER section);

ALTER TABLE facts_skipped_raw ON CLUSTER memory
    (ADD COLUMN IF NOT EXISTS `fact_id` String AFTER section);

CREATE OR REPLACE VIEW facts_skipped ON CLUSTER memory
AS SELECT *
FROM facts_skipped_raw
FINAL;

CREATE TABLE IF NOT EXISTS erasing_raw_local ON CLUSTER memory
(
    `erasure_id` String,
    `stream` String,
    `seq` UInt64,
    `event_id` String,
    `checksum` String
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (erasure_id, stream, seq, event_id, checksum)
SETTINGS replicated_deduplication_window = 0, old_parts_lifetime = 1;

CREATE TABLE IF NOT EXISTS erasing_raw ON CLUSTER memory AS erasing_raw_local
ENGINE = Distributed('memory', 'axiom', 'erasing_raw_local', cityHash64(stream));

CREATE TABLE IF NOT EXISTS erasure_secrets_local ON CLUSTER memory
(
    `erasure_id` String,
    `key` String,
    `scope` String,
    `prints` String,
    `sampled` Bool,
    `made_at` DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY erasure_id
ORDER BY (erasure_id, made_at, key)
SETTINGS replicated_deduplication_window = 0, old_parts_lifetime = 0, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS erasure_secrets ON CLUSTER memory AS erasure_secrets_local
ENGINE = Distributed('memory', 'axiom', 'erasure_secrets_local', cityHash64(erasure_id));

