import {
  CORE,
  ENTERPRISE_USER,
  GROUPS,
  type Json,
  MESSAGES,
  type ResourceType,
  USERS,
} from '../../../lib/scim/index.js';
import { EXAMPLE_ID, EXAMPLE_TIME } from '../../../platform/field-docs/field-docs.js';

const search = (filter: string) => ({
  schemas: [`${MESSAGES}:SearchRequest`],
  filter,
  startIndex: 1,
  count: 10,
});
const patch = (operations: object[]) => ({ schemas: [`${MESSAGES}:PatchOp`], Operations: operations });

export const USER_EXAMPLES = {
  create: {
    schemas: [`${CORE}:User`, ENTERPRISE_USER],
    externalId: '7f3c',
    userName: 'ann@acme.example',
    name: { givenName: 'Ann', familyName: 'Example' },
    emails: [{ value: 'ann@acme.example', type: 'work', primary: true }],
    active: true,
    [ENTERPRISE_USER]: { department: 'Research' },
  },
  search: search('userName eq "ann@acme.example"'),
  patch: patch([{ op: 'replace', path: 'active', value: false }]),
};

export const GROUP_EXAMPLES = {
  create: {
    schemas: [`${CORE}:Group`],
    displayName: 'Editors',
    members: [{ value: '01890a5d-ac96-774b-bcce-b302099a8057' }],
  },
  search: search('displayName eq "Editors"'),
  patch: patch([{ op: 'remove', path: 'members[value eq "01890a5d-ac96-774b-bcce-b302099a8057"]' }]),
};

const VERSION = 'W/"x4mU1lq0a9Gq0mU1lq0a9G"';

/** Examples by attribute, or by list and attribute of its values. */
const EXAMPLES: Record<string, string> = {
  userName: 'ann@acme.example',
  displayName: 'Ann Example',
  'name.formatted': 'Ann Example',
  'name.givenName': 'Ann',
  'name.familyName': 'Example',
  title: 'Head of Research',
  preferredLanguage: 'de',
  locale: 'de-DE',
  timezone: 'Europe/Berlin',
  'emails.value': 'ann@acme.example',
  'phoneNumbers.value': '+49 30 901820',
  'addresses.country': 'DE',
  'manager.value': EXAMPLE_ID,
  'manager.$ref': `https://work.example/apis/v1/scim/v2/Users/${EXAMPLE_ID}`,
  'manager.displayName': 'Maria Silva',
  'groups.value': EXAMPLE_ID,
  'groups.$ref': `https://work.example/apis/v1/scim/v2/Groups/${EXAMPLE_ID}`,
  'members.value': EXAMPLE_ID,
  'members.$ref': `https://work.example/apis/v1/scim/v2/Users/${EXAMPLE_ID}`,
};

type Attribute = ResourceType['schema']['attributes'][number];

/** @param path of the attribute, e.g. `name.givenName` */
function schemaOf(attribute: Attribute, path: string = attribute.name): Json {
  const { description, maxLength = 500, subAttributes = [] } = attribute;
  const isReadOnly = attribute.mutability === 'readOnly';
  const shown: Json = { description, ...(isReadOnly && { readOnly: true }) };
  if (attribute.type === 'complex') {
    const subs = subAttributes.map((sub) => [sub.name, schemaOf(sub, `${path}.${sub.name}`)] as const);
    const object = { type: 'object', properties: Object.fromEntries(subs) };
    if (!attribute.multiValued) return { ...object, ...shown };
    // The example has no `$ref`: generators of clients resolve it, also in an example.
    const shownInExample = subs.filter(([name]) => name !== '$ref');
    const example = Object.fromEntries(shownInExample.map(([name, sub]) => [name, sub['example']]));
    return { type: 'array', ...shown, items: object, example: [example] };
  }
  if (attribute.type === 'boolean') return { type: 'boolean', ...shown, example: true };
  const format = path === 'userName' && { format: 'email' };
  const example = EXAMPLES[path] ?? attribute.canonicalValues?.[0] ?? 'text';
  return { type: 'string', ...shown, ...(!isReadOnly && { maxLength }), ...format, example };
}

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const schemasOf = (id: string) => ({ type: 'array', items: { type: 'string' }, example: [id] });

const pascal = (name: string): string => name[0]!.toUpperCase() + name.slice(1);

/** Name of the schema of a complex attribute. */
const partName = (resource: string, attribute: Attribute): string =>
  `Scim${resource}${pascal(attribute.name)}`;

/** Schemas of the complex attributes. The schemas of the resource in requests and responses refer to them. */
const partsOf = ({ schema, extensions }: ResourceType): Record<string, Json> =>
  Object.fromEntries(
    [schema, ...extensions]
      .flatMap(({ attributes }) => attributes)
      .filter(({ type }) => type === 'complex')
      .map((attribute) => [partName(schema.name, attribute), schemaOf(attribute)]),
  );

