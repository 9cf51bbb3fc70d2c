import { defineError } from '../http/api-error.js';
import { CursorExpiredResponse } from './cursor-expired.response.js';

export const CURSOR_EXPIRED = defineError(
  410,
  'cursor_expired',
  'The cursor cannot be continued from; rebuild the index as the hint says.',
  { reset_required: true, hint: 'GET /apis/v1/notes/index' },
  CursorExpiredResponse,
);
