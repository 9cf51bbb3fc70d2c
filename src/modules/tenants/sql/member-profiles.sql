-- The members of workspaces as other modules read them. PostgreSQL expands the view in place: queries use the indexes of
-- tenant_members, and FOR UPDATE locks the rows of the table. Only the module `tenants` writes.
CREATE VIEW member_profiles AS
SELECT tenant_id, user_id, email, display_name, role, status, folded, created_at, is_service, erased_at, changed_at FROM tenant_members;

-- Returns the deactivated members among p_users as a JSON array; NULL if there are none. Users in p_present are not returned: a
-- deactivated member may stay in a list, but cannot be added to one.
CREATE FUNCTION inactive_members(p_tenant uuid, p_users uuid[], p_present uuid[]) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT json_agg(user_id) FROM tenant_members
           WHERE tenant_id = p_tenant AND user_id = ANY (p_users) AND user_id <> ALL (p_present) AND status <> 'active');
END $$;
