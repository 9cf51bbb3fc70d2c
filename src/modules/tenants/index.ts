export { TenantsApi } from './tenants.api.js';
export { TenantsModule } from './tenants.module.js';
export type { MemberInput, MemberStatus, Workspace } from './tenants.repository.js';
