CREATE TYPE call_kind AS ENUM ('meeting', 'livestream');
CREATE TYPE call_state AS ENUM ('scheduled', 'live', 'ended');
CREATE TYPE call_principal AS ENUM ('user', 'guest', 'viewer');
CREATE TYPE recording_state AS ENUM ('starting', 'active', 'stopping', 'processing', 'ready', 'failed', 'aborted');
CREATE TYPE invite_target AS ENUM ('call', 'chat_room');
CREATE TYPE invite_kind AS ENUM ('personal', 'link');
CREATE TYPE guest_role AS ENUM ('guest', 'viewer');
CREATE TYPE guest_state AS ENUM ('waiting', 'admitted', 'in_session', 'left', 'denied', 'expired', 'removed');
CREATE TYPE guest_otp_purpose AS ENUM ('join', 'livestream');
CREATE TYPE guest_domain_state AS ENUM ('requested', 'allowed', 'denied');

CREATE TABLE calls (
  tenant_id         uuid           NOT NULL,
  id                uuid           NOT NULL,
  -- The chat room whose members may join; null for a call with members of its own (call_members).
  room_id           uuid,
  title             text           NOT NULL,
  kind              call_kind      NOT NULL,
  state             call_state     NOT NULL,
  host_id           uuid           NOT NULL,
  -- The id that the client gave the call: a repeated request creates no second call.
  client_id         uuid,
  -- Guests: no new codes, claims or tokens while locked. Guests in the call stay.
  external_locked   boolean        NOT NULL DEFAULT false,
  -- Defaults for invites: guests wait for approval; guests prove their address by a code.
  lobby             boolean        NOT NULL DEFAULT true,
  otp               boolean        NOT NULL DEFAULT true,
  guest_chat        boolean        NOT NULL DEFAULT true,
  auto_record       boolean        NOT NULL DEFAULT false,
  max_participants  int            NOT NULL DEFAULT 100,
  max_guests        int            NOT NULL DEFAULT 50,
  max_viewers       int            NOT NULL DEFAULT 1000,
  scheduled_at      timestamptz(3),
  started_at        timestamptz(3),
  ended_at          timestamptz(3),
  -- Since when a live call has no participant; null while it has one.
  empty_since       timestamptz(3),
  created_at        timestamptz(3) NOT NULL DEFAULT now(),
  updated_at        timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  CHECK (CASE state WHEN 'live' THEN started_at IS NOT NULL WHEN 'scheduled' THEN started_at IS NULL ELSE true END),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK (state = 'live' OR empty_since IS NULL)
);
-- A room has one live call.
CREATE UNIQUE INDEX calls_live_in_room ON calls (tenant_id, room_id) WHERE state = 'live';
CREATE UNIQUE INDEX calls_client ON calls (tenant_id, host_id, client_id);
CREATE INDEX calls_live ON calls (tenant_id, started_at, id) WHERE state = 'live';
-- The reconciler reads the live calls of all workspaces.
CREATE INDEX calls_to_reconcile ON calls (id) WHERE state = 'live';
CREATE INDEX calls_of_room ON calls (tenant_id, room_id, id);

