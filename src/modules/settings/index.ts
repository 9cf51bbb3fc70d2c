export { SettingsModule } from './settings.module.js';
export { PREFERENCE_SCHEMAS } from './preferences/preferences-docs.js';
export { SettingsErrors } from './settings.errors.js';
export { PROFILE_CHANGED, PROFILE_CHANGING, ProfileService } from './profile/profile.service.js';
export type { ProfileRow } from './profile/profile.repository.js';
export { isLocale } from './locale-values.js';
export { UpdateProfile } from './settings.dto.js';
export {
  type NotificationSettings,
  NotificationSettingsApi,
  type QuietRange,
} from './preferences/notification-settings.js';
export { type WorkingHours, WorkingHoursApi } from './preferences/working-hours.js';
export { PreferencesService } from './preferences/preferences.service.js';
