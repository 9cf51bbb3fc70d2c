/** Detail error keywords of RFC 7644, section 3.12. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness';

/** Input that SCIM rejects with 400. */
export class ScimInputError extends Error {
  constructor(
    readonly scimType: ScimType,
    detail: string,
  ) {
    super(detail);
    this.name = 'ScimInputError';
  }
}

/** An attribute of a schema (RFC 7643, section 7). */
export interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'binary' | 'complex';
  description: string;
  multiValued?: boolean;
  required?: boolean;
  canonicalValues?: readonly string[];
  /** Whether comparisons distinguish upper and lower case. */
  caseExact?: boolean;
  /** Default `readWrite`. Values of `writeOnly` attributes are accepted and not stored. */
  mutability?: 'readWrite' | 'readOnly' | 'immutable' | 'writeOnly';
  /** Default `default`. */
  returned?: 'always' | 'default' | 'never';
  uniqueness?: 'none' | 'server';
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];
  /** Maximum length of a text, characters. Default 500. It is not part of the protocol. */
  maxLength?: number;
  /** The service stores the text without blanks at its ends, and filters compare it so. It is not part of the protocol. */
  isTrimmed?: boolean;
}

export interface Schema {
  id: string;
  name: string;
  description: string;
  attributes: readonly Attribute[];
}

export interface ResourceType {
  name: string;
  endpoint: string;
  description: string;
  schema: Schema;
  extensions: readonly Schema[];
}

/** A JSON object. */
export type Json = Record<string, unknown>;

/** Attributes of every resource (RFC 7643, section 3.1). */
const COMMON: readonly Attribute[] = [
  {
    name: 'schemas',
    type: 'reference',
    referenceTypes: ['uri'],
    multiValued: true,
    description: 'The schemas of the resource.',
    returned: 'always',
    mutability: 'readOnly',
  },
  {
    name: 'id',
    type: 'string',
    description: 'The id that the service has assigned.',
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
  },
  {
    name: 'externalId',
    type: 'string',
    description: 'The id that the client has assigned, unique in the workspace.',
    caseExact: true,
    uniqueness: 'server',
  },
  {
    name: 'meta',
    type: 'complex',
    description: 'Facts about the resource.',
    mutability: 'readOnly',
    subAttributes: [
      { name: 'resourceType', type: 'string', description: 'The resource type.', caseExact: true },
      { name: 'created', type: 'dateTime', description: 'The start of the membership or of the group.' },
      { name: 'lastModified', type: 'dateTime', description: 'The last change through SCIM, or the start.' },
      {
        name: 'location',
        type: 'reference',
        referenceTypes: ['uri'],
        description: 'The address.',
        caseExact: true,
      },
      { name: 'version', type: 'string', description: 'The ETag.', caseExact: true },
    ],
  },
];

/** Returns the attribute with a name, in any case. */
export function byName(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return attributes.find((attribute) => attribute.name.toLowerCase() === wanted);
}

/** The place of an attribute in a resource. */
export interface AttributePath {
  /** The id of the extension that contains the attribute; undefined: the core schema. */
  extension?: string;
  attribute: Attribute;
  sub?: Attribute;
}

/** The names that paths may use: those of a resource type, or those of the values of a list. */
export interface Scope {
  attributes: readonly Attribute[];
  schemaId?: string;
  extensions: readonly Schema[];
}

export const scopeOf = ({ schema, extensions }: ResourceType): Scope => ({
  attributes: [...COMMON, ...schema.attributes],
  schemaId: schema.id,
  extensions,
});

export const scopeOfValues = (attribute: Attribute): Scope => ({
  attributes: attribute.subAttributes ?? [],
  extensions: [],
});

/**
 * Finds the attribute that a path without filter names, such as `userName`, `name.familyName` or
 * `urn:...:enterprise:2.0:User:department`, for which some clients write `urn:...:enterprise:2.0:User.department`, and Microsoft Entra
 * `manager` alone. Names are compared without case.
 * @returns undefined for an unknown name
 */
export function findPath(scope: Scope, text: string): AttributePath | undefined {
  const lower = text.toLowerCase();
  for (const extension of scope.extensions) {
    const { length } = extension.id;
    if (!lower.startsWith(extension.id.toLowerCase()) || !/[:.]/.test(lower.charAt(length))) continue;
    const found = inAttributes(extension.attributes, text.slice(length + 1));
    return found && { extension: extension.id, ...found };
  }
  const own = scope.schemaId !== undefined && lower.startsWith(`${scope.schemaId.toLowerCase()}:`);
  if (own) return inAttributes(scope.attributes, text.slice(scope.schemaId!.length + 1));
  return inAttributes(scope.attributes, text) ?? inExtensions(scope.extensions, text);
}

function inExtensions(extensions: readonly Schema[], text: string): AttributePath | undefined {
  for (const { id, attributes } of extensions) {
    const found = inAttributes(attributes, text);
    if (found) return { extension: id, ...found };
  }
  return undefined;
}

function inAttributes(
  attributes: readonly Attribute[],
  text: string,
): Pick<AttributePath, 'attribute' | 'sub'> | undefined {
  const [name = '', subName, ...more] = text.split('.');
  const attribute = byName(attributes, name);
  if (!attribute || more.length > 0) return undefined;
  if (subName === undefined) return { attribute };
  const sub = byName(attribute.subAttributes ?? [], subName);
  return sub && { attribute, sub };
}

/** The object that contains an attribute: the resource, or its extension. */
export const holderOf = (resource: Json, extension: string | undefined): Json | undefined =>
  extension === undefined ? resource : (resource[extension] as Json | undefined);

/** The values at a path; a list counts as its values. */
export function valuesAt(resource: Json, { extension, attribute, sub }: AttributePath): unknown[] {
  const value = holderOf(resource, extension)?.[attribute.name];
  const values = Array.isArray(value) ? value : [value];
  const found = sub ? values.map((each) => (each as Json | undefined)?.[sub.name]) : values;
  return found.filter((each) => each !== undefined && each !== null);
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws ScimInputError */
export const invalidValue = (path: string, reason: string): ScimInputError =>
  new ScimInputError('invalidValue', `${path} ${reason}`);
