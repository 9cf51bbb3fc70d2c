/** All permissions by key. Routes require them with `@Requires(...)`. */
export const PERMISSIONS = {
  'tenant.read': 'List all members of the workspace, including deactivated ones.',
  'tenant.manage': 'Change name, colour, logo and domains of the workspace.',
  'tenant.policy': 'Change the policy of the workspace.',
  'rbac.read': 'See groups, their members and their permissions.',
  'rbac.manage': 'Change groups, their members and those permissions that you hold yourself.',
  'users.invite': 'Invite users to the workspace.',
  'users.deactivate': 'Deactivate and activate members of the workspace.',
  'users.recover': 'End sessions of members, and remove their lost second factors.',
  'users.transfer': 'Transfer the content of deactivated members to other members.',
  'chat.rooms.create': 'Create chat rooms.',
  'chat.rooms.moderate': 'Moderate chat rooms.',
  'chat.messages.delete_any': 'Delete messages of other users.',
  'calls.start': 'Start calls.',
  'calls.record': 'Record calls.',
  'calls.moderate': 'Moderate calls.',
  'guests.invite': 'Invite guests.',
  'guests.review': 'Admit or reject waiting guests.',
  'guest_domains.review': 'Decide about the allowed domains of guests.',
  'recordings.read_any': 'Read all recordings.',
  'forms.create': 'Create forms.',
  'forms.manage_any': 'Change forms of other users.',
  'forms.export_any': 'Export responses of all forms.',
  'reports.share': 'Share reports.',
  'contacts.global.manage': 'Change the address book of the workspace.',
  'calendar.holidays.manage': 'Choose the holidays of the workspace.',
  'clients.manage': 'Register applications and service accounts of the workspace.',
  'issuers.manage':
    'Change the issuers by which members sign in. The holder decides who signs in as a member of the bound domains.',
  'scim.manage':
    'Create and revoke the tokens with which an identity provider manages members and groups (SCIM). The holder of a token decides who is an administrator.',
  'webhooks.manage':
    'Create webhooks of the workspace; see, deactivate and delete those of others, and incoming webhooks of all members.',
  'audit.read': 'Read the audit log of the workspace.',
  'owners.manage': 'Reserved for owners: make other members owners.',
} as const;

export type Permission = keyof typeof PERMISSIONS;

export const ALL_PERMISSIONS: ReadonlySet<string> = new Set(Object.keys(PERMISSIONS));

export const isPermission = (text: string): text is Permission => Object.hasOwn(PERMISSIONS, text);
