export { CredentialsApi } from './credentials.api.js';
export type { CredentialsRow } from './credentials.repository.js';
export { IdentityApi, type PersonInput } from './identity.api.js';
export { emailKey } from './email.js';
export { IdentityModule } from './identity.module.js';
export { Passwords } from './passwords.js';
export { SessionsApi } from './sessions.api.js';
export type { SessionRow } from './sessions.repository.js';
