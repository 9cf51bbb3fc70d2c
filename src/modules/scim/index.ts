export { ScimModule } from './scim.module.js';
export { SCIM_SCHEMAS } from './model/scim-openapi.js';
export { SCIM_SCHEME } from './model/scim-endpoint.js';
export { SCIM_ERRORS } from './model/scim-reply.js';
export { removeNeedlessSlashes } from './model/scim-path.js';
