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
