-- The members of workspaces as other modules read them. PostgreSQL expands it in place: the indexes of tenant_members serve it,
-- and FOR UPDATE locks the row of the table. Only `tenants` writes.
CREATE VIEW member_profiles AS
SELECT tenant_id, user_id, email, display_name, role, status, folded, created_at, is_service FROM tenant_members;

-- The deactivated members among these users, as a JSON array, without p_present: a deactivated member may stay in a list and
-- cannot be added to one. NULL without any.
CREATE FUNCTION inactive_members(p_tenant uuid, p_users uuid[], p_present uuid[]) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT json_agg(user_id) FROM tenant_members
           WHERE tenant_id = p_tenant AND user_id = ANY (p_users) AND user_id <> ALL (p_present) AND status <> 'active');
END $$;
