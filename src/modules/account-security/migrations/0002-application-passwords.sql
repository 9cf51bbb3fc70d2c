-- Passwords for single mail and calendar programs, which cannot ask for a second factor.
CREATE TABLE application_passwords (
  tenant_id     uuid        NOT NULL,
  id            uuid        NOT NULL,
  user_id       uuid        NOT NULL,
  -- 1 to 50 while it counts: that nobody has more is a matter of the unique index. Null: it is on its way out.
  slot          smallint,
  -- Creating: the mail service is being told. Removing: it has yet to be told.
  state         text        NOT NULL CHECK (state IN ('creating', 'active', 'removing')),
  description   text        NOT NULL,
  scopes        text[]      NOT NULL,
  -- By which it is found, and with which it is compared: HMACs, with the id of their key.
  selector      text        NOT NULL,
  hash          text        NOT NULL,
  -- Its id at the mail service; null: not known there.
  provider_id   text,
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz,
  last_used_at  timestamptz,
  last_used_ip  text,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, user_id, slot)
);
CREATE INDEX application_passwords_selector ON application_passwords (tenant_id, user_id, selector);
CREATE INDEX application_passwords_user ON application_passwords (user_id);
CREATE INDEX application_passwords_expiry ON application_passwords (expires_at) WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX application_passwords_unfinished ON application_passwords (created_at) WHERE state = 'creating';
