-- Tentative events in the calendar of the owner, one for each option, until the poll is finalized or cancelled.
ALTER TABLE poll_options ADD COLUMN hold_event_id uuid;
ALTER TABLE polls ADD COLUMN cancelled_at timestamptz(3);
