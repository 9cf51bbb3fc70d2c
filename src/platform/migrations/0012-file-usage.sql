-- Bytes of the kept files of a workspace and of each user who uploaded them, and the limits of the workspace. Blobs from before this
-- migration have no uploader: they count for the workspace only.
ALTER TABLE blobs ADD COLUMN user_id uuid;

CREATE TABLE file_usage (
  tenant_id         uuid    NOT NULL PRIMARY KEY,
  bytes             bigint  NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  files             integer NOT NULL DEFAULT 0 CHECK (files >= 0),
  -- Null: the default of the installation; 0: no limit.
  limit_bytes       bigint  CHECK (limit_bytes >= 0),
  user_limit_bytes  bigint  CHECK (user_limit_bytes >= 0)
);

CREATE TABLE user_file_usage (
  tenant_id  uuid    NOT NULL,
  user_id    uuid    NOT NULL,
  bytes      bigint  NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  files      integer NOT NULL DEFAULT 0 CHECK (files >= 0),
  PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX user_file_usage_bytes ON user_file_usage (tenant_id, bytes, user_id);

INSERT INTO file_usage (tenant_id, bytes, files)
SELECT tenant_id, sum(size), count(*) FROM blobs WHERE state = 'kept' GROUP BY tenant_id;
