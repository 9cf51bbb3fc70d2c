-- The presence of users as other users see it.
CREATE VIEW presence_views AS
SELECT member.tenant_id, member.user_id, member.status, member.shown_text AS text,
       CASE WHEN member.status = 'offline' OR member.choice = 'invisible' THEN member.last_active_at
            ELSE greatest(member.last_active_at, (
              SELECT max(device.active_at) FROM presence_devices device
               WHERE device.tenant_id = member.tenant_id AND device.user_id = member.user_id)) END AS last_active_at
  FROM presence_users member;

-- The rooms that visible users have open.
CREATE VIEW presence_viewers AS
SELECT DISTINCT device.tenant_id, device.user_id, viewed.room_id
  FROM presence_devices device
  JOIN presence_users member ON member.tenant_id = device.tenant_id AND member.user_id = device.user_id AND member.status <> 'offline'
  CROSS JOIN unnest(device.rooms) AS viewed (room_id);
