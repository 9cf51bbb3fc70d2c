import { defineError } from '../../../platform/http/api-error.js';
import { detail } from '../forms.errors.js';

/** The errors of share links and access. */
export const SharingErrors = {
  notShared: defineError(409, 'not_shared', 'The form has no share link.'),
  unknownUser: defineError(
    422,
    'unknown_user',
    'A user or group is not part of this workspace; see details.',
    {
      example: detail(
        'access.0',
        'unknown_user',
        'access.0 is not an active member or group of this workspace',
      ),
    },
  ),
} as const;
