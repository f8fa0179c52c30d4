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
    superseded_by    String,
    build_id         String,
    evidence_json    String CODEC(ZSTD(1)),
    evidence_aligned Bool,
    canonical_key    String,
    project          LowCardinality(String),
    user             LowCardinality(String),
    agent            LowCardinality(String),
    session_id       String,
    stream           String,
    event_id         String,
    created_at       DateTime64(6, 'UTC'),
    version          UInt64,
    INDEX idx_entry_id entry_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_session session_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project, entry_id);

CREATE OR REPLACE VIEW entries AS
SELECT * EXCEPT (version) FROM entries_raw FINAL;

CREATE TABLE IF NOT EXISTS build_runs_raw
(
    build_id              String,
    session_id            String,
    ordinal               UInt32,
    project               LowCardinality(String),
    user                  LowCardinality(String),
    agent                 LowCardinality(String),
    started_at            DateTime64(6, 'UTC'),
    finished_at           Nullable(DateTime64(6, 'UTC')),
    extractor_model       LowCardinality(String),
    extractor_prompt_hash LowCardinality(String),
    embedder_model        LowCardinality(String),
    embedding_version     LowCardinality(String),
    idris_version         LowCardinality(String),
    schema_version        LowCardinality(String),
    status                LowCardinality(String),
    failed_step           LowCardinality(String),
    error                 String,
    source_json           String,
    counts_json           String,
    usage_json            String,
    version               UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (build_id);

CREATE OR REPLACE VIEW build_runs AS
SELECT * EXCEPT (version) FROM build_runs_raw FINAL;

CREATE TABLE IF NOT EXISTS pipeline_metrics_raw
(
    id         String,
    ts         DateTime64(6, 'UTC'),
    stage      LowCardinality(String),
    latency_ms Float64,
    success    Bool,
    error      String,
    session_id String,
    build_id   String
)
ENGINE = ReplacingMergeTree
ORDER BY (build_id, id);

CREATE OR REPLACE VIEW pipeline_metrics AS
SELECT * FROM pipeline_metrics_raw FINAL;

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
    created_at        DateTime64(6, 'UTC'),
    updated_at        DateTime64(6, 'UTC'),
    -- Rank of the status: an enqueue done again never hides what the writer did since.
    version           UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (embedding_version, job_id);

CREATE OR REPLACE VIEW vector_outbox AS
SELECT * EXCEPT (version) FROM vector_outbox_raw FINAL;
