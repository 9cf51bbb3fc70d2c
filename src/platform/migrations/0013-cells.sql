-- Cells: the databases that workspaces are in (docs/scaling.md). All of these tables belong to the directory.
CREATE TABLE cells (
  name        text         PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,29}$'),
  -- Encrypted with SECRET_KEYS, since it contains a password. Null: the database of the directory.
  sealed_url  text,
  schema      text,
  state       text         NOT NULL CHECK (state IN ('open', 'draining')),
  -- Number of its workspaces: new ones go to the open cell with the fewest.
  workspaces  bigint       NOT NULL DEFAULT 0,
  added_at    timestamptz  NOT NULL DEFAULT now()
);

CREATE TABLE workspace_cells (
  tenant_id   uuid         PRIMARY KEY,
  cell        text         NOT NULL REFERENCES cells (name)
);
CREATE INDEX workspace_cells_cell ON workspace_cells (cell, tenant_id);

-- The cells with memberships of an account, besides that of the directory. An ended membership leaves its row.
CREATE TABLE account_cells (
  account_id  uuid         NOT NULL,
  cell        text         NOT NULL REFERENCES cells (name),
  PRIMARY KEY (account_id, cell)
);

-- Decisions about transactions in several databases, until every cell has carried them out.
CREATE TABLE commit_decisions (
  id          uuid         PRIMARY KEY,
  committed   boolean      NOT NULL,
  decided_at  timestamptz  NOT NULL DEFAULT now()
);
CREATE INDEX commit_decisions_decided ON commit_decisions (decided_at);

INSERT INTO cells (name, state, workspaces, added_at) SELECT 'main', 'open', count(*), '-infinity' FROM tenants;
INSERT INTO workspace_cells (tenant_id, cell) SELECT id, 'main' FROM tenants;

-- A workspace and the directory may be in different databases.
ALTER TABLE forms DROP CONSTRAINT forms_tenant_id_fkey;
ALTER TABLE rbac_groups DROP CONSTRAINT rbac_groups_tenant_id_fkey;
ALTER TABLE scim_tokens DROP CONSTRAINT scim_tokens_tenant_id_fkey;
ALTER TABLE tenant_invitations DROP CONSTRAINT tenant_invitations_tenant_id_fkey;
ALTER TABLE tenant_members DROP CONSTRAINT tenant_members_tenant_id_fkey;
ALTER TABLE tenant_rbac DROP CONSTRAINT tenant_rbac_tenant_id_fkey;

-- Moves of workspaces between cells. A row stays until the former cell has no row of the workspace any more.
CREATE TABLE workspace_moves (
  tenant_id   uuid         PRIMARY KEY,
  source      text         NOT NULL REFERENCES cells (name),
  target      text         NOT NULL REFERENCES cells (name),
  -- switched: the workspace is in its new cell.
  state       text         NOT NULL CHECK (state IN ('copying', 'switched')),
  -- Renewed by the process that moves the workspace; another one ends an abandoned move.
  alive_at    timestamptz  NOT NULL DEFAULT now()
);

-- Trigger function of `workspace_moves`, in each cell: the error is one of an unavailable server.
CREATE FUNCTION workspace_is_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the workspace is being moved to another database' USING ERRCODE = '57P03';
END $$;
