import { defineError } from '../http/api-error.js';

/** Why there is no document. */
export const DocxErrors = {
  failed: defineError(502, 'docx_conversion_failed', 'The note could not be turned into a document.'),
  unavailable: defineError(503, 'docx_converter_unavailable', 'Documents cannot be made here right now.'),
} as const;

const TRY_AGAIN = { headers: { 'Retry-After': '5' } };

/** Too much to do; that passes. */
export const busy = () => DocxErrors.unavailable.with(TRY_AGAIN);
