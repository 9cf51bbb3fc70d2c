export { CallsApi } from './calls.api.js';
export { CallErrors } from './calls.errors.js';
export { CallsModule } from './calls.module.js';
