-- One export for each member: a new one replaces the previous one.
CREATE TABLE personal_exports (
  tenant_id     uuid           NOT NULL,
  user_id       uuid           NOT NULL,
  id            uuid           NOT NULL,
  state         text           NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed')),
  requested_at  timestamptz(3) NOT NULL DEFAULT now(),
  finished_at   timestamptz(3),
  expires_at    timestamptz(3),
  sources_done  int            NOT NULL DEFAULT 0,
  sources_total int            NOT NULL DEFAULT 0,
  omitted       int            NOT NULL DEFAULT 0,
  attempts      int            NOT NULL DEFAULT 0,
  lease_id      uuid,
  due_at        timestamptz,
  blob_id       uuid,
  size          bigint,
  sha256        bytea,
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id),
  CHECK ((due_at IS NOT NULL) = (state IN ('pending', 'running'))),
  CHECK ((blob_id IS NOT NULL) = (state = 'done')),
  CHECK (state <> 'done' OR (size IS NOT NULL AND sha256 IS NOT NULL AND expires_at IS NOT NULL))
);

CREATE INDEX personal_exports_user ON personal_exports (user_id);
CREATE INDEX personal_exports_due ON personal_exports (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX personal_exports_expired ON personal_exports (expires_at) WHERE expires_at IS NOT NULL;
