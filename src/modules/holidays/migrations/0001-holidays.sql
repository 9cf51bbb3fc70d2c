-- Countries and regions whose holidays a member sees, besides those of the workspace.
CREATE TABLE holiday_subscriptions (
  tenant_id     uuid           NOT NULL,
  user_id       uuid           NOT NULL,
  -- [{"country", "region", "types", "language", "color", "busy"}]
  subscriptions jsonb          NOT NULL,
  -- Subscriptions of the workspace that the member hides: `DE` or `DE-BY`.
  muted_tenant  text[]         NOT NULL,
  updated_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);

CREATE TABLE tenant_holiday_subscriptions (
  tenant_id     uuid           NOT NULL PRIMARY KEY,
  subscriptions jsonb          NOT NULL,
  updated_at    timestamptz(3) NOT NULL DEFAULT now()
);
