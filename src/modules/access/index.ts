export { AccessModule } from './access.module.js';
export { AccessErrors } from './access.errors.js';
export { type Permission, PERMISSIONS } from './permissions.js';
