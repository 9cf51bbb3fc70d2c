-- The roles of users on forms: of the owner, and those given to the user or to a group of the user. A user may have several.
CREATE VIEW form_grants AS
SELECT form.tenant_id, form.id AS form_id, form.owner_id AS user_id, 'owner'::form_role AS role FROM forms form
UNION ALL
SELECT access.tenant_id, access.form_id, access.principal_id, access.role FROM form_access access WHERE access.principal_kind = 'user'
UNION ALL
SELECT access.tenant_id, access.form_id, membership.user_id, access.role
  FROM form_access access
  JOIN group_memberships membership ON membership.tenant_id = access.tenant_id AND membership.group_id = access.principal_id
 WHERE access.principal_kind = 'group';

-- The users to whom, or to a group of whom, a report is shared.
CREATE VIEW form_report_readers AS
SELECT viewer.tenant_id, viewer.report_id, viewer.principal_id AS user_id
  FROM form_report_viewers viewer WHERE viewer.principal_kind = 'user'
UNION ALL
SELECT viewer.tenant_id, viewer.report_id, membership.user_id
  FROM form_report_viewers viewer
  JOIN group_memberships membership ON membership.tenant_id = viewer.tenant_id AND membership.group_id = viewer.principal_id
 WHERE viewer.principal_kind = 'group';

-- The forms that a user can open, with the highest role on each.
-- p_role: the role that the permissions of the user give on all forms of the workspace; null for none.
CREATE FUNCTION visible_forms(p_tenant uuid, p_user uuid, p_role form_role)
RETURNS TABLE (form_id uuid, role form_role) LANGUAGE sql STABLE AS $$
  SELECT granted.form_id, max(granted.role)
    FROM (SELECT own.form_id, own.role FROM form_grants own WHERE own.tenant_id = p_tenant AND own.user_id = p_user
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
    FROM (SELECT own.role FROM form_grants own WHERE own.tenant_id = p_tenant AND own.form_id = p_form AND own.user_id = p_user
          UNION ALL
          SELECT p_role FROM forms form WHERE form.tenant_id = p_tenant AND form.id = p_form
          UNION ALL
          SELECT form.share_role FROM forms form
           WHERE form.tenant_id = p_tenant AND form.id = p_form AND form.share_token_hash = p_token_hash
             AND (form.share_expires_at IS NULL OR form.share_expires_at > now())) granted
$$;

-- The number of responses of a form, in one row. A table for the same reason.
CREATE FUNCTION form_response_count(p_tenant uuid, p_form uuid) RETURNS TABLE (count bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(counter.count), 0)::bigint FROM form_counters counter
   WHERE counter.tenant_id = p_tenant AND counter.form_id = p_form
$$;
