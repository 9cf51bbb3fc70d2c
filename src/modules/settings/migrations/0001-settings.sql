-- What people say about themselves in a workspace, beyond the name under which its members see them (tenant_members).
CREATE TABLE user_profiles (
  tenant_id    uuid        NOT NULL,
  user_id      uuid        NOT NULL,
  given_name   text        NOT NULL DEFAULT '',
  family_name  text        NOT NULL DEFAULT '',
  title        text        NOT NULL DEFAULT '',
  phone        text        NOT NULL DEFAULT '',
  timezone     text,
  locale       text,
  updated_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);

CREATE TABLE signatures (
  tenant_id    uuid        NOT NULL,
  id           uuid        NOT NULL,
  user_id      uuid        NOT NULL,
  name         text        NOT NULL,
  -- Checked by the HTML policy when it was stored.
  html         text        NOT NULL,
  text         text        NOT NULL,
  -- Whether the person wrote the text; otherwise it follows the HTML.
  own_text     boolean     NOT NULL,
  is_default   boolean     NOT NULL DEFAULT false,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  updated_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);
CREATE INDEX signatures_list ON signatures (tenant_id, user_id, id);
CREATE UNIQUE INDEX signatures_default ON signatures (tenant_id, user_id) WHERE is_default;

-- What differs from the defaults, which the code has.
CREATE TABLE preferences (
  tenant_id    uuid        NOT NULL,
  user_id      uuid        NOT NULL,
  kind         text        NOT NULL CHECK (kind IN ('general', 'notifications')),
  data         jsonb       NOT NULL,
  rev          int         NOT NULL,
  updated_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, kind),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);
