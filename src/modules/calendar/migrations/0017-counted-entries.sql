-- The placements of the calendar when they were last counted, and the number of its last change at that time (calendars_are_full).
ALTER TABLE calendars ADD COLUMN counted_entries int NOT NULL DEFAULT 0, ADD COLUMN counted_seq bigint NOT NULL DEFAULT 0;
