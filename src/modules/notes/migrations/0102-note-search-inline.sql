-- The words in the row too: a search of somebody with few notes looks at each of them, and twice as many pages were read
-- for what lies elsewhere. Rows written before keep theirs where they are until the note changes.
ALTER TABLE note_search ALTER COLUMN tsv SET STORAGE MAIN;
