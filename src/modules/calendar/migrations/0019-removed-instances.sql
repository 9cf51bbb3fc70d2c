-- An attendee may remove an instance of a series, or an instance and all later ones: the row with the response says so.
ALTER TABLE event_participants ADD COLUMN removed boolean NOT NULL DEFAULT false;
