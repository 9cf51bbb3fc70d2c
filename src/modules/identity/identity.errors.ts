import { defineError } from '../../platform/http/api-error.js';

export const ISSUER_UNAVAILABLE = defineError(
  503,
  'identity_provider_unavailable',
  'The identity provider cannot be reached, so the token cannot be verified; try again shortly.',
);
