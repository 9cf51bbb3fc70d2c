-- Views of published forms by respondents, for the completion rate.
CREATE TABLE form_views (
  tenant_id uuid           NOT NULL,
  form_id   uuid           NOT NULL,
  version   int            NOT NULL,
  -- Start of the hour, UTC.
  hour      timestamptz(3) NOT NULL,
  count     bigint         NOT NULL,
  PRIMARY KEY (tenant_id, form_id, version, hour),
  FOREIGN KEY (tenant_id, form_id) REFERENCES forms (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);
