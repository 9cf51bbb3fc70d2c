-- Calendars, their events, and the placements of events in calendars. A meeting is one event with one placement in the
-- calendar of each member of the workspace that takes part. No instance of a series is stored.

-- Ordered by what a role allows.
CREATE TYPE calendar_role AS ENUM ('free_busy', 'reader', 'writer', 'owner');

CREATE TABLE calendars (
  tenant_id          uuid           NOT NULL,
  id                 uuid           NOT NULL,
  owner_id           uuid           NOT NULL,
  name               text           NOT NULL,
  description        text           NOT NULL,
  color              text           NOT NULL,
  time_zone          text           NOT NULL,
  is_default         boolean        NOT NULL,
  affects_free_busy  boolean        NOT NULL,
  default_reminders  jsonb          NOT NULL,
  revision           int            NOT NULL,
  -- Number of the last change of its placements. A writer holds the row lock from the increment to the commit.
  change_seq         bigint         NOT NULL DEFAULT 0,
  -- Tombstones up to this number have been deleted.
  floor_seq          bigint         NOT NULL DEFAULT 0,
  created_at         timestamptz(3) NOT NULL,
  updated_at         timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX calendars_default ON calendars (tenant_id, owner_id) WHERE is_default;
CREATE INDEX calendars_owner ON calendars (tenant_id, owner_id);

CREATE TABLE calendar_shares (
  tenant_id     uuid           NOT NULL,
  calendar_id   uuid           NOT NULL,
  -- A user or a group of the workspace.
  grantee_kind  text           NOT NULL CHECK (grantee_kind IN ('user', 'group')),
  grantee_id    uuid           NOT NULL,
  role          calendar_role  NOT NULL,
  created_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, calendar_id, grantee_kind, grantee_id),
  FOREIGN KEY (tenant_id, calendar_id) REFERENCES calendars (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX calendar_shares_grantee ON calendar_shares (tenant_id, grantee_id);

-- How one user sees a calendar. Null: as its owner set it.
CREATE TABLE calendar_preferences (
  tenant_id    uuid             NOT NULL,
  user_id      uuid             NOT NULL,
  calendar_id  uuid             NOT NULL,
  color        text,
  hidden       boolean          NOT NULL,
  position     double precision,
  PRIMARY KEY (tenant_id, user_id, calendar_id),
  FOREIGN KEY (tenant_id, calendar_id) REFERENCES calendars (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE calendar_events (
  tenant_id           uuid           NOT NULL,
  id                  uuid           NOT NULL,
  uid                 text           NOT NULL,
  -- The calendar of the organizer. The row stays after the calendar is deleted, for cancellations.
  origin_calendar_id  uuid           NOT NULL,
  -- Null: the organizer is outside the workspace.
  organizer_id        uuid,
  organizer_email     text           NOT NULL,
  organizer_name      text           NOT NULL,
  origin              text           NOT NULL CHECK (origin IN ('internal', 'external', 'published')),
  title               text           NOT NULL,
  description         text           NOT NULL,
  location            text           NOT NULL,
  locations           jsonb          NOT NULL,
  -- Wall times 2026-03-02T09:00:00 of the zone, or days 2026-03-02. Never UTC, so that changes of zone rules keep them.
  starts              text           NOT NULL,
  ends                text           NOT NULL,
  -- Null: days, or floating times that each reader reads in their own zone.
  time_zone           text,
  end_time_zone       text,
  -- The length is a number of seconds; else it is a difference of wall times.
  exact_duration      boolean        NOT NULL,
  -- RFC 5545: RRULE, RDATE and EXDATE as wall times of the zone.
  rules               text[]         NOT NULL,
  added               text[]         NOT NULL,
  excluded            text[]         NOT NULL,
  status              text           NOT NULL CHECK (status IN ('confirmed', 'tentative', 'cancelled')),
  show_as             text           NOT NULL,
  visibility          text           NOT NULL CHECK (visibility IN ('default', 'public', 'private')),
  color               text,
  categories          text[]         NOT NULL,
  conference          jsonb,
  links               jsonb          NOT NULL,
  -- Properties without a field of their own.
  custom              jsonb          NOT NULL,
  proposals_allowed   boolean        NOT NULL,
  -- RFC 5546: rises with changes of time, rules and status.
  sequence            int            NOT NULL,
  dtstamp             timestamptz(3) NOT NULL,
  split_from          uuid,
  participants_count  int            NOT NULL,
  overrides_count     int            NOT NULL,
  -- The title without case and accents, for suggestions.
  title_key           text           NOT NULL,
  revision            int            NOT NULL,
  created_by          uuid           NOT NULL,
  updated_by          uuid           NOT NULL,
  created_at          timestamptz(3) NOT NULL,
  updated_at          timestamptz(3) NOT NULL,
  -- Set when the organizer deleted it. The row stays for a while, cancelled, in the calendars of the participants.
  deleted_at          timestamptz(3),
  PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 80);
CREATE INDEX calendar_events_uid ON calendar_events (tenant_id, uid);
CREATE INDEX calendar_events_titles ON calendar_events (tenant_id, created_by, title_key text_pattern_ops);
CREATE INDEX calendar_events_deleted ON calendar_events (deleted_at) WHERE deleted_at IS NOT NULL;

-- Instances of a series that differ from it. The key is the nominal wall time of the instance in the zone of the series.
CREATE TABLE event_overrides (
  tenant_id       uuid           NOT NULL,
  event_id        uuid           NOT NULL,
  recurrence_key  text           NOT NULL,
  -- The columns of calendar_events that differ.
  patch           jsonb          NOT NULL,
  sequence        int            NOT NULL,
  dtstamp         timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, event_id, recurrence_key),
  FOREIGN KEY (tenant_id, event_id) REFERENCES calendar_events (tenant_id, id) ON DELETE CASCADE
);

-- Attendees. A row with a recurrence key is the response to one instance; the key is empty for the whole event.
CREATE TABLE event_participants (
  tenant_id        uuid           NOT NULL,
  event_id         uuid           NOT NULL,
  recurrence_key   text           NOT NULL,
  -- Lower case.
  email            text           NOT NULL,
  -- Null: outside the workspace.
  user_id          uuid,
  name             text           NOT NULL,
  role             text           NOT NULL CHECK (role IN ('required', 'optional', 'chair', 'none')),
  kind             text           NOT NULL CHECK (kind IN ('person', 'group', 'room', 'resource')),
  response         text           NOT NULL
                   CHECK (response IN ('needs_action', 'accepted', 'declined', 'tentative', 'delegated')),
  rsvp             boolean        NOT NULL,
  comment          text           NOT NULL,
  responded_at     timestamptz(3),
  reply_sequence   int,
  reply_dtstamp    timestamptz(3),
  delegated_to     text,
  delegated_from   text,
  -- Result of the delivery to an attendee outside the workspace.
  schedule_status  text,
  PRIMARY KEY (tenant_id, event_id, recurrence_key, email),
  FOREIGN KEY (tenant_id, event_id) REFERENCES calendar_events (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX event_participants_email ON event_participants (tenant_id, email);

-- A placement: one row for each calendar that contains the event.
CREATE TABLE calendar_entries (
  tenant_id    uuid        NOT NULL,
  calendar_id  uuid        NOT NULL,
  event_id     uuid        NOT NULL,
  uid          text        NOT NULL,
  -- From the first to the last instance, with a margin of 26 hours for zones; infinity for an endless series.
  span_start   timestamptz NOT NULL,
  span_end     timestamptz NOT NULL,
  -- A series, or longer than 31 days: not bounded below by its start.
  wide         boolean     NOT NULL,
  -- What the owner of the calendar set for themselves; null: as in the event.
  response     text,
  show_as      text,
  color        text,
  reminders    jsonb,
  -- The owner of the calendar deleted it from their view.
  hidden       boolean     NOT NULL DEFAULT false,
  change_seq   bigint      NOT NULL,
  PRIMARY KEY (tenant_id, calendar_id, event_id),
  UNIQUE (tenant_id, calendar_id, uid),
  FOREIGN KEY (tenant_id, calendar_id) REFERENCES calendars (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, event_id) REFERENCES calendar_events (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX calendar_entries_start ON calendar_entries (tenant_id, calendar_id, span_start, event_id);
CREATE INDEX calendar_entries_wide ON calendar_entries (tenant_id, calendar_id, span_end) WHERE wide;
CREATE INDEX calendar_entries_changes ON calendar_entries (tenant_id, calendar_id, change_seq);
CREATE INDEX calendar_entries_event ON calendar_entries (tenant_id, event_id);

-- Placements that were removed, for synchronisation.
CREATE TABLE entry_tombstones (
  tenant_id    uuid           NOT NULL,
  calendar_id  uuid           NOT NULL,
  event_id     uuid           NOT NULL,
  uid          text           NOT NULL,
  change_seq   bigint         NOT NULL,
  deleted_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, calendar_id, event_id),
  FOREIGN KEY (tenant_id, calendar_id) REFERENCES calendars (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX entry_tombstones_changes ON entry_tombstones (tenant_id, calendar_id, change_seq);
CREATE INDEX entry_tombstones_age ON entry_tombstones (deleted_at);

-- Other times that attendees propose.
CREATE TABLE event_proposals (
  tenant_id       uuid           NOT NULL,
  id              uuid           NOT NULL,
  event_id        uuid           NOT NULL,
  recurrence_key  text           NOT NULL,
  by_email        text           NOT NULL,
  by_name         text           NOT NULL,
  by_user_id      uuid,
  starts          text           NOT NULL,
  ends            text           NOT NULL,
  time_zone       text,
  end_time_zone   text,
  exact_duration  boolean        NOT NULL,
  comment         text           NOT NULL,
  status          text           NOT NULL
                  CHECK (status IN ('pending', 'accepted', 'declined', 'outdated', 'withdrawn')),
  base_sequence   int            NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, event_id) REFERENCES calendar_events (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX event_proposals_event ON event_proposals (tenant_id, event_id);

-- Who changed what.
CREATE TABLE event_history (
  tenant_id       uuid           NOT NULL,
  event_id        uuid           NOT NULL,
  revision        int            NOT NULL,
  actor_id        uuid           NOT NULL,
  action          text           NOT NULL,
  recurrence_key  text           NOT NULL,
  fields          text[]         NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, event_id, revision),
  FOREIGN KEY (tenant_id, event_id) REFERENCES calendar_events (tenant_id, id) ON DELETE CASCADE
);

-- Search index of events, like task_search: words, and one lexeme for each calendar that contains the event.
CREATE TABLE event_search (
  tenant_id  uuid      NOT NULL,
  event_id   uuid      NOT NULL,
  revision   int       NOT NULL,
  audience   uuid      NOT NULL,
  rules      smallint  NOT NULL,
  tsv        tsvector  NOT NULL,
  beginning  text      NOT NULL,
  PRIMARY KEY (tenant_id, event_id),
  FOREIGN KEY (tenant_id, event_id) REFERENCES calendar_events (tenant_id, id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05);
DO $$ BEGIN
  ALTER TABLE event_search ALTER COLUMN tsv SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
  NULL;
END $$;
ALTER TABLE event_search ALTER COLUMN tsv SET STORAGE MAIN, ALTER COLUMN beginning SET STORAGE MAIN;
CREATE INDEX event_search_words ON event_search USING gin (tenant_id, tsv)
  WITH (fastupdate = on, gin_pending_list_limit = 256);
