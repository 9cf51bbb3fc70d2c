import { defineError } from '../../platform/http/api-error.js';

export const PresenceErrors = {
  userNotFound: defineError(404, 'not_found', 'The workspace has no such active user.'),
} as const;
