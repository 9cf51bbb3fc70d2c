import { defineError } from '../../platform/http/api-error.js';
import { PreferencesConflictResponse } from './preferences-conflict.response.js';

export const SettingsErrors = {
  signatureNotFound: defineError(404, 'not_found', 'There is no such signature of yours.'),
  conflict: defineError(
    409,
    'conflict',
    'The preferences have changed since you read them.',
    { rev: 4, preferences: { theme: 'dark' } },
    PreferencesConflictResponse,
  ),
  tooManySignatures: defineError(422, 'too_many_signatures', 'A person may have at most 100 signatures.'),
} as const;
