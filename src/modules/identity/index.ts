export { IdentityApi, type PersonInput } from './identity.api.js';
export { emailKey } from './email.js';
export { IdentityModule } from './identity.module.js';
