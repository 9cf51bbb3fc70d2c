export { SettingsModule } from './settings.module.js';
export { PREFERENCE_SCHEMAS } from './preferences-docs.js';
