-- The event log. Everything else is a projection of it. Rows are only ever inserted. A batch is one block
-- with one deduplication token, and every column is computed by the client: the same batch gives the same rows.
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
    -- So that a reader can size its pages without reading payloads.
    payload_bytes    UInt32,
    payload_redacted String CODEC(ZSTD(1)),
    sensitivity      LowCardinality(String),
    checksum         String,
    recorded_at      DateTime64(6, 'UTC'),
    -- Of two rows at one place the one recorded first stays: ReplacingMergeTree keeps the highest. A row with the
    -- highest of all hides the place: its event is shown at another one.
    precedence       UInt64,
    -- Of session_ingested events, so that the messages wanted are found, and known ones recognized, without
    -- reading texts, both as JSON: the index of the first message, how many there are, whether one is a tool's, and an
    -- estimate of their tokens; and the keys and times of all. The client takes them from the payload. Columns that the server derives would
    -- cost each insert a fifth more.
    heading          String CODEC(ZSTD(1)),
    message_index    String CODEC(ZSTD(1)),
    -- Where an event is, by its id. Small granules: the ids of a batch are scattered over all of it.
    -- The table's are small too, or the optimizer would take reading all of it for cheaper.
    PROJECTION by_id
    (
        SELECT event_id, stream, seq, precedence ORDER BY event_id
    ) WITH SETTINGS (index_granularity = 128)
)
ENGINE = ReplacingMergeTree(precedence)
ORDER BY (stream, seq, event_id)
-- What a merge or an erasure has replaced goes at once: the part that replaces it is on the disk by then, not only in the kernel.
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 10000,
         deduplicate_merge_projection_mode = 'rebuild',
         old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1;

-- Copies of an event that stand elsewhere than the one recorded first and are not hidden yet. Appends leave none, unless
-- the server forgets their tokens and the writer dies. This view reads all ids, in the order of by_id.
CREATE OR REPLACE VIEW events_displaced AS
SELECT place.1 AS stream, place.2 AS seq, event_id
FROM
(
    SELECT event_id, groupArray((stream, seq)) AS places, argMin((stream, seq), (bitNot(first), stream, seq)) AS kept
    FROM
    (
        SELECT event_id, stream, seq, max(precedence) AS first
        FROM events_raw
        WHERE event_id IN (SELECT event_id FROM events_raw GROUP BY event_id HAVING count() > 1)
        GROUP BY event_id, stream, seq
    )
    WHERE first != 18446744073709551615
    GROUP BY event_id
)
ARRAY JOIN places AS place
WHERE place != kept;

-- What people and code read: no event twice.
CREATE OR REPLACE VIEW events AS
SELECT event_id, ts, event_type, actor, session_id, payload_json, payload_redacted, sensitivity,
       checksum, build_id, recorded_at AS created_at, stream, seq, dedupe_key, project, recorded_at
FROM events_raw FINAL
WHERE precedence != 18446744073709551615;

CREATE OR REPLACE VIEW event_dedup AS
SELECT dedupe_key, event_id, ts, event_type
FROM events;

CREATE TABLE IF NOT EXISTS projection_offsets_raw
(
    projector_name LowCardinality(String),
    -- Empty in the row that says which generation is current: last_seq is 1 once its tables are
    -- in place, and last_event_id is the id of the rebuild that they come from.
    stream         String,
    last_seq       UInt64,
    last_ts        DateTime64(6, 'UTC'),
    last_event_id  String,
    -- One life of the projector's tables, from when a rebuild puts them in place. The newest has the highest number;
    -- offsets of others count no more.
    generation     UInt64,
    -- Of the code that makes the rows.
    version        UInt32
)
ENGINE = ReplacingMergeTree(last_seq)
ORDER BY (projector_name, stream, generation)
SETTINGS old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1;

CREATE OR REPLACE VIEW projection_offsets AS
SELECT projector_name, stream, last_seq, last_ts, last_event_id
FROM projection_offsets_raw FINAL
WHERE stream != ''
  AND (projector_name, generation) IN
      (SELECT projector_name, max(generation) FROM projection_offsets_raw GROUP BY projector_name);
