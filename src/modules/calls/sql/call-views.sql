-- Active users who may see and join a call, with their role in it. A call in a room is open to the members of the room;
-- its host needs to be a member, too. `member_since` is null without a room.
CREATE VIEW call_access AS
SELECT call.tenant_id, call.id AS call_id, granted.user_id, granted.role, granted.member_since, profile.display_name
  FROM calls call
  CROSS JOIN LATERAL (
    SELECT member.user_id, member.joined_at AS member_since,
           CASE WHEN member.user_id = call.host_id THEN 'host' WHEN member.role >= 'moderator' THEN 'moderator' ELSE 'member' END AS role
      FROM chat_room_roles member WHERE member.tenant_id = call.tenant_id AND member.room_id = call.room_id
     UNION ALL
    SELECT call.host_id, NULL, 'host' WHERE call.room_id IS NULL
     UNION ALL
    SELECT member.user_id, NULL, 'member' FROM call_members member
     WHERE call.room_id IS NULL AND member.tenant_id = call.tenant_id AND member.call_id = call.id AND member.user_id <> call.host_id
  ) granted
  JOIN member_profiles profile
    ON profile.tenant_id = call.tenant_id AND profile.user_id = granted.user_id AND profile.status = 'active';

-- Calls as JSON, for all responses and events. `members` counts the connected participants without viewers, which
-- `max_participants` limits.
CREATE VIEW call_views AS
SELECT call.tenant_id, call.id,
       json_build_object(
         'id', call.id, 'call_id', call.id, 'room_id', call.room_id, 'title', call.title, 'kind', call.kind, 'state', call.state,
         'host_id', call.host_id, 'external_locked', call.external_locked,
         'settings', json_build_object('lobby', call.lobby, 'otp', call.otp, 'guest_chat', call.guest_chat, 'auto_record', call.auto_record),
         'participants', connected.count,
         'recording', EXISTS (
           SELECT FROM recordings recording WHERE recording.tenant_id = call.tenant_id AND recording.call_id = call.id
              AND recording.state IN ('starting', 'active', 'stopping')),
         'scheduled_at', rfc3339(call.scheduled_at), 'started_at', rfc3339(call.started_at), 'ended_at', rfc3339(call.ended_at),
         'created_at', rfc3339(call.created_at), 'url', '/apis/v1/call/tokens/' || call.id || '/mint')::text AS call,
       connected.count AS participants, connected.guests, connected.members
  FROM calls call
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS count, (count(*) FILTER (WHERE participant.principal_kind = 'guest'))::int AS guests,
           (count(*) FILTER (WHERE participant.principal_kind <> 'viewer'))::int AS members
      FROM call_participants participant
     WHERE participant.tenant_id = call.tenant_id AND participant.call_id = call.id AND participant.left_at IS NULL) connected;
