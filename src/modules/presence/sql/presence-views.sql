-- The presence of users as other users see it. A choice whose end has passed no longer counts, although the sweep that stores and
-- reports this can come later. `is_shown`: the stored status, for which there is an index.
CREATE VIEW presence_views AS
SELECT member.tenant_id, member.user_id,
       CASE WHEN member.choice_until <= now() THEN coalesce((
              SELECT CASE WHEN bool_or(device.active) THEN 'online' WHEN count(*) > 0 THEN 'away' END FROM presence_devices device
               WHERE device.tenant_id = member.tenant_id AND device.user_id = member.user_id AND device.expires_at > now()), member.status)
            ELSE member.status END AS status,
       CASE WHEN member.choice_until <= now() OR member.choice = 'invisible' AND member.shown_until <= now() THEN ''
            ELSE member.shown_text END AS text,
       CASE WHEN member.status = 'offline' OR member.choice = 'invisible' THEN member.last_active_at
            ELSE greatest(member.last_active_at, (
              SELECT max(device.active_at) FROM presence_devices device
               WHERE device.tenant_id = member.tenant_id AND device.user_id = member.user_id)) END AS last_active_at,
       member.status <> 'offline' AS is_shown
  FROM presence_users member;

-- The rooms that visible users have open.
CREATE VIEW presence_viewers AS
SELECT DISTINCT device.tenant_id, device.user_id, viewed.room_id
  FROM presence_devices device
  JOIN presence_users member ON member.tenant_id = device.tenant_id AND member.user_id = device.user_id AND member.status <> 'offline'
  CROSS JOIN unnest(device.rooms) AS viewed (room_id);
