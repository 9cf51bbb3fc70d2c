-- A call of a calendar event: it ends and starts again, for each instance of the event.
ALTER TABLE calls ADD COLUMN reusable boolean NOT NULL DEFAULT false;
