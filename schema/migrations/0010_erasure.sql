-- What an erasure deletes from the log: rows of events, or whole streams, which have the position 0. It is empty but while an
-- erasure is at work. The mutation of the log reads it, also after the server was started again.
CREATE TABLE IF NOT EXISTS erasing_raw
(
    erasure_id String,
    stream     String,
    seq        UInt64,
    event_id   String,
    -- Of the row that is deleted. What takes its place has another one.
    checksum   String
)
ENGINE = ReplacingMergeTree
ORDER BY (erasure_id, stream, seq, event_id, checksum)
SETTINGS old_parts_lifetime = 1;

-- Keys and fingerprints of erasures that have not ended, under which the content of erased texts is looked for. No event holds them,
-- and no role but the eraser's reads them. They are deleted once a check has found nothing. Old parts go at once, so a merge must be on
-- the disk before.
CREATE TABLE IF NOT EXISTS erasure_secrets
(
    erasure_id String,
    key        String,
    -- The keyed hash of what is erased.
    scope      String,
    -- In hexadecimal digits.
    prints     String,
    sampled    Bool,
    made_at    DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = ReplacingMergeTree
PARTITION BY erasure_id
ORDER BY (erasure_id, made_at, key)
SETTINGS old_parts_lifetime = 0, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1;
