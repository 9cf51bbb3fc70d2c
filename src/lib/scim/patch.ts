import { isDeepStrictEqual } from 'node:util';
import {
  type Attribute,
  byName,
  holderOf,
  isObject,
  type Json,
  type ResourceType,
  type Scope,
  scopeOf,
} from './attributes.js';
import { type Filter, parsePath, type PatchPath } from './filter.js';
import { matches } from './match.js';
import { readObject, readValue } from './resource.js';
import { MESSAGES } from './schemas.js';
import { ScimInputError } from './scim-error.js';

const MAX_OPERATIONS = 1_000;
const OPERATIONS = ['add', 'remove', 'replace'] as const;
type Operation = (typeof OPERATIONS)[number];

/**
 * Applies the operations of a PATCH to a copy of a resource (RFC 7644, section 3.5.2). As Microsoft Entra and Okta send them,
 * names of operations have any case, booleans may be texts, and `remove` may name the values of a list.
 * @param body parsed JSON @returns the changed resource; the caller checks it as a whole with `readResource`
 * @throws ScimInputError
 */
export function applyPatch(type: ResourceType, resource: Json, body: unknown): Json {
  const changed = structuredClone(resource);
  const scope = scopeOf(type);
  for (const { op, path, value } of operationsOf(body)) {
    if (path === undefined) applyWithoutPath(type, changed, op, value);
    else {
      const extension = extensionOf(type, path);
      if (extension) applyToExtension(type, changed, op, extension, value);
      else applyAt(changed, op, parsePath(path, scope), value);
    }
  }
  return changed;
}

interface PatchOperation {
  op: Operation;
  path: string | undefined;
  value: unknown;
}

function operationsOf(body: unknown): PatchOperation[] {
  const { schemas, Operations: list } = (isObject(body) ? withKeys(body) : {}) as {
    schemas?: unknown;
    Operations?: unknown;
  };
  const id = `${MESSAGES}:PatchOp`.toLowerCase();
  if (!Array.isArray(schemas) || !schemas.some((each) => String(each).toLowerCase() === id))
    throw new ScimInputError('invalidSyntax', `schemas must contain ${MESSAGES}:PatchOp.`);
  if (!Array.isArray(list) || list.length === 0)
    throw new ScimInputError('invalidSyntax', 'Operations must be a list of operations.');
  if (list.length > MAX_OPERATIONS)
    throw new ScimInputError('tooMany', `Operations must have at most ${MAX_OPERATIONS} entries.`);
  return list.map(operationOf);
}

/** Members of a PATCH body in their declared case. */
const withKeys = (body: Json): Json =>
  Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key.toLowerCase() === 'operations' ? 'Operations' : key,
      value,
    ]),
  );

function operationOf(given: unknown): PatchOperation {
  if (!isObject(given)) throw new ScimInputError('invalidSyntax', 'An operation must be an object.');
  const { op, path, value } = given;
  const name = OPERATIONS.find((each) => each === String(op).toLowerCase());
  if (typeof op !== 'string' || !name)
    throw new ScimInputError('invalidSyntax', 'op must be add, remove or replace.');
  if (path !== undefined && path !== null && typeof path !== 'string')
    throw new ScimInputError('invalidPath', 'path must be a text.');
  const isWhole = path === undefined || path === null || path === '';
  if (name === 'remove' && isWhole) throw new ScimInputError('noTarget', 'A removal needs a path.');
  if (name !== 'remove' && value === undefined)
    throw new ScimInputError('invalidValue', `The operation ${name} needs a value.`);
  return { op: name, path: isWhole ? undefined : path, value };
}

/** Each member of the value is a path. Read-only attributes are ignored, because clients send whole resources. */
function applyWithoutPath(type: ResourceType, resource: Json, op: Operation, value: unknown): void {
  if (!isObject(value))
    throw new ScimInputError('invalidValue', 'Without a path, the value must be an object.');
  for (const [key, each] of Object.entries(value)) {
    const extension = extensionOf(type, key);
    if (extension) {
      applyToExtension(type, resource, op, extension, each);
      continue;
    }
    const path = parsePath(key, scopeOf(type));
    if (!isReadOnly(path)) applyAt(resource, op, path, each);
  }
}

const extensionOf = (type: ResourceType, path: string) =>
  type.extensions.find(({ id }) => id.toLowerCase() === path.trim().toLowerCase());

function applyToExtension(
  type: ResourceType,
  resource: Json,
  op: Operation,
  extension: ResourceType['extensions'][number],
  value: unknown,
): void {
  const { id, attributes } = extension;
  if (op === 'remove') {
    delete resource[id];
    return;
  }
  if (!isObject(value)) throw new ScimInputError('invalidValue', `${id} must be an object.`);
  const scope: Scope = { ...scopeOf(type), attributes };
  for (const [key, each] of Object.entries(value))
    applyAt(resource, op, { extension: id, ...parsePath(key, scope) }, each);
}

const isReadOnly = ({ attribute, sub }: PatchPath): boolean =>
  attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly';

