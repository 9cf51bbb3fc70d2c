import { isEqual } from '../equal.js';
import { type Conflict, mergeField, type Resolve } from '../merge/fields.js';
import type { TextKind } from '../merge/text.js';
import type { Change, Item, Problem, Row } from './row.js';

/** What the steps of a row depend on. */
export interface Rules {
  collection: string;
  scope: string | undefined;
  idField: string;
  /** The service keeps removed objects, which can be restored. */
  hasTrash: boolean;
  texts: Readonly<Record<string, TextKind>>;
  resolve: Resolve;
}

/** What the response to a request means for it. */
export type Outcome =
  | { kind: 'done'; revision?: number }
  /** The service has not executed it, but may do so later. */
  | { kind: 'wait' }
  /** Someone else has changed the object. */
  | { kind: 'conflict' }
  | { kind: 'problem'; problem: Problem };

// Steps of a row. Each returns the new row, or undefined where nothing is left of it.

export function created(feed: string, id: string, fields: Item): Row {
  return { feed, id, open: { create: true, fields, base: {} } };
}

/**
 * @param fields new values
 * @param seen the item that the user has changed, if it may be older than the row: what has changed since then is merged
 */
export function edited(row: Row, fields: Item, rules: Rules, seen?: Item): Row {
  const shown = visible(row, rules) ?? {};
  const about = { collection: rules.collection, scope: rules.scope, id: row.id };
  const news = Object.entries(fields)
    .map(([name, value]): [string, unknown] =>
      seen ? [name, valueOf(about, name, value, seen[name], shown[name], rules)] : [name, value],
    )
    .filter(([name, value]) => !isEqual(value, shown[name]));
  if (news.length === 0) return row;
  const open: Change = { ...row.open, fields: { ...row.open?.fields }, base: { ...row.open?.base } };
  for (const [name, value] of news) {
    if (!(name in open.fields!)) open.base![name] = below(row, name);
    open.fields![name] = value;
  }
  return row.gone ? { ...row, open } : without({ ...row, open }, 'problem');
}

/** The value of a field that the open change was made on. */
const below = (row: Row, name: string): unknown =>
  row.sent?.change.fields && name in row.sent.change.fields
    ? row.sent.change.fields[name]
    : row.server?.[name];

export function removed(row: Row, { hasTrash }: Rules): Row | undefined {
  if ((row.open?.create && !row.sent) || row.gone) return undefined;
  const open: Change = { ...row.open, remove: true };
  if (row.server?.['revision'] !== undefined) open.revision = row.server['revision'] as number;
  // The trash shows the last changes; without one, nobody would see them.
  const kept = hasTrash ? open : without(open, 'fields', 'base');
  return without({ ...row, open: kept }, 'problem');
}

/** Takes the object out of the trash. */
export function restored(row: Row, rules: Rules): Row {
  if (row.open?.remove) return tidy({ ...row, open: without(row.open, 'remove', 'revision') });
  const isDeleted = visible(row, rules)?.['deleted'] === true;
  return isDeleted ? without({ ...row, open: { ...row.open, restore: true } }, 'problem') : row;
}

/** Fixes the first part of the open change as a request. */
export function frozen(row: Row, key: string): Row {
  const [first, rest] = parted(row.open ?? {});
  const sent = { key, change: first, ...(row.server && { revision: row.server['revision'] as number }) };
  return tidy({ ...row, sent, open: rest });
}

function parted({ create, restore, fields, base, remove, revision }: Change): [Change, Change] {
  const removal: Change = remove ? { remove, ...(revision !== undefined && { revision }) } : {};
  const edit: Change = fields ? { fields, base: base ?? {} } : {};
  if (create) return [{ create, fields: fields ?? {} }, removal];
  if (restore) return [{ restore }, { ...edit, ...removal }];
  return fields ? [edit, removal] : [removal, {}];
}

/** The response to the sent request. */
export function answered(row: Row, outcome: Outcome, rules: Rules): Row {
  if (!row.sent || outcome.kind === 'wait') return row;
  const { kind } = outcome;
  if (kind === 'done') {
    const done = outcome.revision === undefined ? {} : { revision: outcome.revision };
    return { ...row, sent: { ...row.sent, done } };
  }
  // It was not executed, so what follows may be sent together with it, under a new key.
  const open = unsent(row);
  return kind === 'conflict' ? rebased(open, rules) : { ...open, problem: outcome.problem };
}

/** Takes back a request that was not executed. */
function unsent({ sent, ...row }: Row): Row {
  const { change } = sent!;
  const open: Change = { ...change, ...row.open };
  if (change.fields || row.open?.fields) {
    open.fields = { ...change.fields, ...row.open?.fields };
    open.base = { ...row.open?.base, ...change.base };
  }
  return tidy({ ...row, open });
}

/** The newest copy of the feed. @param item undefined: the feed has removed it */
export function received(row: Row, item: Item | undefined, rules: Rules): Row | undefined {
  if (!item) return lost(row);
  const known = without({ ...row, server: item }, 'gone', ...(row.gone ? (['problem'] as const) : []));
  // The changes of others and of the sent request cannot be told apart before its response.
  return known.sent ? known : rebased(known, rules);
}

