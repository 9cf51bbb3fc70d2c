export { SettingsModule } from './settings.module.js';
export { PREFERENCE_SCHEMAS } from './preferences/preferences.js';
export { SettingsErrors, isLocale, PROFILE_LIMITS, UpdateProfile } from './settings.dto.js';
export { PROFILE_CHANGED, PROFILE_CHANGING, ProfileService } from './profile/profile.service.js';
export type { ProfileRow } from './profile/profile.repository.js';
export {
  type NotificationSettings,
  NotificationSettingsApi,
  type QuietRange,
  type WorkingHours,
  WorkingHoursApi,
} from './preferences/notification-settings.js';
export { PreferencesService } from './preferences/preferences.service.js';
