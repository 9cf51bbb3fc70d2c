import type { FieldProblem } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import { type Fields, isFields, pick } from '../fields.js';
import { truth } from './words.js';

/** Messages of one request to us, and of one call of the mail service, which updates them one after the other. */
const MAX_MESSAGES = 5_000;
const CHUNK = 250;

/** A change of many messages of a mailbox. */
export interface BulkChange {
  /** Distinct, in the order given; null: said in a way that the mail service is left to refuse. */
  ids: number[] | null;
  /** What changes, in the mail service's words. */
  fields: Fields;
  /** Back to where each was moved from. */
  restore: boolean;
}

/**
 * @throws ApiError 422 `validation_failed` where `message` names anything but single messages, or it is not clear whether
 *   messages are to be moved or restored
 */
export function bulkChange(body: Fields): BulkChange {
  const fields = pick(body, ['moveTo', 'seen']);
  const restore = Object.hasOwn(body, 'restoreToOrigin') ? truth(body['restoreToOrigin']) : false;
  if (restore === undefined) throw wrong('restoreToOrigin', 'is_boolean', 'must be true or false');
  if (restore && Object.hasOwn(fields, 'moveTo'))
    throw wrong('restoreToOrigin', 'one_of', 'cannot be given together with moveTo');
  return { ids: messageIds(body['message']), fields, restore };
}

/** WildDuck takes one string, `"1,2"`; the contract an array of numbers or strings. Ranges are not in the contract. */
function messageIds(message: unknown): number[] | null {
  if (message === undefined || message === '' || (Array.isArray(message) && message.length === 0))
    return null;
  const items: unknown[] = Array.isArray(message) ? message : [message];
  const ids = items.flatMap((item) => (typeof item === 'string' ? item.split(',') : [item]).map(messageId));
  if (ids.length > MAX_MESSAGES)
    throw wrong('message', 'array_max_size', `must name at most ${MAX_MESSAGES} messages`);
  return [...new Set(ids)];
}

function messageId(item: unknown): number {
  const id = typeof item === 'string' && /^[1-9]\d{0,15}$/.test(item) ? Number(item) : item;
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  throw wrong('message', 'is_message_id', 'must be a list of message ids, which are positive integers');
}

function wrong(field: string, code: string, message: string) {
  const details: FieldProblem[] = [{ field, code, message: `${field} ${message}` }];
  return Errors.validationFailed.with({ details });
}

/** The ids as the strings of as many calls as they take. */
export function messageStrings(ids: readonly number[]): string[] {
  return Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, n) =>
    ids.slice(n * CHUNK, (n + 1) * CHUNK).join(','),
  );
}

/** Old and new ids of messages that were moved. */
export type MovedPairs = [number, number][];

/** What a move did: WildDuck answers `{ mailbox, id: [[old, new], ...] }`. */
export function movedBy(answer: unknown): { mailbox: string; pairs: MovedPairs } | null {
  if (!isFields(answer) || answer['success'] !== true) return null;
  const { mailbox, id } = answer;
  if (typeof mailbox !== 'string' || !/^[0-9a-f]{24}$/i.test(mailbox) || !Array.isArray(id)) return null;
  const isPair = (pair: unknown): pair is [number, number] =>
    Array.isArray(pair) && pair.length === 2 && pair.every((n) => Number.isSafeInteger(n) && Number(n) > 0);
  return { mailbox: mailbox.toLowerCase(), pairs: id.filter((pair) => isPair(pair)) };
}

/** One answer out of those of several calls that all did something. */
export function mergedAnswer(answers: readonly Fields[]): Fields {
  const [first = { success: true, updated: 0 }, ...others] = answers;
  if (others.length === 0) return first;
  const merged: Fields = { success: true };
  const counts = answers.map((answer) => answer['updated']).filter((count) => typeof count === 'number');
  if (counts.length > 0) merged['updated'] = counts.reduce((sum, count) => sum + count, 0);
  const moves = answers.flatMap((answer) => movedBy(answer) ?? []);
  if (moves.length === 0) return merged;
  const targets = Map.groupBy(moves, ({ mailbox }) => mailbox);
  const pairs = (group: typeof moves) => group.flatMap((move) => move.pairs);
  if (targets.size === 1) merged['mailbox'] = moves[0]?.mailbox;
  else merged['restored'] = [...targets].map(([mailbox, group]) => ({ mailbox, id: pairs(group) }));
  return { ...merged, id: pairs(moves) };
}
