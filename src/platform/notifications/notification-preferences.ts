/** The kinds of notifications that users can configure. `.*` covers all types of a kind. */
export const NOTIFICATION_PREFERENCES = [
  'chat.message',
  'chat.mention',
  'room.added',
  'call.started',
  'call.missed',
  'guest.waiting',
  'domain.requested',
  'recording.ready',
  'recording.failed',
  'form.response',
  'form.closed',
  'report.shared',
  'task.*',
  'calendar.*',
  'note.shared',
  'webhook.disabled',
  'security.*',
] as const;
export type NotificationPreference = (typeof NOTIFICATION_PREFERENCES)[number];

/** The kinds whose e-mail cannot be switched off. */
export const REQUIRED_PREFERENCES: ReadonlySet<string> = new Set<NotificationPreference>([
  'security.*',
  'webhook.disabled',
]);
