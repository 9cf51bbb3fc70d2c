export { isObject, type Json, type ResourceType, scopeOf } from './attributes.js';
export { listResponse, resourceTypes, schemas, serviceProviderConfig } from './discovery.js';
export { type Filter, parseFilter } from './filter.js';
export { matches } from './match.js';
export { applyPatch } from './patch.js';
export { type Projection, project, readResource } from './resource.js';
export { CORE, ENTERPRISE_USER, GROUPS, MESSAGES, USERS } from './schemas.js';
export { ScimInputError, type ScimType } from './scim-error.js';
