import { type ApiError, fieldError } from '../../../platform/http/errors.js';
import { booleanOf, type Fields, isFields, isObjectId, pick } from '../input/fields.js';

const MAX_MESSAGES = 5_000;
/** Messages per request to the mail service, which updates them one by one. */
const CHUNK = 250;

/** A change of several messages of one mailbox. */
export interface BulkChange {
  /** Distinct, in request order; null when `message` is missing or empty, for the mail service to reject. */
  ids: number[] | null;
  /** WildDuck's fields of the change. */
  fields: Fields;
  /** Move each message back to its original mailbox. */
  restore: boolean;
  /** Delete the messages permanently. */
  delete: boolean;
}

/** @throws ApiError 422 `validation_failed` for invalid message ids and for changes that exclude each other */
export function bulkChange(body: Fields): BulkChange {
  const fields = pick(body, ['moveTo', 'seen', 'flagged']);
  const restore = flag(body, 'restoreToOrigin');
  const remove = flag(body, 'delete');
  if (remove && (restore || Object.keys(fields).length > 0))
    throw invalid('delete', 'one_of', 'cannot be combined with other changes');
  if (restore && Object.hasOwn(fields, 'moveTo'))
    throw invalid('restoreToOrigin', 'one_of', 'cannot be combined with moveTo');
  return { ids: messageIds(body['message']), fields, restore, delete: remove };
}

function flag(body: Fields, name: string): boolean {
  const value = Object.hasOwn(body, name) ? booleanOf(body[name]) : false;
  if (value === undefined) throw invalid(name, 'is_boolean', 'must be true or false');
  return value;
}

/** Not `draft`: it would turn any stored message, whose sender may be forged, into one that can be submitted. */
export const FLAGS = ['seen', 'flagged', 'deleted'] as const;

/**
 * Splits a change into the updates it takes: WildDuck cannot set one flag and clear another in one update, and a move gives
 * a message a new id, so it comes last.
 */
export function splitFlags(fields: Fields): Fields[] {
  const cleared = FLAGS.filter((name) => booleanOf(fields[name]) === false);
  const rest = Object.keys(fields).filter((name) => !cleared.includes(name as never));
  if (cleared.length === 0 || rest.length === 0) return [fields];
  return [pick(fields, cleared), pick(fields, rest)];
}

/** Parses the contract's array of numbers or strings, without ranges. WildDuck takes one string, `"1,2"`. */
function messageIds(message: unknown): number[] | null {
  if (message === undefined || message === '' || (Array.isArray(message) && message.length === 0))
    return null;
  const items: unknown[] = Array.isArray(message) ? message : [message];
  const ids = items.flatMap((item) => (typeof item === 'string' ? item.split(',') : [item]).map(messageId));
  if (ids.length > MAX_MESSAGES)
    throw invalid('message', 'array_max_size', `must list at most ${MAX_MESSAGES} messages`);
  return [...new Set(ids)];
}

function messageId(item: unknown): number {
  const id = typeof item === 'string' && /^[1-9]\d{0,15}$/.test(item) ? Number(item) : item;
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  throw invalid('message', 'is_message_id', 'must be a list of message ids (positive integers)');
}

const invalid = (field: string, code: string, message: string): ApiError =>
  fieldError(field, code, `${field} ${message}`);

/** Splits the ids into requests. @returns the `message` string of each request */
export function messageStrings(ids: readonly number[]): string[] {
  return Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, n) =>
    ids.slice(n * CHUNK, (n + 1) * CHUNK).join(','),
  );
}

/** Old and new ids of moved messages. */
export type MovedPairs = [number, number][];

/** Reads the moves of a WildDuck response: `{ mailbox, id: [[old, new], ...] }`. Null when the response is no move. */
export function movesOf(response: unknown): { mailbox: string; pairs: MovedPairs } | null {
  if (!isFields(response) || response['success'] !== true) return null;
  const { mailbox, id } = response;
  if (!isObjectId(mailbox) || !Array.isArray(id)) return null;
  const isPair = (pair: unknown): pair is [number, number] =>
    Array.isArray(pair) && pair.length === 2 && pair.every((n) => Number.isSafeInteger(n) && Number(n) > 0);
  return { mailbox: mailbox.toLowerCase(), pairs: id.filter((pair) => isPair(pair)) };
}

/** Merges the successful responses of several requests into one. */
export function mergedResponse(responses: readonly Fields[]): Fields {
  const [first = { success: true, updated: 0 }, ...others] = responses;
  if (others.length === 0) return first;
  const merged: Fields = { success: true };
  for (const name of ['updated', 'deleted']) {
    const counts = responses.map((each) => each[name]).filter((count) => typeof count === 'number');
    if (counts.length > 0) merged[name] = counts.reduce((sum, count) => sum + count, 0);
  }
  const moves = responses.flatMap((each) => movesOf(each) ?? []);
  if (moves.length === 0) return merged;
  const targets = Map.groupBy(moves, ({ mailbox }) => mailbox);
  const pairs = (group: typeof moves) => group.flatMap((move) => move.pairs);
  if (targets.size === 1) merged['mailbox'] = moves[0]?.mailbox;
  else merged['restored'] = [...targets].map(([mailbox, group]) => ({ mailbox, id: pairs(group) }));
  return { ...merged, id: pairs(moves) };
}