function applyAt(resource: Json, op: Operation, path: PatchPath, value: unknown): void {
  const { attribute, sub, extension, filter } = path;
  const name = sub ? `${attribute.name}.${sub.name}` : attribute.name;
  if (isReadOnly(path)) throw new ScimInputError('mutability', `${name} is read-only.`);
  if (op === 'remove' && (sub ?? attribute).required && !attribute.multiValued)
    throw new ScimInputError('mutability', `${name} is required.`);
  const holder = holderOf(resource, extension) ?? {};
  if (extension !== undefined) resource[extension] = holder;
  if (attribute.multiValued) {
    const before = (holder[attribute.name] ?? []) as Json[];
    const after = filter
      ? changeMatching(before, op, path, filter, value)
      : changeList(before, op, path, value);
    set(holder, attribute.name, after.length === 0 ? undefined : after);
  } else if (sub) {
    const object = { ...(holder[attribute.name] as Json | undefined) };
    set(object, sub.name, op === 'remove' ? undefined : readValue(sub, value, name));
    set(holder, attribute.name, Object.keys(object).length === 0 ? undefined : object);
  } else if (op === 'remove') delete holder[attribute.name];
  else set(holder, attribute.name, replaced(attribute, holder[attribute.name], value));
  if (extension !== undefined && Object.keys(holder).length === 0) delete resource[extension];
}

/** Sub-attributes of an object that the value does not name stay (RFC 7644, sections 3.5.2.1 and 3.5.2.3). */
function replaced(attribute: Attribute, before: unknown, value: unknown): unknown {
  const read = readValue(attribute, value, attribute.name);
  if (attribute.type !== 'complex' || !isObject(value)) return read;
  const merged: Json = { ...(before as Json | undefined), ...(read as Json | undefined) };
  for (const [key, each] of Object.entries(value)) {
    const sub = byName(attribute.subAttributes ?? [], key);
    if (sub && (each === null || each === '')) delete merged[sub.name];
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

function set(holder: Json, name: string, value: unknown): void {
  if (value === undefined) delete holder[name];
  else holder[name] = value;
}

/** Changes a list as a whole, or one sub-attribute of all its values. */
function changeList(before: Json[], op: Operation, { attribute, sub }: PatchPath, value: unknown): Json[] {
  if (sub) return before.map((each) => withSub(each, sub, op, value));
  if (op === 'remove') return value === undefined || value === null ? [] : without(before, attribute, value);
  const added = (readValue(attribute, value, attribute.name) ?? []) as Json[];
  return op === 'replace' ? unique(added) : unique(withOnePrimary(before, added).concat(added));
}

/** Removes the values that an operation names, by their `value` where they have one. */
function without(before: Json[], attribute: Attribute, value: unknown): Json[] {
  const removed = (readValue(attribute, value, attribute.name) ?? []) as Json[];
  const ids = new Set(removed.map((each) => keyOf(each)));
  return before.filter((each) => !ids.has(keyOf(each)));
}

function changeMatching(
  before: Json[],
  op: Operation,
  { attribute, sub }: PatchPath,
  filter: Filter,
  value: unknown,
): Json[] {
  const isMatch = (each: Json) => matches(filter, each);
  if (op === 'remove' && !sub) return before.filter((each) => !isMatch(each));
  if (!before.some(isMatch)) {
    if (op === 'remove') return before;
    if (op === 'replace')
      throw new ScimInputError('noTarget', `No value of ${attribute.name} matches the path.`);
    const made = changed(fromFilter(filter), op, attribute, sub, value);
    return [...withOnePrimary(before, [made]), made];
  }
  const after = before.map((each) => (isMatch(each) ? changed(each, op, attribute, sub, value) : each));
  const primary = after.find((each, n) => each['primary'] === true && before[n]?.['primary'] !== true);
  return primary ? after.map((each) => (each === primary ? each : notPrimary(each))) : after;
}

function changed(
  each: Json,
  op: Operation,
  attribute: Attribute,
  sub: Attribute | undefined,
  value: unknown,
): Json {
  if (sub) return withSub(each, sub, op, value);
  const given = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
  if (!isObject(given))
    throw new ScimInputError('invalidValue', `A value of ${attribute.name} must be an object.`);
  return { ...each, ...readObject(attribute.subAttributes ?? [], given, `${attribute.name}.`) };
}

function withSub(each: Json, sub: Attribute, op: Operation, value: unknown): Json {
  const copy = { ...each };
  set(copy, sub.name, op === 'remove' ? undefined : readValue(sub, value, sub.name));
  return copy;
}

/** The value that a filter of equalities describes, e.g. `[type eq "work"]`. */
function fromFilter(filter: Filter): Json {
  if (filter.op === 'eq') return { [(filter.path.sub ?? filter.path.attribute).name]: filter.value };
  if (filter.op === 'and') return Object.assign({}, ...filter.filters.map(fromFilter)) as Json;
  throw new ScimInputError(
    'noTarget',
    'No value matches the path, and its filter does not describe a new one.',
  );
}

const notPrimary = (each: Json): Json => (each['primary'] === true ? { ...each, primary: false } : each);

/** A new primary value takes the place of the current one (RFC 7644, section 3.5.2). */
const withOnePrimary = (before: Json[], added: Json[]): Json[] =>
  added.some((each) => each['primary'] === true) ? before.map(notPrimary) : before;

const keyOf = (each: Json): string =>
  JSON.stringify([each['value'] ?? each, each['type'] === 'User' ? null : each['type']]);

/** Without repeated values. */
function unique(values: Json[]): Json[] {
  const byKey = new Map<string, Json[]>();
  return values.filter((each) => {
    const key = keyOf(each);
    const same = byKey.get(key) ?? [];
    byKey.set(key, [...same, each]);
    return each['value'] === undefined
      ? !same.some((other) => isDeepStrictEqual(other, each))
      : same.length === 0;
  });
}
