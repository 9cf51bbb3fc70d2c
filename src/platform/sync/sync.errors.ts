import { defineError } from '../http/api-error.js';
import { CursorExpiredResponse } from './cursor-expired.response.js';

export const CURSOR_EXPIRED = defineError(
  410,
  'cursor_expired',
  'The cursor has expired; rebuild the index with the request in `hint`.',
  { example: { reset_required: true, hint: 'GET /apis/v1/notes/index' }, type: CursorExpiredResponse },
);
