-- The erasure of the data of a former member: scheduled, running or done. The row stays as the record of the erasure.
CREATE TABLE personal_erasures (
  tenant_id     uuid           NOT NULL,
  user_id       uuid           NOT NULL,
  state         text           NOT NULL CHECK (state IN ('pending', 'running', 'done')),
  requested_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- When a process may take the erasure: the end of the grace time, of a lease or of a pause after a failure.
  due_at        timestamptz,
  lease_id      uuid,
  attempts      int            NOT NULL DEFAULT 0,
  -- Names of the sources whose data are erased.
  steps         text[]         NOT NULL DEFAULT '{}',
  finished_at   timestamptz(3),
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id),
  CHECK ((due_at IS NULL) = (state = 'done')),
  CHECK ((finished_at IS NOT NULL) = (state = 'done'))
);

CREATE INDEX personal_erasures_user ON personal_erasures (user_id);
CREATE INDEX personal_erasures_due ON personal_erasures (due_at) WHERE due_at IS NOT NULL;
