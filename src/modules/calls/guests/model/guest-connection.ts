/** SQL: whether the guest of the row `guest` is connected to a call at the media server. */
export const IS_CONNECTED = `EXISTS (
  SELECT FROM call_participants participant
   WHERE participant.tenant_id = guest.tenant_id AND participant.principal_id = guest.id AND participant.principal_kind <> 'user'
     AND participant.left_at IS NULL)`;
