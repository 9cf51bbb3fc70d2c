-- The forms that a user can open, with the highest role on each.
-- p_role: the role that the permissions of the user give on all forms of the workspace; null for none.
CREATE FUNCTION visible_forms(p_tenant uuid, p_user uuid, p_role form_role)
RETURNS TABLE (form_id uuid, role form_role) LANGUAGE sql STABLE AS $$
  SELECT granted.form_id, max(granted.role)
    FROM (SELECT form.id AS form_id, 'owner'::form_role AS role
            FROM forms form WHERE form.tenant_id = p_tenant AND form.owner_id = p_user
          UNION ALL
          SELECT access.form_id, access.role
            FROM form_access access
           WHERE access.tenant_id = p_tenant AND access.principal_kind = 'user' AND access.principal_id = p_user
          UNION ALL
          SELECT access.form_id, access.role
            FROM group_memberships membership
            JOIN form_access access ON access.tenant_id = membership.tenant_id AND access.principal_kind = 'group'
                 AND access.principal_id = membership.group_id
           WHERE membership.tenant_id = p_tenant AND membership.user_id = p_user
          UNION ALL
          SELECT form.id, p_role FROM forms form WHERE p_role IS NOT NULL AND form.tenant_id = p_tenant) granted
   GROUP BY granted.form_id
$$;

-- The highest role of a user on one form, in one row; null without access.
-- p_token_hash: SHA-256 of the token of a share link; null for none.
-- Returns a table, because PostgreSQL plans a scalar SQL function again for each call, and inlines this one into the statement.
CREATE FUNCTION form_role_of(p_tenant uuid, p_user uuid, p_form uuid, p_role form_role, p_token_hash bytea)
RETURNS TABLE (role form_role) LANGUAGE sql STABLE AS $$
  SELECT max(granted.role)
    FROM (SELECT CASE WHEN form.owner_id = p_user THEN 'owner' ELSE p_role END AS role
            FROM forms form WHERE form.tenant_id = p_tenant AND form.id = p_form
          UNION ALL
          SELECT form.share_role FROM forms form
           WHERE form.tenant_id = p_tenant AND form.id = p_form AND form.share_token_hash = p_token_hash
             AND (form.share_expires_at IS NULL OR form.share_expires_at > now())
          UNION ALL
          SELECT access.role FROM form_access access
           WHERE access.tenant_id = p_tenant AND access.form_id = p_form
             AND access.principal_kind = 'user' AND access.principal_id = p_user
          UNION ALL
          SELECT access.role FROM form_access access
           WHERE access.tenant_id = p_tenant AND access.form_id = p_form AND access.principal_kind = 'group'
             AND EXISTS (SELECT FROM group_memberships membership
                          WHERE membership.tenant_id = p_tenant AND membership.user_id = p_user
                            AND membership.group_id = access.principal_id)) granted
$$;

-- The number of responses of a form, in one row. A table for the same reason.
CREATE FUNCTION form_response_count(p_tenant uuid, p_form uuid) RETURNS TABLE (count bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(counter.count), 0)::bigint FROM form_counters counter
   WHERE counter.tenant_id = p_tenant AND counter.form_id = p_form
$$;
