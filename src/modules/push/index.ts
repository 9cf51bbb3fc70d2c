export { PushKeys } from './push-keys.js';
export { PushModule } from './push.module.js';
