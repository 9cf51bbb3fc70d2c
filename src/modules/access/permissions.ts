/** What can be allowed, by its key. The routes that need it name it with `@Requires(...)`. */
export const PERMISSIONS = {
  'tenant.read': 'See the members of the workspace as administrators do, deactivated ones included.',
  'tenant.manage': "Change the workspace's name, colour and logo.",
  'rbac.read': 'See groups, their members and their permissions.',
  'rbac.manage': 'Change groups, their members and their permissions, as far as one holds these oneself.',
  'users.deactivate': 'End and renew memberships of the workspace.',
  'chat.rooms.create': 'Create chat rooms.',
  'chat.rooms.moderate': 'Moderate chat rooms.',
  'chat.messages.delete_any': 'Delete messages of others.',
  'calls.start': 'Start calls.',
  'calls.record': 'Record calls.',
  'calls.moderate': 'Moderate calls.',
  'guests.invite': 'Invite people from outside.',
  'guests.review': 'Decide about guests who wait.',
  'guest_domains.review': 'Decide which domains guests may come from.',
  'recordings.read_any': 'See all recordings.',
  'forms.create': 'Create forms.',
  'forms.manage_any': 'Change forms of others.',
  'forms.export_any': 'Export responses of all forms.',
  'reports.share': 'Share reports.',
  'contacts.global.manage': 'Change the address book of the workspace.',
  'calendar.holidays.manage': 'Choose the holidays of the workspace.',
  'audit.read': 'Read the audit log of the workspace.',
  'owners.manage': 'Belongs to owners: make others owners.',
} as const;

export type Permission = keyof typeof PERMISSIONS;

export const ALL_PERMISSIONS: ReadonlySet<string> = new Set(Object.keys(PERMISSIONS));

export const isPermission = (text: string): text is Permission => Object.hasOwn(PERMISSIONS, text);
