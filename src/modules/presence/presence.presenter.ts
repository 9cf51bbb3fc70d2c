import type { ChoiceRow, PresenceRow } from './presence.repository.js';
import type { OwnPresenceResponse, PresenceResponse } from './presence.response.js';

export const presenceOf = ({ user_id, status, text, last_active_at }: PresenceRow): PresenceResponse => ({
  user_id,
  status,
  text,
  last_active_at: last_active_at?.toISOString() ?? null,
});

export const ownPresenceOf = ({ choice, text, choice_until }: ChoiceRow): OwnPresenceResponse => ({
  status: choice ?? 'online',
  text,
  until: choice_until?.toISOString() ?? null,
});
