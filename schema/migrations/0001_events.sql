-- The event log. Everything else is a projection of it. Rows are only ever inserted, every column
-- is computed by the client, and a batch is one block, so that an insert sent again is recognized.
CREATE TABLE IF NOT EXISTS events_raw
(
    event_id         String,
    stream           String,
    seq              UInt64,
    event_type       LowCardinality(String),
    ts               DateTime64(6, 'UTC'),
    actor            LowCardinality(String),
    session_id       String,
    project          LowCardinality(String),
    build_id         String,
    dedupe_key       String,
    payload_json     String CODEC(ZSTD(3)),
    payload_redacted String CODEC(ZSTD(1)),
    sensitivity      LowCardinality(String),
    checksum         String,
    recorded_at      DateTime64(6, 'UTC'),
    -- Of two copies of an event the one recorded first stays: ReplacingMergeTree keeps the highest.
    precedence       UInt64,
    INDEX idx_event_id event_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_type event_type TYPE set(64) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(precedence)
ORDER BY (stream, seq, event_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- What people and code read: no event twice.
CREATE OR REPLACE VIEW events AS
SELECT event_id, ts, event_type, actor, session_id, payload_json, payload_redacted, sensitivity,
       checksum, build_id, recorded_at AS created_at, stream, seq, dedupe_key, project, recorded_at
FROM events_raw FINAL;

CREATE OR REPLACE VIEW event_dedup AS
SELECT dedupe_key, event_id, ts, event_type
FROM events;

CREATE TABLE IF NOT EXISTS projection_offsets_raw
(
    projector_name LowCardinality(String),
    stream         String,
    last_seq       UInt64,
    last_ts        DateTime64(6, 'UTC'),
    last_event_id  String,
    -- Counts the rebuilds of the projector: the offset of a newer one wins whatever its last_seq.
    generation     UInt64
)
ENGINE = ReplacingMergeTree(last_seq)
ORDER BY (projector_name, stream, generation);

CREATE OR REPLACE VIEW projection_offsets AS
SELECT projector_name, stream, last_seq, last_ts, last_event_id
FROM projection_offsets_raw FINAL
ORDER BY projector_name, stream, generation DESC
LIMIT 1 BY projector_name, stream;
