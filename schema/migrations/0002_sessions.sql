-- Projections of what process_session writes. A row's version is the position in its stream of the
-- event it was made from, so that a projection done again, or in parts, ends in the same rows.
CREATE TABLE IF NOT EXISTS entries_raw
(
    entry_id         String,
    created_ts       DateTime64(6, 'UTC'),
    entry_type       LowCardinality(String),
    title            String,
    content_json     String CODEC(ZSTD(1)),
    stage            LowCardinality(String),
    status           LowCardinality(String),
    build_id         String,
    evidence_json    String CODEC(ZSTD(1)),
    evidence_aligned Bool,
    evidence_proven  Bool,
    -- The version of the rule of proof that judged the evidence.
    evidence_rule    UInt32,
    canonical_key    String,
    -- The title's part of the key. The place of a task note, which follows it, holds no "@".
    title_key        String MATERIALIZED substring(
        if(entry_type = 'task_note', replaceRegexpOne(canonical_key, '@[^@]*$', ''), canonical_key), length(entry_type) + 2),
    project          LowCardinality(String),
    user             LowCardinality(String),
    agent            LowCardinality(String),
    session_id       String,
    stream           String,
    event_id         String,
    created_at       DateTime64(6, 'UTC'),
    version          UInt64,
    INDEX idx_title title_key TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_entry_id entry_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_session session_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, entry_id)
SETTINGS index_granularity = 256;

-- What was said of an entry after it was made. All rows with the same kind and ref stand in one stream, so that versions
-- of different streams never meet:
--   evidence        what the evidence of an extracted entry was judged to be: by a newer rule of proof, or because the
--                   entry was stated again, in its own session or another one; or what a person or a model found stated.
--                   ref is the extracted entry's event, or the one that tells who found it
--   status, stage   by a build of the entry's own session
--   graduate_status, graduate_stage   by graduation, which knows all sessions
--   link            other_id is the oldest entry that says the same, or empty if none does any longer
--   conflict        ref is the conflict; the status is contested until it is resolved
--   answer          ref is the event of a person or a model that was asked whether the entry is stated; other_id is the
--                   model's answer, empty for a person's
CREATE TABLE IF NOT EXISTS entry_changes_raw
(
    project          LowCardinality(String),
    entry_id         String,
    kind             LowCardinality(String),
    ref              String,
    extracted_index  UInt32,
    -- Of the origin that the entry was made of.
    own              Bool,
    evidence_json    String CODEC(ZSTD(1)),
    evidence_aligned Bool,
    evidence_proven  Bool,
    evidence_rule    UInt32,
    status           LowCardinality(String),
    stage            LowCardinality(String),
    -- The stage is one above which no check of the session lifts the entry.
    demotes          Bool,
    -- The entry that takes this one's place, that says the same, or that is the other side of a conflict.
    other_id         String,
    because          String,
    -- Who said so: a person's name, a model, or empty for the pipeline.
    by               String,
    -- Of the session that the evidence is of. They are the entry's own in all other rows.
    user             LowCardinality(String),
    agent            LowCardinality(String),
    session_id       String,
    -- The build, or the run that no build caused: see events.
    build_id         String,
    stream           String,
    event_id         String,
    created_at       DateTime64(6, 'UTC'),
    version          UInt64,
    INDEX idx_other other_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, entry_id, kind, ref, extracted_index)
SETTINGS index_granularity = 256;

-- An entry with the best evidence by the last judgement of each of its origins. What it was made with
-- counts until that is judged again, and goes before others that are no better. evidence_session_id and
-- evidence_event_id name the session whose messages the evidence is of, and the event that tells of it.
--
-- The stage is the higher one of its session's and of graduation's, or the lower one after a demotion. Whatever was
-- promoted, only what is proven is verified, and only what no open conflict contests is certified.
CREATE OR REPLACE VIEW entries AS
WITH (o.own_judged OR o.best > (e.evidence_proven, e.evidence_aligned)) AS judged,
     if(judged, o.best.2, e.evidence_aligned) AS is_aligned,
     if(judged, o.best.1, e.evidence_proven) AS is_proven,
     ['raw', 'working', 'candidate', 'verified', 'certified'] AS ladder,
     indexOf(ladder, multiIf(NOT judged, e.stage, is_aligned, 'working', 'raw')) AS own_rank,
     if(is_aligned, greatest(own_rank, indexOf(ladder, o.session_stage)), own_rank) AS session_rank,
     multiIf(o.graduate_stage = '', session_rank,
             o.demoted, least(session_rank, indexOf(ladder, o.graduate_stage)),
             greatest(session_rank, indexOf(ladder, o.graduate_stage))) AS rank
