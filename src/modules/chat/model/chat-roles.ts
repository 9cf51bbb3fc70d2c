import { CHAT_ROLES, type ChatRole } from '../chat.entity.js';

export const atLeast = (role: ChatRole | null, needed: ChatRole): boolean =>
  role !== null && CHAT_ROLES.indexOf(role) >= CHAT_ROLES.indexOf(needed);
