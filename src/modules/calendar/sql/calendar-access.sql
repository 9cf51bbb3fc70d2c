-- The roles of users in calendars: as owner, by a share with them, by a share with a group. A user may have several rows.
CREATE VIEW calendar_access AS
SELECT tenant_id, id AS calendar_id, owner_id AS user_id, 'owner'::calendar_role AS role FROM calendars
UNION ALL
SELECT tenant_id, calendar_id, grantee_id, role FROM calendar_shares WHERE grantee_kind = 'user'
UNION ALL
SELECT share.tenant_id, share.calendar_id, membership.user_id, share.role
  FROM calendar_shares share
  JOIN group_memberships membership
    ON membership.tenant_id = share.tenant_id AND membership.group_id = share.grantee_id
 WHERE share.grantee_kind = 'group';

-- The highest role of a user in a calendar; null without access. PL/pgSQL keeps the plan; SQL would plan it in every statement.
CREATE FUNCTION calendar_role_of(p_tenant uuid, p_calendar uuid, p_owner uuid, p_user uuid) RETURNS calendar_role
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_owner = p_user THEN RETURN 'owner'; END IF;
  RETURN (SELECT max(role) FROM calendar_access
           WHERE tenant_id = p_tenant AND calendar_id = p_calendar AND user_id = p_user);
END $$;

-- Calendars with their owners, as a request needs them.
CREATE VIEW calendar_contexts AS
SELECT calendar.tenant_id, calendar.id, calendar.owner_id, owner.email AS owner_email, owner.display_name AS owner_name,
       calendar.name, calendar.color, calendar.time_zone, calendar.default_reminders, calendar.change_seq, calendar.floor_seq
  FROM calendars calendar
  JOIN member_profiles owner ON owner.tenant_id = calendar.tenant_id AND owner.user_id = calendar.owner_id;

-- The default calendars of active members; creates the missing ones.
CREATE FUNCTION calendar_defaults(p_tenant uuid, p_users uuid[])
RETURNS TABLE (user_id uuid, calendar_id uuid, time_zone text) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO calendars (tenant_id, id, owner_id, name, description, color, time_zone, is_default, affects_free_busy,
                         default_reminders, revision, created_at, updated_at)
  SELECT p_tenant, uuid_v7(), member.user_id, 'Calendar', '', '#2f80ed', coalesce(zone.time_zone, 'UTC'), true, true,
         '[{"method": "popup", "minutes": 10}]', 1, clock_timestamp(), clock_timestamp()
    FROM member_profiles member
    LEFT JOIN member_locales zone ON zone.tenant_id = member.tenant_id AND zone.user_id = member.user_id
   WHERE member.tenant_id = p_tenant AND member.user_id = ANY (p_users) AND member.status = 'active'
     AND NOT EXISTS (SELECT FROM calendars existing
                      WHERE existing.tenant_id = p_tenant AND existing.owner_id = member.user_id AND existing.is_default)
   ORDER BY member.user_id
  ON CONFLICT DO NOTHING;
  RETURN QUERY SELECT calendar.owner_id, calendar.id, calendar.time_zone FROM calendars calendar
    WHERE calendar.tenant_id = p_tenant AND calendar.owner_id = ANY (p_users) AND calendar.is_default;
END $$;
