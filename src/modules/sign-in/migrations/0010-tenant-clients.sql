-- Clients that administrators of a workspace registered. They are for members of this workspace only.
ALTER TABLE oidc_clients ADD COLUMN owner_tenant_id uuid REFERENCES tenants (id);
ALTER TABLE oidc_clients ADD COLUMN created_by uuid;
-- Scopes that the client may request; null: all.
ALTER TABLE oidc_clients ADD COLUMN scopes text[];
CREATE INDEX oidc_clients_owner ON oidc_clients (owner_tenant_id, id) WHERE owner_tenant_id IS NOT NULL;
