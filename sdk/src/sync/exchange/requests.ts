import type { Outcome } from '../rows/changes.js';
import type { BatchRequest, BatchResponse } from './batch.js';
import { COLLECTIONS, partsOf } from '../collections.js';
import type { Change, Row } from '../rows/row.js';

/** Statuses after which a request may succeed unchanged: sign-in, limits, overload. 424 and 503: a batch that did not run all requests. */
const TEMPORARY = new Set([401, 408, 424, 425, 429]);
const SERVER_ERROR = 500;
/** Errors of the session of the user, not of the request. */
const OF_SESSION = new Set([
  'workspace_forbidden',
  'second_factor_required',
  'second_factor_enrolment_required',
]);
/** The request has happened: an earlier attempt, whose key is forgotten, or someone else has done the same. */
const DONE: Readonly<Record<'create' | 'fields' | 'remove', ReadonlySet<string>>> = {
  create: new Set(['already_exists', 'duplicate_external_id']),
  fields: new Set(['no_changes']),
  remove: new Set(['deleted', 'not_found']),
};

/**
 * The request of a row with `sent`. It depends on the row only, so that a repeated one is the same.
 * @param device name of the device in the history of objects
 */
export function writeOf({ feed, id, sent }: Row, device: string): BatchRequest {
  const { name, scope = '' } = partsOf(feed);
  const { path, idField, update, hasDevice } = COLLECTIONS[name];
  const { key, change, revision } = sent!;
  const one = `${path(scope)}/${encodeURIComponent(id)}`;
  const named = hasDevice ? { device_id: device } : {};
  const guarded = { ...named, ...(revision !== undefined && { base_revision: revision }) };
  if (change.create)
    return { method: 'POST', path: path(scope), body: { ...change.fields, [idField]: id, ...named }, key };
  if (change.restore) return { method: 'POST', path: `${one}/restore`, body: named, key };
  if (change.remove) return { method: 'DELETE', path: one, body: guarded, key };
  return { method: update, path: one, body: { ...change.fields, ...guarded }, key };
}

/** What a response means for the request of a row. */
export function outcomeOf({ feed, sent }: Row, { status, body, revision: named }: BatchResponse): Outcome {
  if (status < 300) {
    const item = body[COLLECTIONS[partsOf(feed).name].itemKey] as { revision?: number } | undefined;
    const revision = named ?? item?.revision;
    return { kind: 'done', ...(revision !== undefined && { revision }) };
  }
  const {
    error: code = `http_${status}`,
    message = '',
    details,
  } = body as Record<string, string | undefined>;
  const mayRunLater = status >= SERVER_ERROR || TEMPORARY.has(status) || code === 'request_in_flight';
  if (mayRunLater || OF_SESSION.has(code)) return { kind: 'wait' };
  const step = stepOf(sent!.change);
  if (step !== 'restore' && DONE[step].has(code)) return { kind: 'done' };
  if (code === 'conflict' || code === 'idempotency_key_reused') return { kind: 'conflict' };
  return { kind: 'problem', problem: { status, code, message, ...(details !== undefined && { details }) } };
}

const stepOf = ({ create, restore, remove }: Change) =>
  create ? 'create' : restore ? 'restore' : remove ? 'remove' : 'fields';
