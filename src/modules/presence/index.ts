export { PresenceApi } from './presence.api.js';
export { PresenceModule } from './presence.module.js';
export { PresenceResponse } from './presence.dto.js';
export { PRESENCE_STATUSES, type PresenceStatus } from './presence.schema.js';
