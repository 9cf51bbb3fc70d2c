-- Calendars of messages that arrived, until the workspace has taken them. They stay available when their message moves.
CREATE TABLE calendar_parts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  mailbox_id text NOT NULL,
  uid bigint NOT NULL,
  message_id text NOT NULL,
  -- The address of From; empty without one.
  sender text NOT NULL,
  -- The method of the Content-Type.
  method text,
  -- Null: the message has TNEF instead of a calendar.
  content bytea,
  arrived_at timestamptz NOT NULL
);
CREATE INDEX calendar_parts_user ON calendar_parts (user_id);
CREATE INDEX calendar_parts_age ON calendar_parts (arrived_at);
