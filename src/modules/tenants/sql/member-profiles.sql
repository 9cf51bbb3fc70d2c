-- The members of workspaces as other modules read them. PostgreSQL expands it in place: the indexes of tenant_members serve it,
-- and FOR UPDATE locks the row of the table. Only `tenants` writes.
CREATE VIEW member_profiles AS
SELECT tenant_id, user_id, email, display_name, role, status, folded, created_at FROM tenant_members;
