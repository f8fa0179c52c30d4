-- a comment; with a semicolon
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "sessions" (id TEXT PRIMARY KEY, description TEXT, working_dir TEXT, created_at TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
CREATE TRIGGER t AFTER INSERT ON messages BEGIN INSERT INTO log VALUES (1); DELETE FROM messages; END;
INSERT INTO sessions VALUES ('g1', 'it''s; fine', '/w', '2026-07-24T11:00:00Z');
INSERT INTO messages VALUES (1, 'g1', 'user', '[{"type":"text","text":"hi; there"}]', 1784282401),
 (2, 'g1', 'assistant', '[{"type":"toolRequest","id":"t","toolCall":{"value":{"name":"shell","arguments":{}}}}]', 1784282402);
COMMIT;
