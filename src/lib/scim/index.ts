export {
  isObject,
  type Json,
  type ResourceType,
  scopeOf,
  ScimInputError,
  type ScimType,
} from './attributes.js';
export {
  listResponse,
  resourceTypes,
  schemas,
  serviceProviderConfig,
  CORE,
  ENTERPRISE_USER,
  GROUPS,
  MESSAGES,
  USERS,
} from './schemas.js';
export { type Filter, parseFilter, matches } from './filter.js';
export { applyPatch } from './patch.js';
export { type Projection, project, readResource } from './resource.js';
