import type Joi from 'joi';
import { ID } from '../ids.js';
import type { ListPosition } from './message-list.repository.js';

/** A position in a list and the number of the page that begins there. */
export interface ListCursor {
  place: ListPosition;
  page: number;
}

const DATE = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z$/;

/** WildDuck's format: base64url of `["[{\"$date\":…},{\"$oid\":…}]", page]`. Opaque to clients. */
export function writeCursor({ date, id }: ListPosition, page: number): string {
  const place = JSON.stringify([{ $date: date }, { $oid: id }]);
  return Buffer.from(JSON.stringify([place, page])).toString('base64url');
}

/** Joi validator: parses a cursor. */
export const cursorField: Joi.CustomValidator<string, ListCursor> = (text, helpers) => {
  try {
    const [place, page] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, number];
    const [{ $date: date }, { $oid: id }] = JSON.parse(place) as [{ $date: string }, { $oid: string }];
    const valid =
      DATE.test(date) && !Number.isNaN(Date.parse(date)) && ID.test(id) && Number.isSafeInteger(page);
    if (valid && page > 0) return { place: { date, id }, page };
  } catch {
    // Reported below.
  }
  return helpers.error('any.invalid');
};
