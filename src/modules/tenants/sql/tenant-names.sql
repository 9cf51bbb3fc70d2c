-- The names of workspaces as other modules read them.
CREATE VIEW tenant_names AS SELECT id, slug, name FROM tenants;