-- Users who may join a call without a room, besides its host.
CREATE TABLE call_members (
  tenant_id  uuid NOT NULL,
  call_id    uuid NOT NULL,
  user_id    uuid NOT NULL,
  PRIMARY KEY (tenant_id, call_id, user_id),
  FOREIGN KEY (tenant_id, call_id) REFERENCES calls (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);
CREATE INDEX call_members_user ON call_members (tenant_id, user_id);

-- One row for each identity of the media server. The same identity may connect again: the row describes its newest connection.
CREATE TABLE call_participants (
  tenant_id       uuid           NOT NULL,
  call_id         uuid           NOT NULL,
  -- u:<user>:<8 hexadecimal digits of the session>, g:<guest> or v:<guest>.
  identity        text           NOT NULL,
  principal_kind  call_principal NOT NULL,
  -- The user or the guest.
  principal_id    uuid           NOT NULL,
  -- Id and start of the connection at the media server. A connection that has left does not come back, and a later one wins.
  connection_id   text           NOT NULL,
  joined_at       timestamptz(3) NOT NULL,
  left_at         timestamptz(3),
  first_joined_at timestamptz(3) NOT NULL,
  -- Time of this database at the last change of the row.
  changed_at      timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, call_id, identity),
  FOREIGN KEY (tenant_id, call_id) REFERENCES calls (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX call_participants_principal ON call_participants (tenant_id, principal_id);

CREATE TABLE recordings (
  tenant_id     uuid            NOT NULL,
  id            uuid            NOT NULL,
  call_id       uuid            NOT NULL,
  room_id       uuid,
  requested_by  uuid            NOT NULL,
  state         recording_state NOT NULL,
  -- Null until the media server has responded to the request, or one of its events has arrived.
  egress_id     text,
  started_at    timestamptz(3),
  ended_at      timestamptz(3),
  duration_ms   bigint,
  -- The size limit or the time limit of the media server ended the recording.
  limit_reached boolean         NOT NULL DEFAULT false,
  error         text,
  -- File name in the directory of the recordings, until the file is in the blob store.
  file          text            NOT NULL,
  blob_id       uuid,
  size          bigint,
  sha256        bytea,
  -- The file is deleted at this time.
  expires_at    timestamptz(3),
  created_at    timestamptz(3)  NOT NULL DEFAULT now(),
  updated_at    timestamptz(3)  NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, call_id) REFERENCES calls (tenant_id, id) ON DELETE CASCADE,
  CHECK ((state = 'ready') = (blob_id IS NOT NULL))
);
-- A call has one recording at a time.
CREATE UNIQUE INDEX recordings_active ON recordings (tenant_id, call_id) WHERE state IN ('starting', 'active', 'stopping');
CREATE INDEX recordings_of_call ON recordings (tenant_id, call_id, id);
CREATE INDEX recordings_of_room ON recordings (tenant_id, room_id, id);
CREATE INDEX recordings_open ON recordings (id) WHERE state IN ('starting', 'active', 'stopping', 'processing');
CREATE INDEX recordings_expired ON recordings (expires_at) WHERE expires_at IS NOT NULL;

-- Events of other services that were handled: a repeated delivery has no second effect.
CREATE TABLE webhook_events (
  tenant_id    uuid           NOT NULL,
  source       text           NOT NULL,
  event_id     text           NOT NULL,
  received_at  timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, source, event_id)
);
CREATE INDEX webhook_events_old ON webhook_events (received_at);

-- Invites of users outside the workspace. The token is 16 bytes of the workspace's id and 32 random bytes, in base64url.
CREATE TABLE external_invites (
  tenant_id         uuid           NOT NULL,
  id                uuid           NOT NULL,
  target_kind       invite_target  NOT NULL,
  call_id           uuid,
  room_id           uuid,
  kind              invite_kind    NOT NULL,
  role              guest_role     NOT NULL,
  -- Of a personal invite, normalised.
  email             text,
  name              text,
  token_hash        bytea          NOT NULL,
  require_otp       boolean        NOT NULL,
  require_approval  boolean        NOT NULL,
  chat_allowed      boolean        NOT NULL,
  max_uses          int            NOT NULL CHECK (max_uses > 0),
  uses              int            NOT NULL DEFAULT 0 CHECK (uses BETWEEN 0 AND max_uses),
  -- Link from an invite to the chat of its call; a new link replaces the old one.
  chat_token_hash   bytea,
  chat_expires_at   timestamptz(3),
  created_by        uuid           NOT NULL,
  created_at        timestamptz(3) NOT NULL DEFAULT now(),
  expires_at        timestamptz(3) NOT NULL,
  revoked_at        timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, call_id) REFERENCES calls (tenant_id, id) ON DELETE CASCADE,
  CHECK (CASE target_kind WHEN 'call' THEN call_id IS NOT NULL ELSE call_id IS NULL AND room_id IS NOT NULL END),
  CHECK ((kind = 'personal') = (email IS NOT NULL)),
  CHECK ((chat_token_hash IS NULL) = (chat_expires_at IS NULL))
);
CREATE UNIQUE INDEX external_invites_token ON external_invites (tenant_id, token_hash);
CREATE UNIQUE INDEX external_invites_chat_token ON external_invites (tenant_id, chat_token_hash);
CREATE INDEX external_invites_call ON external_invites (tenant_id, call_id, id);
CREATE INDEX external_invites_room ON external_invites (tenant_id, room_id, id);

