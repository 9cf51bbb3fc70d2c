import { QUOTAS } from '../../../src/platform/quotas/quotas.js';

type Quota = {
  [Scope in keyof typeof QUOTAS]: `${Scope}.${keyof (typeof QUOTAS)[Scope] & string}`;
}[keyof typeof QUOTAS];

/**
 * What limits the rows that an operation creates.
 * - the quota of `QUOTAS`, by scope and name;
 * - `none`: the reason why no quota is needed;
 * - `open`: members can create any number. New operations must not be `open`.
 */
export type RowBound = { quota: Quota } | { none: string } | { open: true };

const quota = (name: Quota): RowBound => ({ quota: name });
const none = (reason: string): RowBound => ({ none: reason });
const open: RowBound = { open: true };

const UPLOAD = none('The limits of files count their rows.');
const EXPIRES = none('Rows expire within days, and the rate of the operation is limited.');
const GUESTS = none('The invite limits its guests.');

export const ROW_BOUNDS: Record<string, RowBound> = {
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
  createWebhook: quota('user.webhooks'),
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
  takeSchedulingMessage: none('Rows are deleted after 180 days; a message is stored once.'),
  proposeTime: none('One pending proposal of an attendee for each instance of an event.'),
  startRecording: none('A call has one recording at a time.'),

  createNote: open,
  createTask: open,
  createTaskFromNote: open,
  addTaskComment: open,
  sendChatMessage: open,
  sendGuestMessage: open,
  createEvent: open,
};
