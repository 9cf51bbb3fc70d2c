CREATE TYPE notification_state AS ENUM ('unread', 'read', 'archived', 'snoozed', 'dismissed');

-- One counter for each user: a new notification, and one that returns, takes the next number.
CREATE TABLE notification_heads (
  tenant_id  uuid   NOT NULL,
  user_id    uuid   NOT NULL,
  seq        bigint NOT NULL,
  PRIMARY KEY (tenant_id, user_id)
) WITH (fillfactor = 50);

-- A row holds facts without titles and contents: these are read with the rights of the reader.
CREATE TABLE notifications (
  tenant_id       uuid        NOT NULL,
  user_id         uuid        NOT NULL,
  id              uuid        NOT NULL,
  seq             bigint      NOT NULL,
  type            text        NOT NULL,
  actor_id        uuid,
  subject_kind    text,
  subject_id      uuid,
  -- Of an unread notification that counts further causes with the same subject.
  group_key       text,
  count           int         NOT NULL DEFAULT 1,
  data            jsonb       NOT NULL,
  -- False: for e-mail only.
  shown           boolean     NOT NULL,
  state           notification_state NOT NULL DEFAULT 'unread',
  -- Of an archived notification: the state to return to.
  previous_state  notification_state,
  seen_at         timestamptz,
  read_at         timestamptz,
  snooze_until    timestamptz,
  email_due_at    timestamptz,
  emailed_at      timestamptz,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  updated_at      timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX notifications_list ON notifications (tenant_id, user_id, seq);
CREATE UNIQUE INDEX notifications_group ON notifications (tenant_id, user_id, group_key)
  WHERE state = 'unread' AND group_key IS NOT NULL;
CREATE INDEX notifications_unread ON notifications (tenant_id, user_id) WHERE state = 'unread';
CREATE INDEX notifications_snoozed ON notifications (snooze_until) WHERE state = 'snoozed';
CREATE INDEX notifications_mails ON notifications (email_due_at) WHERE email_due_at IS NOT NULL;
CREATE INDEX notifications_age ON notifications (updated_at);

-- Causes of the last 30 days by recipient: an event that is delivered again notifies each recipient once.
CREATE TABLE notification_causes (
  tenant_id   uuid        NOT NULL,
  user_id     uuid        NOT NULL,
  key         text        NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, key)
);
CREATE INDEX notification_causes_age ON notification_causes (created_at);
