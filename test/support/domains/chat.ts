/**
 * SQL that adds $4 text messages of the member $2 to the room $3 of the workspace $1, for tests and benches that need many messages,
 * or messages of an open transaction. @returns the number of the newest change
 */
export const ADD_MESSAGES = `
  WITH room AS (
    UPDATE chat_rooms SET last_seq = last_seq + $4::int, mod_seq = mod_seq + $4::int, active_at = clock_timestamp()
     WHERE tenant_id = $1 AND id = $3
    RETURNING last_seq - $4::int AS seq, mod_seq - $4::int AS mod_seq, active_at),
  added AS (
    INSERT INTO chat_messages (
      tenant_id, room_id, seq, id, mod_seq, sender_id, client_msg_id, fingerprint, kind, body, format, tsv, created_at)
    SELECT $1::uuid, $3::uuid, room.seq + n, gen_random_uuid(), room.mod_seq + n, $2::uuid, gen_random_uuid(), '\\x00', 'text',
           n::text, 'plain', '', room.active_at
      FROM room CROSS JOIN generate_series(1, $4::int) n),
  seen AS (
    UPDATE chat_members member SET last_read_seq = room.seq + $4::int FROM room
     WHERE member.tenant_id = $1 AND member.room_id = $3 AND member.user_id = $2 AND member.last_read_seq = room.seq)
  SELECT (mod_seq + $4::int)::float8 AS mod_seq FROM room`;
