import { charactersOf } from '../text/index.js';
import {
  type Attribute,
  byName,
  findPath,
  invalidValue,
  isObject,
  type Json,
  type ResourceType,
  ScimInputError,
  scopeOf,
} from './attributes.js';

const MAX_TEXT = 500;
/** Values of a list, except members of a group. */
export const MAX_VALUES = 50;

/**
 * Reads the attributes of a resource that a client may write, in their declared case and types. Read-only and unknown
 * attributes are ignored (RFC 7644, section 3.3); null, empty texts, empty lists and their values without content are unassigned.
 * @param body parsed JSON @throws ScimInputError
 */
export function readResource(type: ResourceType, body: unknown): Json {
  if (!isObject(body)) throw new ScimInputError('invalidSyntax', 'The body must be a JSON object.');
  assertSchemas(type, body);
  const resource = readObject(scopeOf(type).attributes, body, '');
  for (const { id, attributes } of type.extensions) {
    const [, given] = Object.entries(body).find(([key]) => key.toLowerCase() === id.toLowerCase()) ?? [];
    if (given === undefined || given === null) continue;
    if (!isObject(given)) throw invalidValue(id, 'must be an object.');
    const extension = readObject(attributes, given, `${id}:`);
    if (Object.keys(extension).length > 0) resource[id] = extension;
  }
  for (const { name, required } of type.schema.attributes)
    if (required && resource[name] === undefined) throw invalidValue(name, 'is required.');
  return resource;
}

/** Some clients omit `schemas`: the address of the request names the type. */
function assertSchemas(type: ResourceType, body: Json): void {
  const [, schemas] = Object.entries(body).find(([key]) => key.toLowerCase() === 'schemas') ?? [];
  if (schemas === undefined || schemas === null) return;
  const ids = Array.isArray(schemas) ? schemas.map((id) => String(id).toLowerCase()) : [];
  if (!ids.includes(type.schema.id.toLowerCase()))
    throw new ScimInputError('invalidSyntax', `schemas must contain ${type.schema.id}.`);
}

/** Reads the writable attributes of an object. @param path of the object, as a prefix */
export function readObject(attributes: readonly Attribute[], given: Json, path: string): Json {
  const read: Json = {};
  for (const [key, value] of Object.entries(given)) {
    const attribute = byName(attributes, key);
    if (!attribute || attribute.mutability === 'readOnly' || attribute.mutability === 'writeOnly') continue;
    const checked = readValue(attribute, value, `${path}${attribute.name}`);
    if (checked !== undefined) read[attribute.name] = checked;
  }
  return read;
}

/** @returns undefined: unassigned @throws ScimInputError `invalidValue` */
export function readValue(attribute: Attribute, value: unknown, path: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (!attribute.multiValued) return readSingle(attribute, singleOf(attribute, value), path);
  const values = (Array.isArray(value) ? value : [value])
    .map((each, n) => readSingle(attribute, objectOf(attribute, each), `${path}[${n}]`))
    .filter((each) => each !== undefined && !isUnassigned(each));
  if (attribute.name !== 'members' && values.length > MAX_VALUES)
    throw invalidValue(path, `must have at most ${MAX_VALUES} values.`);
  if (values.filter((each) => isObject(each) && each['primary'] === true).length > 1)
    throw invalidValue(path, 'must have at most one primary value.');
  return values.length === 0 ? undefined : values;
}

/** Microsoft Entra sends an object as a list of one object, and a text or a boolean as `[{ "$ref": null, "value": "True" }]`. */
function singleOf(attribute: Attribute, value: unknown): unknown {
  const single: unknown = Array.isArray(value) && value.length <= 1 ? (value[0] ?? null) : value;
  if (attribute.type === 'complex') return objectOf(attribute, single);
  return Array.isArray(value) && isObject(single) && 'value' in single ? single['value'] : value;
}

/** Microsoft Entra sends an object as the text of its `value`. */
function objectOf({ subAttributes = [] }: Attribute, value: unknown): unknown {
  const isValue = typeof value === 'string' && value !== '' && byName(subAttributes, 'value');
  return isValue ? { value } : value;
}

/** Sub-attributes that describe a value of a list and are none themselves. */
const DESCRIBING: ReadonlySet<string> = new Set(['type', 'primary', 'display']);