SELECT e.entry_id AS entry_id, e.created_ts AS created_ts, e.entry_type AS entry_type, e.title AS title,
       e.content_json AS content_json,
       ladder[least(rank, multiIf(NOT is_aligned, own_rank, NOT is_proven, 3, o.conflicts > 0, 4, 5))] AS stage,
       multiIf(o.graduate_status NOT IN ('', 'active'), o.graduate_status,
               o.session_status NOT IN ('', 'active'), o.session_status,
               o.session_status = '' AND e.status != 'active', e.status,
               o.conflicts > 0, 'contested', 'active') AS status,
       if(o.graduate_status NOT IN ('', 'active'), o.graduate_other, o.superseded_by) AS superseded_by,
       -- When the entry ceased to be believed, why, and who said so: empty while it is.
       multiIf(o.graduate_status NOT IN ('', 'active'), o.graduate_at,
               o.session_status NOT IN ('', 'active'), o.session_status_at, toDateTime64(0, 6, 'UTC')) AS ended_at,
       if(o.graduate_status NOT IN ('', 'active'), o.graduate_because, '') AS ended_because,
       if(o.graduate_status NOT IN ('', 'active'), o.graduate_by, '') AS ended_by,
       -- The oldest entry that says the same, empty if this one is.
       o.original_id AS original_id,
       o.conflicts AS conflicts,
       e.build_id AS build_id,
       if(judged, o.best_json, e.evidence_json) AS evidence_json,
       is_aligned AS evidence_aligned,
       is_proven AS evidence_proven,
       if(judged, o.best_rule, e.evidence_rule) AS evidence_rule,
       if(judged, o.best_session, e.session_id) AS evidence_session_id,
       if(judged, o.best_event, e.event_id) AS evidence_event_id,
       e.canonical_key AS canonical_key, e.project AS project, e.user AS user, e.agent AS agent,
       e.session_id AS session_id, e.stream AS stream, e.event_id AS event_id, e.created_at AS created_at
FROM entries_raw AS e FINAL
LEFT JOIN (
    -- Of each entry the best of its judgements: proven before aligned, its own origin's before others'. A view of its own
    -- would cost each query two milliseconds more of planning.
    WITH (kind != 'evidence', NOT evidence_proven, NOT evidence_aligned, NOT own, ref, extracted_index) AS place
    SELECT project, user, agent, entry_id,
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
           countIf(kind = 'conflict' AND status = 'contested') AS conflicts,
           max(own) AS own_judged,
           max((kind = 'evidence' AND evidence_proven, kind = 'evidence' AND evidence_aligned)) AS best,
           argMin(evidence_json, place) AS best_json,
           argMin(evidence_rule, place) AS best_rule,
           argMin(session_id, place) AS best_session,
           argMin(event_id, place) AS best_event
    FROM entry_changes_raw FINAL
    GROUP BY project, user, agent, entry_id
) AS o ON o.project = e.project AND o.entry_id = e.entry_id AND o.user = e.user AND o.agent = e.agent;

-- A row for the start of a build and one for its end, each with what its event tells and nothing else. The engine
-- makes one row of both: of each column the value that is not empty, which is the greater one.
CREATE TABLE IF NOT EXISTS build_runs_raw
(
    build_id              String,
    session_id            SimpleAggregateFunction(max, String),
    ordinal               SimpleAggregateFunction(max, UInt32),
    project               SimpleAggregateFunction(max, LowCardinality(String)),
    user                  SimpleAggregateFunction(max, LowCardinality(String)),
    agent                 SimpleAggregateFunction(max, LowCardinality(String)),
    started_at            SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
    finished_at           SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC'))),
    extractor_model       SimpleAggregateFunction(max, LowCardinality(String)),
    extractor_prompt_hash SimpleAggregateFunction(max, LowCardinality(String)),
    embedder_model        SimpleAggregateFunction(max, LowCardinality(String)),
    embedding_version     SimpleAggregateFunction(max, LowCardinality(String)),
    idris_version         SimpleAggregateFunction(max, LowCardinality(String)),
    schema_version        SimpleAggregateFunction(max, LowCardinality(String)),
    -- Empty until the build ends.
    status                SimpleAggregateFunction(max, LowCardinality(String)),
    failed_step           SimpleAggregateFunction(max, LowCardinality(String)),
    error                 SimpleAggregateFunction(max, String),
    error_type            SimpleAggregateFunction(max, LowCardinality(String)),
    source_json           SimpleAggregateFunction(max, String),
    counts_json           SimpleAggregateFunction(max, String),
    usage_json            SimpleAggregateFunction(max, String),
    metrics_json          SimpleAggregateFunction(max, String)
)
ENGINE = AggregatingMergeTree
ORDER BY (build_id)
SETTINGS index_granularity = 128;

