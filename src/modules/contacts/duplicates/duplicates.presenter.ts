import { type BookRole, contactJson, type ContactRow } from '../responses/contact.presenter.js';
import type { DuplicateReason } from './duplicates.dto.js';

/** The JSON of a `DuplicateGroupResponse`. */
export const groupJson = (
  reasons: readonly DuplicateReason[],
  rows: readonly ContactRow[],
  role: BookRole,
): string =>
  `{"reasons":${JSON.stringify(reasons)},"contacts":[${rows.map((row) => contactJson(row, role)).join(',')}]}`;
