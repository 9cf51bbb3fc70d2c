import { defineError } from '../http/api-error.js';

/** The errors of document conversion. */
export const DocxErrors = {
  failed: defineError(
    502,
    'docx_conversion_failed',
    'The conversion of the note failed; retry, or simplify its content.',
  ),
  unavailable: defineError(
    503,
    'docx_converter_unavailable',
    'Document conversion is unavailable; retry later.',
  ),
} as const;

const RETRY_AFTER = { headers: { 'Retry-After': '5' } };

/** The queue is full. */
export const busy = () => DocxErrors.unavailable.with(RETRY_AFTER);
