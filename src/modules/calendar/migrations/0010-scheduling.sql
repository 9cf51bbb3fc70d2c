-- Messages of RFC 5546 from and to addresses outside of the workspace. There is no foreign key to calendars and events: a
-- cancellation is sent after both are deleted.
CREATE TABLE scheduling_messages (
  tenant_id       uuid           NOT NULL,
  id              uuid           NOT NULL,
  calendar_id     uuid           NOT NULL,
  -- The member that sends or receives the message.
  user_id         uuid           NOT NULL,
  -- Null: no event of the workspace.
  event_id        uuid,
  direction       text           NOT NULL CHECK (direction IN ('in', 'out')),
  -- Null: unreadable.
  method          text,
  uid             text           NOT NULL,
  -- Empty: the whole event.
  recurrence_key  text           NOT NULL,
  sequence        int            NOT NULL,
  dtstamp         timestamptz(3),
  -- Lower case; empty: uploaded without a mail.
  sender          text           NOT NULL,
  result          text           NOT NULL,
  -- Why a message was ignored, rejected or not delivered.
  reason          text,
  -- Summary of the content for readers of the log.
  parsed          jsonb,
  ics             text,
  -- Subject and texts of a message to send.
  mail            jsonb,
  -- One message for each cause.
  dedupe_key      text           NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX scheduling_messages_once ON scheduling_messages (tenant_id, dedupe_key);
CREATE INDEX scheduling_messages_list ON scheduling_messages (tenant_id, calendar_id, id);
CREATE INDEX scheduling_messages_age ON scheduling_messages (created_at);

CREATE TABLE scheduling_deliveries (
  tenant_id   uuid           NOT NULL,
  message_id  uuid           NOT NULL,
  -- Lower case.
  recipient   text           NOT NULL,
  status      text           NOT NULL CHECK (status IN ('queued', 'sent', 'failed')),
  error       text,
  attempts    int            NOT NULL,
  -- The next attempt; during an attempt the end of its lease.
  due_at      timestamptz(3) NOT NULL,
  sent_at     timestamptz(3),
  PRIMARY KEY (tenant_id, message_id, recipient),
  FOREIGN KEY (tenant_id, message_id) REFERENCES scheduling_messages (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX scheduling_deliveries_due ON scheduling_deliveries (due_at) WHERE status = 'queued';
