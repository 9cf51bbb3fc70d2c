import { defineError } from '../http/api-error.js';
import { QuotaExceededResponse } from './quotas.response.js';

export const QuotaErrors = {
  exceeded: defineError(
    409,
    'quota_exceeded',
    'The user or the item has the maximum number of such objects. Delete or end some of them first.',
    { example: { quota: 'forms', scope: 'user', limit: 1_000 }, type: QuotaExceededResponse },
  ),
} as const;
