import { defineError } from '../../platform/http/api-error.js';

export const PushErrors = {
  notFound: defineError(404, 'not_found', 'You have no such push subscription.'),
} as const;
