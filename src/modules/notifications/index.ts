export { NotificationsModule } from './notifications.module.js';
export { type CurrentNotificationView, NotificationsApi } from './notifications.api.js';
export { type AddedNotifications, NOTIFICATIONS_ADDED } from './inbox/announcements.js';
