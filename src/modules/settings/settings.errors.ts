import { defineError } from '../../platform/http/api-error.js';
import { PreferencesConflictResponse } from './preferences/preferences-conflict.response.js';

export const SettingsErrors = {
  fieldLocked: defineError(422, 'field_locked', 'The workspace does not let members change this field.'),
  conflict: defineError(
    409,
    'conflict',
    'The preferences have changed since you read them; merge and retry with the `rev` in this response.',
    { example: { rev: 4, preferences: { theme: 'dark' } }, type: PreferencesConflictResponse },
  ),
} as const;
