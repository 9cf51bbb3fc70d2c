import { defineError } from '../../platform/http/api-error.js';

export const NotificationErrors = {
  notFound: defineError(404, 'not_found', 'You have no such notification.'),
  invalidTransition: defineError(
    409,
    'invalid_transition',
    'The notification cannot change from its state into this one.',
  ),
} as const;
