export { CallsApi } from './calls.api.js';
export { CallErrors } from './calls.dto.js';
export { CallsModule } from './calls.module.js';