CREATE OR REPLACE VIEW build_runs AS
SELECT * EXCEPT (metrics_json) REPLACE (
    if(status = '', 'running', status) AS status,
    if(counts_json = '', '{}', counts_json) AS counts_json,
    if(usage_json = '', '{}', usage_json) AS usage_json
)
FROM build_runs_raw FINAL;

-- The steps of the builds that ended, of dreams, of passes of graduation and of rebuilds. Only builds have a table: the
-- others are few, and read from their events. Their stages have a prefix. A pass has one stage, and no steps.
CREATE OR REPLACE VIEW pipeline_metrics AS
SELECT concat(build_id, '/', step.1) AS id, parseDateTime64BestEffort(step.2, 6, 'UTC') AS ts, step.1 AS stage,
       step.3 AS latency_ms, step.4 AS success, step.5 AS error, session_id, build_id, toString(project) AS project
FROM build_runs_raw FINAL
ARRAY JOIN JSONExtract(metrics_json,
    'Array(Tuple(step String, started_at String, latency_ms Float64, success Bool, error String))') AS step
UNION ALL
SELECT concat(event_id, '/', step.1) AS id, parseDateTime64BestEffort(step.2, 6, 'UTC') AS ts,
       concat(splitByChar('_', toString(event_type))[1], '/', step.1) AS stage,
       step.3 AS latency_ms, step.4 AS success, step.5 AS error, '' AS session_id, build_id, '' AS project
FROM events
ARRAY JOIN JSONExtract(payload_json, 'metrics',
    'Array(Tuple(step String, started_at String, latency_ms Float64, success Bool, error String))') AS step
WHERE event_type = 'dream_finished' AND startsWith(stream, 'memory/') OR event_type = 'rebuild_finished' AND startsWith(stream, 'rebuild/')
UNION ALL
SELECT concat(event_id, '/commit') AS id, ts, 'dream/commit' AS stage,
       greatest(0, dateDiff('microsecond', ts, recorded_at) / 1000) AS latency_ms, true AS success, '' AS error,
       '' AS session_id, build_id, '' AS project
FROM events WHERE event_type = 'dream_finished' AND startsWith(stream, 'memory/')
UNION ALL
-- What closes a build leaves its event alone: it begins at the event's time, and has done its work when the log takes it. The rows of
-- builds do not tell when that was, as a replay stores the same events at another time; but they tell which failed, without a payload.
SELECT concat(event_id, '/close') AS id, ts,
       if(build_id IN (SELECT build_id FROM build_runs_raw WHERE status = 'failed'), 'fail_build', 'close_build') AS stage,
       greatest(0, dateDiff('microsecond', ts, recorded_at) / 1000) AS latency_ms, true AS success, '' AS error,
       session_id, build_id, toString(project) AS project
FROM events WHERE event_type = 'build_finished'
UNION ALL
SELECT concat(stream, '/', toString(at)) AS id, at AS ts, 'graduation' AS stage,
       greatest(0, dateDiff('microsecond', at, max(recorded_at)) / 1000) AS latency_ms, true AS success, '' AS error,
       '' AS session_id, if(uniqExact(build_id) = 1, any(build_id), '') AS build_id, any(toString(project)) AS project
FROM (
    SELECT stream, ts AS at, recorded_at, build_id, project FROM events
    WHERE startsWith(stream, 'graduate/') AND actor = 'graduation' AND event_type != 'decision_recorded'
)
GROUP BY stream, at;

CREATE TABLE IF NOT EXISTS vector_outbox_raw
(
    job_id            String,
    item_kind         LowCardinality(String),
    item_id           String,
    embedding_version LowCardinality(String),
    project           LowCardinality(String),
    status            LowCardinality(String),
    error             String,
    attempts          UInt32,
    permanent         Bool,
    content_hash      String,
    -- The build that requested the item, or that had it requested again.
    build_id          String,
    created_at        DateTime64(6, 'UTC'),
    updated_at        DateTime64(6, 'UTC'),
    -- Pending rows are worked on from the highest: see Item.urgency.
    urgency           Int64,
    -- Rank of the status: an enqueue done again never hides what the writer did since.
    version           UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (embedding_version, job_id);

CREATE OR REPLACE VIEW vector_outbox AS
SELECT * EXCEPT (version) FROM vector_outbox_raw FINAL;
