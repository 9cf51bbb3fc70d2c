export { ScimModule } from './scim.module.js';
export { SCIM_SCHEMAS } from './scim-openapi.js';
export { SCIM_SCHEME } from './scim-endpoint.js';
