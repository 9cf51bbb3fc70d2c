-- The groups of workspaces as other modules read them.
CREATE VIEW group_names AS SELECT tenant_id, id, name, folded, key, system, created_at, updated_at FROM rbac_groups;

-- The members of each group as other modules read them. Every active member of a workspace belongs to its members group.
CREATE VIEW group_memberships AS
SELECT tenant_id, group_id, user_id FROM rbac_members
UNION ALL
SELECT members.tenant_id, members.id, member.user_id
  FROM rbac_groups members
  JOIN member_profiles member ON member.tenant_id = members.tenant_id AND member.status = 'active'
 WHERE members.system AND members.key = 'members';

-- Whether a member has a permission now, as access.authority reads it for requests. Does not check that the member is active.
CREATE FUNCTION member_has_permission(p_tenant uuid, p_user uuid, p_permission text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM rbac_groups grp
     WHERE grp.tenant_id = p_tenant
       AND (grp.key = 'members' OR EXISTS (
             SELECT FROM rbac_members member
              WHERE member.tenant_id = p_tenant AND member.group_id = grp.id AND member.user_id = p_user))
       AND (grp.key = 'owners' OR EXISTS (
             SELECT FROM rbac_grants granted
              WHERE granted.tenant_id = p_tenant AND granted.group_id = grp.id AND granted.permission = p_permission)));
END $$;

-- Creates the system groups of a workspace, unless it has them. Returns whether it created them.
CREATE FUNCTION rbac_found(p_tenant uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tenant_rbac (tenant_id) VALUES (p_tenant) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO rbac_groups (tenant_id, id, key, name, folded, description, system, rank)
  SELECT p_tenant, uuid_v7(), key, name, key, description, true, rank FROM (VALUES
    ('owners', 'Owners', 'May do everything.', 1),
    ('admins', 'Admins', 'Run the workspace.', 2),
    ('members', 'Members', 'All active members of the workspace.', 3)) AS made (key, name, description, rank);
  INSERT INTO rbac_grants (tenant_id, group_id, permission)
  SELECT p_tenant, made.id, given.permission FROM rbac_groups made JOIN (VALUES
    ('admins', 'tenant.read'), ('admins', 'tenant.manage'), ('admins', 'tenant.policy'), ('admins', 'rbac.read'), ('admins', 'rbac.manage'),
    ('admins', 'users.invite'), ('admins', 'users.recover'), ('admins', 'clients.manage'),
    ('admins', 'users.deactivate'), ('admins', 'users.transfer'), ('admins', 'chat.rooms.create'), ('admins', 'chat.rooms.moderate'),
    ('admins', 'chat.messages.delete_any'), ('admins', 'calls.start'), ('admins', 'calls.record'),
    ('admins', 'calls.moderate'), ('admins', 'guests.invite'), ('admins', 'guests.review'),
    ('admins', 'guest_domains.review'), ('admins', 'recordings.read_any'), ('admins', 'forms.create'),
    ('admins', 'forms.manage_any'), ('admins', 'forms.export_any'), ('admins', 'reports.share'),
    ('admins', 'contacts.global.manage'), ('admins', 'calendar.holidays.manage'), ('admins', 'audit.read'),
    ('members', 'chat.rooms.create'), ('members', 'calls.start'), ('members', 'guests.invite'),
    ('members', 'forms.create'), ('members', 'reports.share')) AS given (key, permission) ON given.key = made.key
   WHERE made.tenant_id = p_tenant AND made.system;
  RETURN true;
END $$;
