import type { QuotaName } from '../../../src/platform/quotas/quotas.js';

/**
 * What limits the rows that an operation creates.
 * - the quota of `QUOTAS`, by scope and name;
 * - `none`: the reason why no quota is needed.
 */
export type RowBound = { quota: QuotaName } | { none: string };

const quota = (name: QuotaName): RowBound => ({ quota: name });
const none = (reason: string): RowBound => ({ none: reason });

const UPLOAD = none('The limits of files count their rows.');
const EXPIRES = none('Rows expire within days, and the rate of the operation is limited.');
const BYTES = none('Each message counts for `MAIL_QUOTA_MB` of its user.');
const GUESTS = none('The invite limits its guests.');

/** Quotas of rows that no operation of the API creates. */
export const BEYOND_OPERATIONS: readonly QuotaName[] = ['account.sessions'];

export const ROW_BOUNDS: Record<string, RowBound> = {
  createNote: quota('user.notes'),
  createTask: quota('user.tasks'),
  createTaskFromNote: quota('user.tasks'),
  addTaskComment: quota('item.comments_of_task'),
  sendChatMessage: quota('item.messages_of_chat_room'),
  sendGuestMessage: quota('item.messages_of_chat_room'),
  createEvent: quota('item.events_of_calendar'),
  createNoteFolder: quota('user.folders'),
  createTaskFolder: quota('user.folders'),
  createForm: quota('user.forms'),
  draftForm: quota('user.forms'),
  createFormReport: quota('item.reports_of_form'),
  createCalendar: quota('user.calendars'),
  createCalendarFeed: quota('item.feeds_of_calendar'),
  createPoll: quota('user.open_polls'),
  createAddressbook: quota('user.addressbooks'),
  createContact: quota('item.contacts_of_addressbook'),
  createChatRoom: quota('user.chat_rooms'),
  addChatRoomMembers: quota('item.members_of_chat_room'),
  createCallRoom: quota('user.open_calls'),
  createExternalInvites: quota('user.open_invites'),
  createExternalInvitesOfRoom: quota('user.open_invites'),
  createPushSubscription: quota('user.push_subscriptions'),
  createWebhook: quota('user.webhooks'),
  createIncomingWebhook: quota('user.incoming_webhooks'),
  createSignature: quota('user.signatures'),
  registerPasskey: quota('account.passkeys'),
  createApplicationPassword: quota('account.application_passwords'),
  addTenantDomain: quota('workspace.domains'),
  createIssuer: quota('workspace.issuers'),
  createTenantClient: quota('workspace.clients'),
  createGroup: quota('workspace.groups'),
  createScimGroup: quota('workspace.groups'),
  createInvitation: quota('workspace.invitations'),
  createScimToken: quota('workspace.scim_tokens'),
  addSubtask: quota('item.subtasks_of_task'),
  addTaskAttachment: quota('item.attachments_of_task'),

  updateTask: quota('user.tasks'),
  putTask: quota('user.tasks'),
  batchEvents: quota('item.events_of_calendar'),
  updateEvent: quota('item.events_of_calendar'),
  finalizePoll: quota('item.events_of_calendar'),
  takeSchedulingMessage: quota('item.events_of_calendar'),
  applyContactChanges: quota('item.contacts_of_addressbook'),
  moveContact: quota('item.contacts_of_addressbook'),
  moveContacts: quota('item.contacts_of_addressbook'),
  publishForm: quota('item.versions_of_form'),
  importPhoneContacts: quota('user.contact_imports'),
  createMailbox: quota('user.mailboxes'),

  createSocketToken: EXPIRES,
  claimGuestInvite: GUESTS,
  createGuestChatLink: none('A link replaces the previous one of the invite.'),
  createGuestChatLinkOfRoom: none('A link replaces the previous one of the invite.'),
  requestGuestDomain: none('One row for each registrable domain; administrators decide.'),
  requestGuestDomainOfRoom: none('One row for each registrable domain; administrators decide.'),
  addGroupMembers: none('One row for each member of the workspace.'),
  addGroupMember: none('One row for each member of the workspace.'),
  grantGroupPermissions: none('One row for each permission.'),
  grantGroupPermission: none('One row for each permission.'),
  createScimUser: none('Members of a workspace: its administrators decide.'),
  uploadFormFile: UPLOAD,
  uploadChatAttachment: UPLOAD,
  uploadGuestAttachment: UPLOAD,
  submitForm: none('The form has `max_responses` and `one_per_user`; its owner closes it.'),
  proposeTime: none('One pending proposal of an attendee for each instance of an event.'),
  createMessage: BYTES,
  createDraft: BYTES,
  mergeContacts: none('Each merge removes contacts; rows are deleted after 30 days.'),
  startExport: none('One export of a user.'),
  startRecording: none('A call has one recording at a time.'),
};