/** @param isInput of a request; a response may contain selected attributes only */
function resourceSchema({ schema, extensions }: ResourceType, isInput: boolean): Json {
  const needed = schema.attributes.filter((attribute) => attribute.required).map(({ name }) => name);
  const own = (attributes: readonly Attribute[]) =>
    Object.fromEntries(
      attributes.map((attribute) => [
        attribute.name,
        attribute.type === 'complex' ? ref(partName(schema.name, attribute)) : schemaOf(attribute),
      ]),
    );
  return {
    type: 'object',
    description: `${schema.description} RFC 7643; \`GET /apis/v1/scim/v2/Schemas\` describes each attribute.`,
    properties: {
      schemas: schemasOf(schema.id),
      id: { type: 'string', format: 'uuid', readOnly: true, example: EXAMPLE_ID },
      externalId: { type: 'string', maxLength: 500, example: '7f3c' },
      ...own(schema.attributes),
      ...Object.fromEntries(
        extensions.map(({ id, attributes }) => [id, { type: 'object', properties: own(attributes) }]),
      ),
      meta: ref('ScimMeta'),
    },
    required: ['schemas', ...(isInput ? needed : ['id'])],
  };
}

const META: Json = {
  type: 'object',
  readOnly: true,
  properties: {
    resourceType: { type: 'string', example: 'User' },
    created: { type: 'string', format: 'date-time', example: EXAMPLE_TIME },
    lastModified: { type: 'string', format: 'date-time', example: EXAMPLE_TIME },
    location: { type: 'string', example: 'https://work.example/apis/v1/scim/v2/Users/01890a5d' },
    version: { type: 'string', example: VERSION },
  },
};

const PATCH: Json = {
  type: 'object',
  description: 'Operations of RFC 7644, section 3.5.2, applied in their order: all or none.',
  properties: {
    schemas: schemasOf(`${MESSAGES}:PatchOp`),
    Operations: {
      type: 'array',
      minItems: 1,
      maxItems: 1000,
      items: {
        type: 'object',
        properties: {
          op: { type: 'string', enum: ['add', 'remove', 'replace'], example: 'replace' },
          path: { type: 'string', example: 'active' },
          value: { description: 'Any JSON value.', example: false },
        },
        required: ['op'],
      },
      example: [{ op: 'replace', path: 'active', value: false }],
    },
  },
  required: ['schemas', 'Operations'],
};

const names = (description: string): Json => ({
  type: 'array',
  description,
  items: { type: 'string', maxLength: 500 },
  example: ['userName'],
});

const SEARCH: Json = {
  type: 'object',
  description: 'A query of RFC 7644, section 3.4.3. `sortBy` and `sortOrder` are ignored.',
  properties: {
    schemas: schemasOf(`${MESSAGES}:SearchRequest`),
    filter: { type: 'string', maxLength: 4096, example: 'userName eq "ann@acme.example"' },
    attributes: names('Attributes to return.'),
    excludedAttributes: names('Attributes to omit.'),
    startIndex: { type: 'integer', description: 'Number of the first resource, from 1.', example: 1 },
    count: { type: 'integer', description: 'At most 200.', example: 10 },
  },
  required: ['schemas'],
};

const LIST: Json = {
  type: 'object',
  properties: {
    schemas: schemasOf(`${MESSAGES}:ListResponse`),
    totalResults: { type: 'integer', example: 1 },
    startIndex: { type: 'integer', example: 1 },
    itemsPerPage: { type: 'integer', example: 1 },
    Resources: { type: 'array', items: { type: 'object' }, example: [] },
  },
  required: ['schemas', 'totalResults', 'Resources'],
};

const ERROR: Json = {
  type: 'object',
  description: 'RFC 7644, section 3.12.',
  properties: {
    schemas: schemasOf(`${MESSAGES}:Error`),
    status: { type: 'string', description: 'The HTTP status.', example: '409' },
    scimType: { type: 'string', description: 'The detail keyword of a 400 or 409.', example: 'uniqueness' },
    detail: { type: 'string', example: 'The workspace has a member with this userName.' },
  },
  required: ['schemas', 'status', 'detail'],
};

const DOCUMENT: Json = {
  type: 'object',
  properties: { schemas: schemasOf(`${CORE}:ServiceProviderConfig`) },
  required: ['schemas'],
};

/** Schemas of the OpenAPI document, derived from the schemas of the protocol. */
export const SCIM_SCHEMAS: Record<string, Json> = {
  ScimUser: resourceSchema(USERS, false),
  ScimUserInput: resourceSchema(USERS, true),
  ScimGroup: resourceSchema(GROUPS, false),
  ScimGroupInput: resourceSchema(GROUPS, true),
  ...partsOf(USERS),
  ...partsOf(GROUPS),
  ScimMeta: META,
  ScimPatch: PATCH,
  ScimSearch: SEARCH,
  ScimList: LIST,
  ScimDocument: DOCUMENT,
  ScimError: ERROR,
};
