import type { Attribute, Json, Schema } from './attributes.js';
import { CORE, MESSAGES, RESOURCE_TYPES } from './schemas.js';

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
