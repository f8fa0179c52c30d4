CREATE TABLE main.sessions (id text primary key, cwd text);
CREATE TABLE main.messages (id integer primary key, session_id text, role text, content text, timestamp real);
INSERT INTO main.sessions VALUES ('h1', '/w');
INSERT INTO main.messages VALUES (1, 'h1', 'user', 'whose are these?', 1785015600);
INSERT INTO main.messages VALUES (2, 'h1', 'assistant', 'told by the tables', 1785015601);
