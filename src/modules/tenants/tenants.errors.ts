import { defineError } from '../../platform/http/api-error.js';

export const TenantErrors = {
  noLogo: defineError(404, 'not_found', 'The workspace has no logo.'),
  invalidImage: defineError(
    422,
    'invalid_image',
    'The logo must be a PNG, JPEG or WebP image of at most 2048 by 2048 pixels.',
  ),
} as const;