function lost(row: Row): Row | undefined {
  const { sent, open } = row;
  if ((sent?.change.create && !sent.done) || open?.create) return without(row, 'server');
  const left = sent && !sent.done ? unsent(row) : without(row, 'sent');
  if (!left.open?.fields) return undefined;
  // The feed removes an object that this device created and never received: the caller gets what was saved.
  const server = left.server ?? sent?.change.fields;
  const message = 'The object is deleted, or no longer shared with you.';
  const problem = { status: 404, code: 'removed', message };
  return { ...left, ...(server && { server }), gone: true, problem };
}

/** Ends a request that is done. The feed was read completely after its response, so `server` has its result. */
export function settled(row: Row, rules: Rules): Row | undefined {
  const { sent } = row;
  if (!sent?.done) return row;
  if (!row.server) return lost(row);
  const rest = tidy(without(row, 'sent'));
  const isOwn = sent.done.revision !== undefined && row.server['revision'] === sent.done.revision;
  return isOwn && rest.open ? { ...rest, open: basedOn(rest.open, row.server) } : rebased(rest, rules);
}

/** Nobody else has changed the object: where it differs from what was sent, the service has normalized it. */
function basedOn(open: Change, server: Item): Change {
  const names = Object.keys(open.base ?? {});
  const base = open.base && Object.fromEntries(names.map((name) => [name, server[name]]));
  const revision = open.remove && { revision: server['revision'] as number };
  return { ...open, ...(base && { base }), ...revision };
}

/** Merges the open change with the newest copy. */
function rebased(row: Row, rules: Rules): Row {
  const { open, server } = row;
  if (!open || !server) return row;
  const about = { collection: rules.collection, scope: rules.scope, id: row.id };
  const next: Change = basedOn(open, server);
  // The service has the object: an earlier request has created it.
  delete next.create;
  if (open.fields) {
    const kept = Object.entries(open.fields)
      .map(([field, local]) => [
        field,
        valueOf(about, field, local, open.base?.[field], server[field], rules),
      ])
      .filter(([field, value]) => !isEqual(value, server[field as string]));
    next.fields = Object.fromEntries(kept) as Item;
    next.base = Object.fromEntries(kept.map(([field]) => [field, server[field as string]]));
  }
  if (open.remove && open.revision !== server['revision']) {
    const conflict: Conflict = { ...about, kind: 'removal', server, merged: rules.hasTrash };
    if (rules.resolve(conflict) !== true) delete next.remove;
  }
  return tidy({ ...row, open: next });
}

function valueOf(
  about: Pick<Conflict, 'collection' | 'scope' | 'id'>,
  field: string,
  local: unknown,
  base: unknown,
  server: unknown,
  { texts, resolve }: Rules,
): unknown {
  if (isEqual(server, base) || isEqual(local, server)) return local;
  if (isEqual(local, base)) return server;
  return mergeField({ base, local, server }, texts[field], (merged) =>
    resolve({ ...about, kind: 'field', field, base, local, server, merged }),
  );
}

/** Sends it again. */
export const retried = (row: Row): Row => (row.gone ? row : without(row, 'problem'));

/** Discards unsent changes. */
export function discarded(row: Row): Row | undefined {
  if (!row.server || row.gone) return row.sent ? without(row, 'open', 'problem') : undefined;
  return without(row, 'open', 'problem');
}

/** What the user sees: the copy of the service with all changes that it does not have yet. */
export function visible(
  row: Row,
  { hasTrash, idField }: Pick<Rules, 'hasTrash' | 'idField'>,
): Item | undefined {
  const { server, sent, open } = row;
  const isKnown = server !== undefined || sent?.change.create || open?.create;
  if (!isKnown) return undefined;
  const item: Item = { ...server, [idField]: row.id };
  let isRemoved = false;
  for (const change of [sent?.change, open]) {
    if (change?.restore) item['deleted'] = false;
    Object.assign(item, change?.fields);
    if (change?.remove && hasTrash) item['deleted'] = true;
    isRemoved ||= change?.remove === true && !hasTrash;
  }
  return isRemoved ? undefined : item;
}

/** Whether the row has a request to send. */
export const isSendable = ({ sent, open, problem }: Row): boolean =>
  !problem && (sent ? !sent.done : open !== undefined);

/** Removes an open change without content. */
function tidy(row: Row): Row {
  const { open } = row;
  if (!open) return row;
  const isEmptyEdit = open.fields && Object.keys(open.fields).length === 0 && !open.create;
  const change = isEmptyEdit ? without(open, 'fields', 'base') : open;
  const isEmpty = !(change.create || change.restore || change.fields || change.remove);
  return isEmpty ? without(row, 'open') : { ...row, open: change };
}

/** Absent members instead of undefined ones: JSON and IndexedDB differ in what they store of the latter. */
function without<T extends object>(object: T, ...names: (keyof T)[]): T {
  const copy = { ...object };
  for (const name of names) delete copy[name];
  return copy;
}
