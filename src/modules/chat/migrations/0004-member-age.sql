-- Finds members who joined recently, in all rooms. Rows are stored in the order of time, so a few ranges are read.
CREATE INDEX chat_members_age ON chat_members USING brin (joined_at) WITH (pages_per_range = 32, autosummarize = on);
