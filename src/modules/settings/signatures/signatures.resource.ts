import { defineError } from '../../../platform/http/api-error.js';
import { resource } from '../../../platform/resources/resource.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { SignatureResponse } from './signatures.dto.js';

export const SIGNATURES = resource({
  tag: 'settings',
  name: 'signature',
  path: 'settings/signatures',
  item: SignatureResponse,
  notFound: 'You have no such signature.',
});

export const tooManySignatures = defineError(
  422,
  'too_many_signatures',
  `A user may have at most ${QUOTAS.user.signatures} signatures.`,
);
