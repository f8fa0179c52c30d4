CREATE DATABASE IF NOT EXISTS axiom_rebuild_7 ON CLUSTER memory
COMMENT '{"axiommind_scratch_of":"axiom"}';

ALTER DATABASE axiom_rebuild_7 ON CLUSTER memory
    (MODIFY COMMENT 'x');

ALTER TABLE axiom_rebuild_7.entries_raw_local ON CLUSTER memory
    (MODIFY COMMENT 'made by rebuild 7');

CREATE TABLE axiom_rebuild_7.rebuild_horizon_1_local ON CLUSTER memory
(
    `stream` String,
    `last_seq` UInt64
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY stream
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE axiom_rebuild_7.rebuild_horizon_1 ON CLUSTER memory AS axiom_rebuild_7.rebuild_horizon_1_local
ENGINE = Distributed('memory', 'axiom_rebuild_7', 'rebuild_horizon_1_local', cityHash64(stream));

CREATE TABLE IF NOT EXISTS axiom_rebuild_7.rebuild_horizon ON CLUSTER memory AS axiom_rebuild_7.rebuild_horizon_1_local
ENGINE = Distributed('memory', 'axiom_rebuild_7', 'rebuild_horizon_local');

RENAME TABLE axiom_rebuild_7.rebuild_horizon_1_local TO axiom_rebuild_7.rebuild_horizon_local ON CLUSTER memory;

CREATE TABLE axiom_rebuild_7.switch_2_open_local ON CLUSTER memory
(
    `x` UInt8
)
ENGINE = `Null`;

CREATE TABLE axiom_rebuild_7.switch_2_open ON CLUSTER memory AS axiom_rebuild_7.switch_2_open_local
ENGINE = Distributed('memory', 'axiom_rebuild_7', 'switch_2_open_local');

EXCHANGE TABLES entries_raw_local AND axiom_rebuild_7.entries_raw_claimed_5_local ON CLUSTER memory;

CREATE TABLE axiom_rebuild_7.before_entries_raw_2_1_local ON CLUSTER memory AS entries_raw_local;

CREATE TABLE axiom_rebuild_7.before_entries_raw_2_1 ON CLUSTER memory AS axiom_rebuild_7.before_entries_raw_2_1_local
ENGINE = Distributed('memory', 'axiom_rebuild_7', 'before_entries_raw_2_1_local');

ALTER TABLE axiom_rebuild_7.before_entries_raw_2_1_local ON CLUSTER memory
    (ATTACH PARTITION ID 'all' FROM entries_raw_local);

DROP DATABASE IF EXISTS axiom_rebuild_7 ON CLUSTER memory SYNC;

ALTER TABLE events_raw_local ON CLUSTER memory
    (DELETE WHERE stream IN (
        SELECT stream
        FROM erasing_raw_local
        WHERE (erasure_id = 'e') AND (seq = 0)
    ));

ALTER TABLE erasing_raw_local ON CLUSTER memory
    (DELETE WHERE erasure_id = 'e');

ALTER TABLE erasure_secrets_local ON CLUSTER memory
    (DROP PARTITION 'e');

ALTER TABLE events_raw_local ON CLUSTER memory
    (DROP PARTITION ID 'none');

SYSTEM SYNC REPLICA ON CLUSTER memory erasing_raw_local;

DROP TABLE IF EXISTS entries_raw ON CLUSTER memory SYNC;

DROP TABLE IF EXISTS entries_raw_local ON CLUSTER memory SYNC;

