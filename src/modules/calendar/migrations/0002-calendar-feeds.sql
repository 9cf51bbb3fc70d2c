-- Secret addresses at which a calendar is published, read-only, as its creator sees it.
CREATE TABLE calendar_feeds (
  tenant_id    uuid           NOT NULL,
  id           uuid           NOT NULL,
  calendar_id  uuid           NOT NULL,
  user_id      uuid           NOT NULL,
  -- SHA-256 of the token.
  token_hash   bytea          NOT NULL,
  details      text           NOT NULL CHECK (details IN ('full', 'busy')),
  created_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, calendar_id) REFERENCES calendars (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX calendar_feeds_token ON calendar_feeds (tenant_id, token_hash);
CREATE INDEX calendar_feeds_calendar ON calendar_feeds (tenant_id, calendar_id);
