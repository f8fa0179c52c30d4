create table sessions (id text primary key, cwd text, title text);
create table messages (id integer primary key, session_id text, role text, content text, tool_call_id text, tool_calls text, tool_name text, timestamp real, active integer default 1);
insert into sessions values ('h1', '/w', 'Backoff');
insert into messages values (1, 'h1', 'user', 'q', null, null, null, 1785015600.25, 1);
insert into messages values (2, 'h1', 'user', 'taken back', null, null, null, 1785015600.5, 0);
insert into messages values (3, 'h1', 'assistant', null, null, '[{"id":"t","function":{"name":"terminal","arguments":"{}"}}]', null, 1785015601, 1);
insert into messages values (4, 'h1', 'tool', '{"output":"ok"}', 't', null, null, 1785015602, 1);
insert into messages values (5, 'h1', 'user', '[CONTEXT COMPACTION] so far', null, null, null, 1785015603, 1);
insert into messages values (6, 'h1', 'user', cast(x'006a736f6e3a5b7b2274797065223a2274657874222c2274657874223a22736565227d5d' as text), null, null, null, 1785015604, 1);
