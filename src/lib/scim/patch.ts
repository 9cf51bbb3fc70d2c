import {
  type Attribute,
  byName,
  holderOf,
  isObject,
  type Json,
  type ResourceType,
  type Schema,
  ScimInputError,
  type Scope,
  scopeOf,
} from './attributes.js';
import { parsePath, type PatchPath } from './filter.js';
import { Comparisons, type Operation, OPERATIONS, PatchedValues } from './patched-values.js';
import { readValue } from './resource.js';
import { MESSAGES } from './schemas.js';

const MAX_OPERATIONS = 1_000;

/**
 * Applies the operations of a PATCH to a copy of a resource (RFC 7644, section 3.5.2). As Microsoft Entra and Okta require,
 * names of operations have any case, booleans may be texts, and `remove` may name the values of a list.
 * @param body parsed JSON @returns the changed resource; the caller checks it as a whole with `readResource`
 * @throws ScimInputError
 */
export function applyPatch(type: ResourceType, resource: Json, body: unknown): Json {
  const patch = new Patch(type, structuredClone(resource));
  for (const operation of operationsOf(body)) patch.apply(operation);
  return patch.result();
}

interface PatchOperation {
  op: Operation;
  path: string | undefined;
  value: unknown;
}

function operationsOf(body: unknown): PatchOperation[] {
  const { schemas, operations: list } = isObject(body) ? inLowerCase(body) : {};
  const id = `${MESSAGES}:PatchOp`.toLowerCase();
  const isNamed = Array.isArray(schemas) && schemas.some((each) => String(each).toLowerCase() === id);
  // Some clients omit `schemas`: a PATCH has no other format.
  if (!isNamed && schemas !== undefined && schemas !== null)
    throw new ScimInputError('invalidSyntax', `schemas must contain ${MESSAGES}:PatchOp.`);
  if (!Array.isArray(list) || list.length === 0)
    throw new ScimInputError('invalidSyntax', 'Operations must be a list of operations.');
  if (list.length > MAX_OPERATIONS)
    throw new ScimInputError('tooMany', `Operations must have at most ${MAX_OPERATIONS} entries.`);
  return list.map(operationOf);
}

/** An object with its names in lower case: clients write `operations` and `Op` too. */
const inLowerCase = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key.toLowerCase(), value]));

function operationOf(given: unknown): PatchOperation {
  if (!isObject(given)) throw new ScimInputError('invalidSyntax', 'An operation must be an object.');
  const { op, path, value } = inLowerCase(given);
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

/** The operations on one resource. */
class Patch {
  /** The lists that operations have changed, which are not in the resource yet. */
  private readonly lists = new Map<string, { path: PatchPath; values: PatchedValues }>();
  private readonly comparisons = new Comparisons();

  constructor(
    private readonly type: ResourceType,
    private readonly resource: Json,
  ) {}

  apply({ op, path, value }: PatchOperation): void {
    if (path === undefined) return this.applyWithoutPath(op, value);
    const extension = this.extensionOf(path);
    if (extension) this.applyToExtension(op, extension, value);
    else this.applyAt(op, parsePath(path, scopeOf(this.type)), value);
  }

  /** The changed resource. */
  result(): Json {
    for (const { path, values } of this.lists.values()) {
      const { list } = values;
      this.change(path, (holder) => set(holder, path.attribute.name, list.length === 0 ? undefined : list));
    }
    return this.resource;
  }

  /** Each member of the value is a path. Read-only attributes are ignored, because clients send whole resources. */
  private applyWithoutPath(op: Operation, value: unknown): void {
    const object: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
    if (!isObject(object))
      throw new ScimInputError('invalidValue', 'Without a path, the value must be an object.');
    for (const [key, each] of Object.entries(object)) {
      const extension = this.extensionOf(key);
      if (extension) {
        this.applyToExtension(op, extension, each);
        continue;
      }
      const path = parsePath(key, scopeOf(this.type));
      if (!isReadOnly(path)) this.applyAt(op, path, each);
    }
  }

  private extensionOf(path: string): Schema | undefined {
    return this.type.extensions.find(({ id }) => id.toLowerCase() === path.trim().toLowerCase());
  }

  private applyToExtension(op: Operation, { id, attributes }: Schema, value: unknown): void {
    if (op === 'remove') {
      delete this.resource[id];
      for (const [key, { path }] of this.lists) if (path.extension === id) this.lists.delete(key);
      return;
    }
    if (!isObject(value)) throw new ScimInputError('invalidValue', `${id} must be an object.`);
    const scope: Scope = { ...scopeOf(this.type), attributes };
    for (const [key, each] of Object.entries(value))
      this.applyAt(op, { extension: id, ...parsePath(key, scope) }, each);
  }

  private applyAt(op: Operation, path: PatchPath, value: unknown): void {
    const { attribute, sub } = path;
    const name = sub ? `${attribute.name}.${sub.name}` : attribute.name;
    if (isReadOnly(path)) throw new ScimInputError('mutability', `${name} is read-only.`);
    if (attribute.mutability === 'writeOnly') return;
    if (op === 'remove' && (sub ?? attribute).required && !attribute.multiValued)
      throw new ScimInputError('mutability', `${name} is required.`);
    if (attribute.multiValued) return this.listAt(path).change(op, path, value);
    this.change(path, (holder) => {
      if (sub) {
        const object = { ...(holder[attribute.name] as Json | undefined) };
        set(object, sub.name, op === 'remove' ? undefined : readValue(sub, value, name));
        set(holder, attribute.name, Object.keys(object).length === 0 ? undefined : object);
      } else if (op === 'remove') delete holder[attribute.name];
      else set(holder, attribute.name, replaced(attribute, holder[attribute.name], value));
    });
  }

  private listAt(path: PatchPath): PatchedValues {
    const { extension, attribute } = path;
    const key = `${extension ?? ''} ${attribute.name}`;
    const known = this.lists.get(key);
    if (known) return known.values;
    const before = (holderOf(this.resource, extension)?.[attribute.name] ?? []) as Json[];
    const values = new PatchedValues(attribute, before, this.comparisons);
    this.lists.set(key, { path, values });
    return values;
  }

  /** Changes the object that contains an attribute. An extension without attributes is removed. */
  private change({ extension }: PatchPath, change: (holder: Json) => void): void {
    const holder = holderOf(this.resource, extension) ?? {};
    change(holder);
    if (extension === undefined) return;
    if (Object.keys(holder).length === 0) delete this.resource[extension];
    else this.resource[extension] = holder;
  }
}

const isReadOnly = ({ attribute, sub }: PatchPath): boolean =>
  attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly';

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
