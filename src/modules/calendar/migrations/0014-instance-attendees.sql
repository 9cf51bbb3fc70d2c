-- An attendee of a series may be absent from one instance: the row of this instance says so. A row of an instance without a row of
-- the series invites an attendee to this instance only.
ALTER TABLE event_participants ADD COLUMN uninvited boolean NOT NULL DEFAULT false;