/** Whether a value of a list has a type or a label only: its value is unassigned (RFC 7643, section 2.5). */
export const isUnassigned = (entry: unknown): boolean =>
  isObject(entry) && Object.keys(entry).every((name) => DESCRIBING.has(name));

function readSingle(attribute: Attribute, value: unknown, path: string): unknown {
  if (value === null || value === '') return undefined;
  if (attribute.type === 'complex') {
    if (!isObject(value)) throw invalidValue(path, 'must be an object.');
    const { subAttributes = [] } = attribute;
    const read = readObject(subAttributes, value, `${path}.`);
    const missing = subAttributes.find(({ name, required }) => required && read[name] === undefined);
    if (missing) throw invalidValue(`${path}.${missing.name}`, 'is required.');
    return Object.keys(read).length === 0 ? undefined : read;
  }
  if (attribute.type === 'boolean') return readBoolean(value, path);
  // Connectors of staff databases send numbers, such as an employeeNumber.
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') throw invalidValue(path, 'must be a text.');
  const { maxLength = MAX_TEXT } = attribute;
  if (charactersOf(text) > maxLength) throw invalidValue(path, `must have at most ${maxLength} characters.`);
  return text;
}

/** Microsoft Entra sends booleans as texts with a capital letter. */
function readBoolean(value: unknown, path: string): boolean {
  const text = String(value).toLowerCase();
  if (typeof value === 'boolean' || (typeof value === 'string' && (text === 'true' || text === 'false')))
    return text === 'true';
  throw invalidValue(path, 'must be true or false.');
}

/** Which attributes a response contains (RFC 7644, section 3.9). Lists of paths, separated by commas. */
export interface Projection {
  attributes?: string | undefined;
  excludedAttributes?: string | undefined;
}

/** Returns the part of a resource that a client requests. Attributes that are always returned stay. */
export function project(type: ResourceType, resource: Json, projection: Projection): Json {
  const { attributes, excludedAttributes } = projection;
  if (attributes) return included(type, resource, attributes);
  if (!excludedAttributes) return resource;
  const rest = structuredClone(resource);
  for (const { extension, attribute, sub } of pathsOf(type, excludedAttributes)) {
    const holder = extension === undefined ? rest : (rest[extension] as Json | undefined);
    if (!holder || attribute.returned === 'always') continue;
    if (!sub) delete holder[attribute.name];
    else for (const value of [holder[attribute.name]].flat()) if (isObject(value)) delete value[sub.name];
  }
  for (const id of idsIn(type, excludedAttributes)) delete rest[id];
  return rest;
}

function included(type: ResourceType, resource: Json, attributes: string): Json {
  const part: Json = { schemas: resource['schemas'], id: resource['id'] };
  for (const id of idsIn(type, attributes)) if (resource[id] !== undefined) part[id] = resource[id];
  for (const { extension, attribute, sub } of pathsOf(type, attributes)) {
    const from = extension === undefined ? resource : (resource[extension] as Json | undefined);
    const value = from?.[attribute.name];
    if (value === undefined) continue;
    const to = extension === undefined ? part : ((part[extension] ??= {}) as Json);
    if (!sub) to[attribute.name] = value;
    else to[attribute.name] = merged(to[attribute.name], value, sub.name);
  }
  return part;
}

/** Adds one member of an object, or of each object of a list, to those that are included already. */
function merged(before: unknown, value: unknown, name: string): unknown {
  if (Array.isArray(value))
    return value.map((each, n) => merged((before as unknown[] | undefined)?.[n], each, name));
  const from = value as Json;
  return { ...(before as Json | undefined), ...(from[name] !== undefined && { [name]: from[name] }) };
}

const namesIn = (list: string) => list.split(',').map((name) => name.trim());

/** Unknown names are ignored. */
const pathsOf = (type: ResourceType, list: string) =>
  namesIn(list).flatMap((name) => findPath(scopeOf(type), name) ?? []);

/** The ids of extensions that a list names as a whole. */
const idsIn = (type: ResourceType, list: string) => {
  const names = new Set(namesIn(list).map((name) => name.toLowerCase()));
  return type.extensions.map(({ id }) => id).filter((id) => names.has(id.toLowerCase()));
};