-- Guests and viewers. Sessions are stored as hashes of their tokens.
CREATE TABLE guests (
  tenant_id           uuid           NOT NULL,
  id                  uuid           NOT NULL,
  invite_id           uuid           NOT NULL,
  call_id             uuid,
  room_id             uuid,
  role                guest_role     NOT NULL,
  state               guest_state    NOT NULL,
  display_name        text           NOT NULL,
  email               text,
  email_verified_at   timestamptz(3),
  -- The long-lived token, which each use replaces. The use of an earlier one ends all sessions of the guest.
  token_hash          bytea          NOT NULL,
  previous_token_hash bytea,
  session_hash        bytea,
  session_expires_at  timestamptz(3),
  -- Requests for approval so far: at most three.
  requests            int            NOT NULL DEFAULT 1,
  waiting_since       timestamptz(3),
  -- Last status request while waiting, or last use of the session.
  active_at           timestamptz(3) NOT NULL DEFAULT now(),
  decided_by          uuid,
  decided_at          timestamptz(3),
  decision_reason     text,
  -- Number of the last message of the chat room at the admission: the guest reads later ones only.
  admitted_seq        bigint,
  removed_by          uuid,
  removed_at          timestamptz(3),
  -- The media server has not confirmed the removal yet.
  kick_pending        boolean        NOT NULL DEFAULT false,
  address_hash        bytea,
  user_agent          text,
  created_at          timestamptz(3) NOT NULL DEFAULT now(),
  updated_at          timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, invite_id) REFERENCES external_invites (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, call_id) REFERENCES calls (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX guests_token ON guests (tenant_id, token_hash);
CREATE UNIQUE INDEX guests_previous_token ON guests (tenant_id, previous_token_hash);
CREATE UNIQUE INDEX guests_session ON guests (tenant_id, session_hash);
CREATE INDEX guests_call ON guests (tenant_id, call_id, id);
CREATE INDEX guests_room ON guests (tenant_id, room_id, id);
CREATE INDEX guests_invite ON guests (tenant_id, invite_id);
CREATE INDEX guests_idle ON guests (active_at) WHERE state IN ('waiting', 'admitted', 'in_session');
CREATE INDEX guests_kick ON guests (id) WHERE kick_pending;

-- One-time codes by mail, one valid code for each address and purpose of an invite.
CREATE TABLE guest_otps (
  tenant_id     uuid              NOT NULL,
  invite_id     uuid              NOT NULL,
  email         text              NOT NULL,
  purpose       guest_otp_purpose NOT NULL,
  code_hmac     bytea             NOT NULL,
  attempts      int               NOT NULL DEFAULT 0,
  -- Codes in the current window of 15 minutes and on the current day (UTC).
  sent_count    int               NOT NULL DEFAULT 1,
  window_start  timestamptz(3)    NOT NULL DEFAULT now(),
  day_count     int               NOT NULL DEFAULT 1,
  day           date              NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
  sent_at       timestamptz(3)    NOT NULL DEFAULT now(),
  expires_at    timestamptz(3)    NOT NULL,
  consumed_at   timestamptz(3),
  PRIMARY KEY (tenant_id, invite_id, email, purpose),
  FOREIGN KEY (tenant_id, invite_id) REFERENCES external_invites (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX guest_otps_expired ON guest_otps (expires_at);

-- Domains of addresses of guests, as requested and decided.
CREATE TABLE guest_domains (
  tenant_id     uuid               NOT NULL,
  id            uuid               NOT NULL,
  domain        text               NOT NULL,
  state         guest_domain_state NOT NULL,
  requested_by  uuid               NOT NULL,
  reason        text               NOT NULL DEFAULT '',
  reviewed_by   uuid,
  reviewed_at   timestamptz(3),
  created_at    timestamptz(3)     NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX guest_domains_domain ON guest_domains (tenant_id, domain);

-- Principals that may not join a call any more. The reconciler disconnects them while their tokens may be valid.
CREATE TABLE call_bans (
  tenant_id   uuid           NOT NULL,
  call_id     uuid           NOT NULL,
  -- guest:<id> or email:<normalised address>.
  subject     text           NOT NULL,
  reason      text           NOT NULL DEFAULT '',
  banned_by   uuid           NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, call_id, subject),
  FOREIGN KEY (tenant_id, call_id) REFERENCES calls (tenant_id, id) ON DELETE CASCADE
);

-- Every deletion of recordings releases their files.
CREATE FUNCTION recordings_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM blob_release(deleted.tenant_id, array_agg(deleted.blob_id)) FROM deleted WHERE blob_id IS NOT NULL GROUP BY deleted.tenant_id;
  RETURN NULL;
END $$;
CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION recordings_deleted();
