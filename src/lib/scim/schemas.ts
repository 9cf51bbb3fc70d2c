import type { Attribute, Json, ResourceType, Schema } from './attributes.js';

export const CORE = 'urn:ietf:params:scim:schemas:core:2.0';
export const MESSAGES = 'urn:ietf:params:scim:api:messages:2.0';
export const ENTERPRISE_USER = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  description,
  ...more,
});

/** Maximum lengths, characters: of an address or a role, and of a certificate. */
const MAX_LINK = 2_000;
const MAX_CERTIFICATE = 20_000;

/** The address of something outside of the service, as the client wrote it. */
const link = (name: string, description: string): Attribute => ({
  name,
  type: 'reference',
  referenceTypes: ['external'],
  description,
  caseExact: true,
  maxLength: MAX_LINK,
});

const flag = (name: string, description: string): Attribute => ({ name, type: 'boolean', description });

/** A list of values with types, of which one may be primary (RFC 7643, section 2.4). */
const plural = (
  name: string,
  description: string,
  types: string[],
  subAttributes: Attribute[],
): Attribute => ({
  name,
  type: 'complex',
  multiValued: true,
  description,
  subAttributes: [
    ...subAttributes,
    text('type', 'The kind of the value.', types.length > 0 ? { canonicalValues: types } : {}),
    flag('primary', 'Whether this is the preferred value; at most one is.'),
  ],
});

const NAME: Attribute = {
  name: 'name',
  type: 'complex',
  description: 'The parts of the name.',
  subAttributes: [
    text('formatted', 'The full name.'),
    text('familyName', 'The family name.'),
    text('givenName', 'The given name.'),
    text('middleName', 'The middle names.'),
    text('honorificPrefix', 'Titles before the name.'),
    text('honorificSuffix', 'Suffixes after the name.'),
  ],
};

const USER: Schema = {
  id: `${CORE}:User`,
  name: 'User',
  description: 'A member of the workspace.',
  attributes: [
    text(
      'userName',
      'The e-mail address with which the user signs in, in a verified domain of the workspace.',
      {
        required: true,
        uniqueness: 'server',
        maxLength: 254,
        isTrimmed: true,
      },
    ),
    NAME,
    text('displayName', 'The name that other members see. Default: the name, or the start of the address.'),
    text('title', 'The job title.'),
    text('nickName', 'The informal name.'),
    text('userType', 'The relation to the company, such as Employee.'),
    text('preferredLanguage', 'The preferred language, as in Accept-Language.'),
    text('locale', 'The locale, such as en-US.'),
    text('timezone', 'The time zone, such as Europe/Berlin.'),
    flag('active', 'Whether the membership is active. False ends the sessions of the user in the workspace.'),
    link('profileUrl', 'The address of a page about the user.'),
    text('password', 'Ignored: users set their passwords themselves.', {
      mutability: 'writeOnly',
      returned: 'never',
    }),
    plural(
      'emails',
      'E-mail addresses. Default: userName.',
      ['work', 'home', 'other'],
      [text('value', 'The address.'), text('display', 'The label.')],
    ),
    plural(
      'phoneNumbers',
      'Phone numbers.',
      ['work', 'home', 'mobile', 'fax', 'pager', 'other'],
      [text('value', 'The number.'), text('display', 'The label.')],
    ),
    plural(
      'addresses',
      'Postal addresses.',
      ['work', 'home', 'other'],
      [
        text('formatted', 'The address as lines of text.'),
        text('streetAddress', 'Street and number.'),
        text('locality', 'The city.'),
        text('region', 'The state or region.'),
        text('postalCode', 'The postal code.'),
        text('country', 'The country, ISO 3166-1 alpha-2.'),
      ],
    ),
    plural(
      'ims',
      'Addresses of instant messengers.',
      ['aim', 'gtalk', 'icq', 'xmpp', 'msn', 'skype', 'qq', 'yahoo'],
      [text('value', 'The address.'), text('display', 'The label.')],
    ),
    plural(
      'photos',
      'Addresses of photos. The photo that other members see is uploaded by the user.',
      ['photo', 'thumbnail'],
      [link('value', 'The address.'), text('display', 'The label.')],
    ),
    plural(
      'roles',
      'Roles at the provider, as the client wrote them. They grant nothing: groups grant permissions.',
      [],
      [text('value', 'The role.', { maxLength: MAX_LINK }), text('display', 'The label.')],
    ),
    plural(
      'entitlements',
      'Entitlements at the provider, as the client wrote them. They grant nothing.',
      [],
      [text('value', 'The entitlement.', { maxLength: MAX_LINK }), text('display', 'The label.')],
    ),
    plural(
      'x509Certificates',
      'Certificates of the user.',
      [],
      [
        {
          name: 'value',
          type: 'binary',
          description: 'The certificate, DER in Base64.',
          caseExact: true,
          maxLength: MAX_CERTIFICATE,
        },
        text('display', 'The label.'),
      ],
    ),
    {
      name: 'groups',
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      description: 'Groups of the user. Change them by the members of the groups.',
      subAttributes: [
        text('value', 'The id of the group.', { caseExact: true, mutability: 'readOnly' }),
        reference('$ref', 'The address of the group.', ['Group']),
        text('display', 'The name of the group.', { mutability: 'readOnly' }),
        text('type', 'Always direct.', { canonicalValues: ['direct'], mutability: 'readOnly' }),
      ],
    },
  ],
};

