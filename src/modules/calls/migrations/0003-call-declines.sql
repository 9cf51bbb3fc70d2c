-- Users who declined a live call. A call of an event starts again: a decline counts for the start before it.
CREATE TABLE call_declines (
  tenant_id    uuid           NOT NULL,
  call_id      uuid           NOT NULL,
  user_id      uuid           NOT NULL,
  declined_at  timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, call_id, user_id),
  FOREIGN KEY (tenant_id, call_id) REFERENCES calls (tenant_id, id) ON DELETE CASCADE
);
