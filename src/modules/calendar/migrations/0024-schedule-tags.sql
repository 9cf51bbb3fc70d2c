-- The number of the last change of a placement that is no response of others (schedule-tag of RFC 6638, 3.2.10); 0: the event has no
-- attendees. Null: written by the previous release, the number of the last change.
ALTER TABLE calendar_entries ADD COLUMN schedule_seq bigint;