const ENTERPRISE: Schema = {
  id: ENTERPRISE_USER,
  name: 'EnterpriseUser',
  description: 'Facts about the employment.',
  attributes: [
    text('employeeNumber', 'The number of the employee.'),
    text('costCenter', 'The cost center.'),
    text('organization', 'The organization.'),
    text('division', 'The division.'),
    text('department', 'The department.'),
    {
      name: 'manager',
      type: 'complex',
      description: 'The manager, as the client wrote it. Nothing depends on it.',
      subAttributes: [
        text('value', 'The id of the user who is the manager. Not checked.', { caseExact: true }),
        reference('$ref', 'The address of the user, from the value.', ['User']),
        text('displayName', 'The name of the manager.'),
      ],
    },
  ],
};

const GROUP: Schema = {
  id: `${CORE}:Group`,
  name: 'Group',
  description: 'A group of members, which grants permissions.',
  attributes: [
    text('displayName', 'The name, unique in the workspace.', {
      required: true,
      uniqueness: 'server',
      maxLength: 256,
      isTrimmed: true,
    }),
    {
      name: 'members',
      type: 'complex',
      multiValued: true,
      description: 'Users of the group.',
      subAttributes: [
        text('value', 'The id of the user.', { caseExact: true, mutability: 'immutable', required: true }),
        reference('$ref', 'The address of the user.', ['User']),
        text('display', 'The name of the user.', { mutability: 'readOnly' }),
        text('type', 'Always User.', { canonicalValues: ['User'], mutability: 'immutable' }),
      ],
    },
  ],
};

function reference(name: string, description: string, referenceTypes: string[]): Attribute {
  return { name, type: 'reference', referenceTypes, description, caseExact: true, mutability: 'readOnly' };
}

export const USERS: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'Members of the workspace.',
  schema: USER,
  extensions: [ENTERPRISE],
};

export const GROUPS: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Groups of the workspace.',
  schema: GROUP,
  extensions: [],
};

export const RESOURCE_TYPES: readonly ResourceType[] = [USERS, GROUPS];

/** The limits that the service publishes. */
export interface Limits {
  maxResults: number;
}

/** ServiceProviderConfig (RFC 7643, section 5). @param base address of the SCIM interface */
export function serviceProviderConfig(base: string, { maxResults }: Limits): Json {
  return {
    schemas: [`${CORE}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'SCIM token',
        description: 'A token that an owner creates in the settings of the workspace.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

/** The resource types (RFC 7643, section 6). */
export const resourceTypes = (base: string): Json[] =>
  RESOURCE_TYPES.map(({ name, endpoint, description, schema, extensions }) => ({
    schemas: [`${CORE}:ResourceType`],
    id: name,
    name,
    endpoint,
    description,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }));

/** The schemas (RFC 7643, section 7). */
export const schemas = (base: string): Json[] =>
  RESOURCE_TYPES.flatMap(({ schema, extensions }) => [schema, ...extensions]).map((schema) =>
    described(schema, base),
  );

const described = ({ id, name, description, attributes }: Schema, base: string): Json => ({
  schemas: [`${CORE}:Schema`],
  id,
  name,
  description,
  attributes: attributes.map(attributeOf),
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
});

function attributeOf(attribute: Attribute): Json {
  const { name, type, description, multiValued = false, required = false } = attribute;
  const { canonicalValues, referenceTypes, subAttributes } = attribute;
  return {
    name,
    type,
    multiValued,
    description,
    required,
    ...(canonicalValues && { canonicalValues }),
    ...(type !== 'boolean' && type !== 'complex' && { caseExact: attribute.caseExact ?? false }),
    mutability: attribute.mutability ?? 'readWrite',
    returned: attribute.returned ?? 'default',
    ...(type !== 'boolean' && { uniqueness: attribute.uniqueness ?? 'none' }),
    ...(referenceTypes && { referenceTypes }),
    ...(subAttributes && { subAttributes: subAttributes.map(attributeOf) }),
  };
}

/** A page of resources (RFC 7644, section 3.4.2). */
export const listResponse = (resources: readonly Json[], totalResults: number, startIndex: number): Json => ({
  schemas: [`${MESSAGES}:ListResponse`],
  totalResults,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});
