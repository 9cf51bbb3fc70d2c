-- Small by rule (256 KiB), so they live here: backed up, moved and removed with the workspace.
CREATE TABLE tenant_logos (
  tenant_id   uuid        PRIMARY KEY REFERENCES tenants (id),
  format      text        NOT NULL CHECK (format IN ('png', 'jpeg', 'webp')),
  bytes       bytea       NOT NULL,
  -- SHA-256 of the bytes, hexadecimal, the first half: the ETag.
  version     text        NOT NULL,
  width       int         NOT NULL,
  height      int         NOT NULL,
  updated_at  timestamptz(3) NOT NULL DEFAULT now()
);
-- Compressed already.
ALTER TABLE tenant_logos ALTER COLUMN bytes SET STORAGE EXTERNAL;
