-- When the user signed in, in this browser or by its device; null: when the session was created.
ALTER TABLE sessions ADD COLUMN signed_in_at timestamptz;
