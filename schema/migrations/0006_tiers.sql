-- Projections of the memory streams: daily records, the versions of core memory, and dreams. A row is a function of
-- one event.

-- What the dated files are made of. kind is of the file, daily or diary. An edit holds the whole file as a person left
-- it, and what follows is added to that.
CREATE TABLE IF NOT EXISTS records_raw
(
    user          String,
    agent         String,
    kind          LowCardinality(String),
    date          String,
    seq           UInt64,
    event_id      String,
    ts            DateTime64(6, 'UTC'),
    actor         LowCardinality(String),
    edited        Bool,
    -- The whole file of an edit, the diary of a dream, or the summary of a flush, which is empty if there was nothing
    -- to record.
    text          String CODEC(ZSTD(3)),
    -- So that what a day holds can be told without reading texts. The hash is in hex.
    text_sha256   String,
    text_bytes    UInt64,
    -- Of an edit: that of the file as it was read, in hex.
    read_sha256   String,
    -- Of a flush.
    reason        LowCardinality(String),
    clock         String,
    project       LowCardinality(String),
    session_id    String,
    build_id      String,
    first_message Int64,
    last_message  Int64,
    summarizer    LowCardinality(String),
    left_out_json String
)
ENGINE = ReplacingMergeTree
ORDER BY (user, agent, kind, date, seq)
SETTINGS index_granularity = 256;

CREATE OR REPLACE VIEW daily_records AS
SELECT * EXCEPT kind FROM records_raw FINAL WHERE kind = 'daily';

CREATE TABLE IF NOT EXISTS core_versions_raw
(
    user         String,
    agent        String,
    version      UInt32,
    seq          UInt64,
    event_id     String,
    ts           DateTime64(6, 'UTC'),
    actor        LowCardinality(String),
    request_id   String,
    parent       UInt32,
    origin       LowCardinality(String),
    reason       String,
    text         String CODEC(ZSTD(3)),
    -- Of an edit: that of the file as it was read, in hex.
    read_sha256  String,
    items_json   String CODEC(ZSTD(3)),
    -- So that two versions are compared without reading their items.
    item_hashes  Array(UInt64) MATERIALIZED arrayMap(i -> sipHash64(JSONExtractString(i, 'text')), JSONExtractArrayRaw(items_json)),
    diff         String CODEC(ZSTD(3)),
    dropped_json String CODEC(ZSTD(3)),
    dream        UInt32,
    restored     UInt32
)
ENGINE = ReplacingMergeTree
ORDER BY (user, agent, version)
SETTINGS index_granularity = 64;

CREATE OR REPLACE VIEW core_versions AS SELECT * FROM core_versions_raw FINAL;

-- What each agent remembers at present.
CREATE OR REPLACE VIEW core_memory AS
SELECT * FROM core_versions_raw FINAL ORDER BY user, agent, version DESC LIMIT 1 BY user, agent;

CREATE TABLE IF NOT EXISTS dreams_raw
(
    user           String,
    agent          String,
    ordinal        UInt32,
    seq            UInt64,
    event_id       String,
    ts             DateTime64(6, 'UTC'),
    date           String,
    status         LowCardinality(String),
    reason         String,
    parent         UInt32,
    version        UInt32,
    diary          String CODEC(ZSTD(3)),
    -- What was read: days and, at the same places, their hashes.
    days           Array(String) CODEC(ZSTD(3)),
    day_hashes     Array(String) CODEC(ZSTD(3)),
    gathered       String,
    model          LowCardinality(String),
    responses      Array(String) CODEC(ZSTD(3)),
    carried        UInt32,
    left_out       UInt32,
    dropped_json   String CODEC(ZSTD(3)),
    usage_json     String
)
ENGINE = ReplacingMergeTree
ORDER BY (user, agent, ordinal)
SETTINGS index_granularity = 64;

CREATE OR REPLACE VIEW dreams AS SELECT * FROM dreams_raw FINAL;

-- What the program wrote to the files of the memory last. It is no projection: it tells a file that is behind the log
-- from one that a person set back.
CREATE TABLE IF NOT EXISTS memory_files_raw
(
    root       String,
    user       String,
    agent      String,
    path       String,
    -- Of the whole file, in hex. Empty if there was nothing to write.
    sha256     String,
    -- The position of the last event that the file shows.
    seq        UInt64,
    -- What the listing said of the file before it was read with this hash. Empty if that is not known.
    listed     String,
    written_at DateTime64(6, 'UTC'),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (root, user, agent, path)
SETTINGS index_granularity = 64, old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1;
