-- How often an entry was returned is forgotten after a time. The events stay, and a rebuild makes the rows again that are younger.
-- The setting usage-days changes the time. No other table forgets: each is the log, or answers from all of it.
ALTER TABLE usage_raw MODIFY TTL toDateTime(ts) + toIntervalDay(730);
