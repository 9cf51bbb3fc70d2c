-- Polls about the time of a meeting.
CREATE TABLE polls (
  tenant_id         uuid           NOT NULL,
  id                uuid           NOT NULL,
  owner_id          uuid           NOT NULL,
  -- Where the event is created; null: the default calendar of the owner.
  calendar_id       uuid,
  title             text           NOT NULL,
  description       text           NOT NULL,
  location          text           NOT NULL,
  time_zone         text           NOT NULL,
  kind              text           NOT NULL CHECK (kind IN ('time', 'date')),
  deadline          timestamptz(3),
  allow_if_needed   boolean        NOT NULL,
  anonymous         boolean        NOT NULL,
  -- The chosen option and its event.
  option_id         uuid,
  event_id          uuid,
  revision          int            NOT NULL,
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

CREATE TABLE poll_options (
  tenant_id  uuid  NOT NULL,
  poll_id    uuid  NOT NULL,
  id         uuid  NOT NULL,
  position   int   NOT NULL,
  -- Instants 2026-03-02T08:00:00Z, or days 2026-03-02 with the same end. They are never converted.
  starts     text  NOT NULL,
  ends       text  NOT NULL,
  PRIMARY KEY (tenant_id, poll_id, id),
  FOREIGN KEY (tenant_id, poll_id) REFERENCES polls (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE poll_participants (
  tenant_id     uuid           NOT NULL,
  poll_id       uuid           NOT NULL,
  id            uuid           NOT NULL,
  -- Lower case.
  email         text           NOT NULL,
  -- Null: outside the workspace.
  user_id       uuid,
  name          text           NOT NULL,
  required      boolean        NOT NULL,
  comment       text           NOT NULL,
  responded_at  timestamptz(3),
  PRIMARY KEY (tenant_id, poll_id, id),
  UNIQUE (tenant_id, poll_id, email),
  FOREIGN KEY (tenant_id, poll_id) REFERENCES polls (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE poll_votes (
  tenant_id       uuid  NOT NULL,
  poll_id         uuid  NOT NULL,
  option_id       uuid  NOT NULL,
  participant_id  uuid  NOT NULL,
  answer          text  NOT NULL CHECK (answer IN ('yes', 'if_needed', 'no')),
  PRIMARY KEY (tenant_id, poll_id, option_id, participant_id),
  FOREIGN KEY (tenant_id, poll_id, option_id) REFERENCES poll_options (tenant_id, poll_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, poll_id, participant_id) REFERENCES poll_participants (tenant_id, poll_id, id) ON DELETE CASCADE
);
