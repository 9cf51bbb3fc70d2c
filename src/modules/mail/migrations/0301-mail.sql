-- Each person's account at the mail service, one for each workspace. Password and token are sealed by the application.
CREATE TABLE mail_accounts (
  tenant_id      uuid           NOT NULL,
  user_id        uuid           NOT NULL,
  origin         text           NOT NULL CHECK (origin IN ('created', 'linked')),
  username       text           NOT NULL,
  -- Null for linked accounts: the mail service knows it.
  address        text,
  -- The account's id there; null until it has been created.
  mail_user_id   text,
  password       text,
  token          text,
  -- Counts the tokens: who finds one dead asks for a later one.
  token_version  int            NOT NULL DEFAULT 0,
  -- Who talks to the mail service about this account now, and until when at most: a killed process blocks nobody for long.
  lease_id       uuid,
  lease_until    timestamptz,
  -- After a refusal: not before. The mail service locks accounts at which somebody keeps knocking.
  retry_at       timestamptz,
  -- Why, in the mail service's words.
  refusal        text,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  updated_at     timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id)
);

-- Where messages were moved from: the mail service keeps no record of it. A message's id changes with each move, so a
-- row describes a message that lies in `mailbox` now.
CREATE TABLE mail_moves (
  tenant_id   uuid           NOT NULL,
  user_id     uuid           NOT NULL,
  mailbox     text           NOT NULL,
  message_id  bigint         NOT NULL,
  origin      text           NOT NULL,
  moved_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, mailbox, message_id)
);
CREATE INDEX mail_moves_old ON mail_moves (moved_at);

-- Whom a person writes to, for autocomplete.
CREATE TABLE mail_recipients (
  tenant_id     uuid           NOT NULL,
  user_id       uuid           NOT NULL,
  -- The address as it is compared: NFKC, lower case.
  address_key   text           NOT NULL,
  address       text           NOT NULL,
  name          text           NOT NULL,
  uses          int            NOT NULL DEFAULT 1,
  last_used_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- How often and how lately in one number that does not change as time goes by (see mail_recipients_record).
  rank          double precision NOT NULL,
  -- The message that was counted last: saving a draft again and sending it count once.
  cause         text           NOT NULL,
  PRIMARY KEY (tenant_id, user_id, address_key)
);
CREATE INDEX mail_recipients_rank ON mail_recipients (tenant_id, user_id, rank DESC, address_key);
