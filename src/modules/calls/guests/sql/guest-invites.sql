-- Invites with their call, their room and their current state. An invite is revoked while its creator has no right to make it: access
-- to the call, or moderation of the room. While the creator is neither host nor moderator, the policy is at least as strict as that of
-- the call, as for new invites of members. The call of an invite to a room is the live call of the room.
CREATE VIEW guest_invite_states AS
SELECT invite.tenant_id, invite.id, invite.token_hash, invite.chat_token_hash, invite.chat_expires_at,
       invite.target_kind, invite.kind, invite.role, invite.email, invite.name,
       invite.require_otp OR creator_role.name IS NOT DISTINCT FROM 'member' AND invite.kind = 'personal' AND call.otp AS require_otp,
       invite.require_approval OR creator_role.name IS NOT DISTINCT FROM 'member' AND invite.role = 'guest'
         AND (invite.kind = 'link' OR call.lobby) AS require_approval,
       invite.chat_allowed AND invite.room_id IS NOT NULL AND coalesce(call.guest_chat, true) AS chat_allowed,
       invite.max_uses, invite.uses, invite.created_by, invite.created_at, invite.room_id,
       least(invite.expires_at, call.ended_at + interval '24 hours') AS expires_at,
       CASE WHEN invite.revoked_at IS NOT NULL OR creator.status IS DISTINCT FROM 'active' OR creator_role.name IS NULL THEN 'revoked'
            WHEN least(invite.expires_at, call.ended_at + interval '24 hours') <= now() THEN 'expired'
            WHEN invite.uses >= invite.max_uses THEN 'exhausted'
            ELSE 'active' END AS state,
       call.id AS call_id, call.kind AS call_kind, call.state AS call_state, call.host_id,
       coalesce(call.title, room.name, '') AS title, coalesce(call.started_at, call.scheduled_at) AS starts_at,
       coalesce(call.external_locked, false) AS locked, call.max_guests, call.max_viewers,
       room.last_seq, room.archived_at
  FROM external_invites invite
  LEFT JOIN LATERAL (
    SELECT * FROM calls
     WHERE calls.tenant_id = invite.tenant_id
       AND calls.id = coalesce(invite.call_id, (
             SELECT live.id FROM calls live
              WHERE live.tenant_id = invite.tenant_id AND live.room_id = invite.room_id AND live.state = 'live'))) call ON true
  LEFT JOIN chat_room_refs room ON room.tenant_id = invite.tenant_id AND room.id = invite.room_id
  LEFT JOIN member_profiles creator ON creator.tenant_id = invite.tenant_id AND creator.user_id = invite.created_by
 CROSS JOIN LATERAL (
    SELECT CASE invite.target_kind
                WHEN 'call' THEN (
                  SELECT access.role FROM call_access access
                   WHERE access.tenant_id = invite.tenant_id AND access.call_id = invite.call_id AND access.user_id = invite.created_by)
                ELSE (
                  SELECT 'moderator' FROM chat_room_roles member
                   WHERE member.tenant_id = invite.tenant_id AND member.room_id = invite.room_id AND member.user_id = invite.created_by
                     AND (member.role >= 'moderator' OR member_has_permission(invite.tenant_id, invite.created_by, 'chat.rooms.moderate')))
           END AS name) creator_role;

-- The users who decide about a guest: the host, and owners and moderators of the room.
CREATE VIEW guest_deciders AS
SELECT guest.tenant_id, guest.id AS guest_id, access.user_id FROM guests guest
  JOIN call_access access ON access.tenant_id = guest.tenant_id AND access.call_id = guest.call_id AND access.role <> 'member'
 UNION
SELECT guest.tenant_id, guest.id AS guest_id, role.user_id FROM guests guest
  JOIN chat_room_roles role ON role.tenant_id = guest.tenant_id AND role.room_id = guest.room_id AND role.role >= 'moderator';

-- Guests who wait or waited for a decision, and domains, as JSON for lists, decisions and sockets.
CREATE VIEW guest_approval_views AS
SELECT guest.tenant_id, guest.id, 'guest' AS kind, state.name AS state, guest.call_id, guest.room_id, invite.target_kind,
       json_build_object(
         'id', guest.id, 'kind', 'guest', 'state', state.name,
         'guest', json_build_object('id', guest.id, 'name', guest.display_name, 'email', guest.email,
                                    'email_verified', guest.email_verified_at IS NOT NULL),
         'domain', NULL, 'requested_by', NULL, 'invite_id', guest.invite_id, 'call_id', guest.call_id, 'room_id', guest.room_id,
         'reason', coalesce(guest.decision_reason, ''), 'waiting_since', rfc3339(guest.waiting_since),
         'decided_by', guest.decided_by, 'decided_at', rfc3339(guest.decided_at)) AS approval
  FROM guests guest
  JOIN external_invites invite ON invite.tenant_id = guest.tenant_id AND invite.id = guest.invite_id
 CROSS JOIN LATERAL (SELECT CASE WHEN guest.state IN ('admitted', 'in_session', 'left') THEN 'approved' ELSE guest.state::text END AS name) state
 WHERE guest.role = 'guest' AND guest.waiting_since IS NOT NULL
 UNION ALL
SELECT domain.tenant_id, domain.id, 'domain', state.name, NULL, NULL, NULL,
       json_build_object(
         'id', domain.id, 'kind', 'domain', 'state', state.name, 'guest', NULL, 'domain', domain.domain,
         'requested_by', domain.requested_by, 'invite_id', NULL, 'call_id', NULL, 'room_id', NULL, 'reason', domain.reason,
         'waiting_since', rfc3339(domain.created_at), 'decided_by', domain.reviewed_by, 'decided_at', rfc3339(domain.reviewed_at))
  FROM guest_domains domain
 CROSS JOIN LATERAL (
   SELECT CASE domain.state WHEN 'requested' THEN 'waiting' WHEN 'allowed' THEN 'approved' ELSE 'denied' END AS name) state;
