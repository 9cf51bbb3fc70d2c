-- The names of events that programs chose in the path of a PUT, where they differ from the UID.
CREATE TABLE dav_names (
  tenant_id    uuid           NOT NULL,
  calendar_id  uuid           NOT NULL,
  name         text           NOT NULL,
  uid          text           NOT NULL,
  -- When the calendar was last seen to contain the event.
  checked_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, calendar_id, name)
);
CREATE UNIQUE INDEX dav_names_uid ON dav_names (tenant_id, calendar_id, uid);
CREATE INDEX dav_names_checked ON dav_names (checked_at);
