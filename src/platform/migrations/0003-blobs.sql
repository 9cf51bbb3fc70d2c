-- What the blob store holds. A row is written before its bytes are and removed after they are, so that whatever a killed
-- process leaves behind in the store can be found.

CREATE TABLE blobs (
  tenant_id     uuid        NOT NULL,
  id            uuid        NOT NULL,
  -- pending: bytes are being written, nobody refers to it; kept: something refers to it; released: to be removed.
  state         text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'kept', 'released')),
  -- Known once it has been kept.
  size          bigint      CHECK (size >= 0),
  sha256        bytea       CHECK (length(sha256) = 32),
  content_type  text,
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- When the collector takes it; null while it is kept.
  due_at        timestamptz DEFAULT now() + interval '1 hour',
  PRIMARY KEY (tenant_id, id),
  CHECK ((state = 'kept') = (due_at IS NULL)),
  CHECK (state <> 'kept' OR (size IS NOT NULL AND sha256 IS NOT NULL AND content_type IS NOT NULL))
);
CREATE INDEX blobs_due ON blobs (due_at) WHERE due_at IS NOT NULL;
