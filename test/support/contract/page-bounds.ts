import { MAX_PASSKEY_NAME } from '../../../src/modules/account-security/two-factor/passkeys/passkey.dto.js';
import { MAX_NAMED } from '../../../src/modules/contacts/moves/contact-moves.dto.js';
import { MAX_ENDPOINT } from '../../../src/modules/push/push.dto.js';
import { STORED_RESPONSE_BYTES } from '../../../src/modules/webhooks/webhook-sender.js';
import { MAX_URL } from '../../../src/modules/webhooks/webhooks.dto.js';
import { MAX_EMAIL } from '../../../src/platform/http/input.decorators.js';
import { QUOTAS } from '../../../src/platform/quotas/quotas.js';
import type { FieldLimit } from './row-bytes.ts';

/** Rows so small that their number bounds a page. */
export interface SmallRows {
  /** The limits of fields of a row, by their path. */
  limits: Record<string, FieldLimit>;
  /** The most rows of a page; missing: the greatest `limit` of the request. */
  rows?: number;
}

/**
 * What bounds the bytes of a page of each list, by operation id.
 * - `bytes`: the page ends at `PAGE_BYTES` (`platform/bounded-pages/page-bytes.ts`); content beyond it is not read.
 * - `SmallRows`: the test computes the greatest size of a row from the limits of its fields (`row-bytes.ts`).
 * - `data`: rows come from the compiled holidays; the test computes the greatest page from them.
 */
export type PageBound = 'bytes' | 'data' | SmallRows;

/** Characters of values that the service makes or shortens itself. */
const IP = 45;
const SHA256 = 64;
const COLOR = 7;
const GROUP_KEY = 63;
/** Paths and addresses of the API with ids and tokens. */
const API_URL = 512;
const CODE = 64;
const LANGUAGE = 35;
const MEDIA_TYPE = 255;
const FILE_NAME = 255;
/** The first part of a header User-Agent that is stored. */
const USER_AGENT = 400;
const CONTACT_ID = 'CreateContact.external_id';

const NAME = 'UpdateProfile.display_name';
const DOMAIN = 'AddTenantDomain.domain';
const FOLDER = { updated_device: 'CreateNoteFolder.device_id', name: 'CreateNoteFolder.name', color: COLOR };
const MEMBER = { email: MAX_EMAIL, display_name: NAME };
const APPROVAL = {
  'guest.email': MAX_EMAIL,
  'guest.name': 'ClaimInvite.name',
  domain: 'RequestDomain.domain',
  reason: 'RequestDomain.reason',
};
const INVITE = { email: MAX_EMAIL, name: 'CreateInvites.name' };
const RECORDING = { error: CODE, url: API_URL, title: 'CreateCallRoom.title' };

const small = (limits: Record<string, FieldLimit>, rows?: number): SmallRows => ({
  limits,
  ...(rows !== undefined && { rows }),
});

export const PAGE_BOUNDS: Record<string, PageBound> = {
  noteChanges: 'bytes',
  noteIndex: 'bytes',
  taskChanges: 'bytes',
  taskIndex: 'bytes',
  taskFolderChanges: 'bytes',
  taskFolderIndex: 'bytes',
  listNotes: 'bytes',
  listTasks: 'bytes',
  contactChanges: 'bytes',
  listFormResponses: 'bytes',
  listEvents: 'bytes',
  listInstances: 'bytes',
  syncCalendar: 'bytes',
  listTaskFolders: 'bytes',
  listForms: 'bytes',
  listCalendars: 'bytes',
  listAuditEvents: 'bytes',
  listTenantClients: 'bytes',
  listSignatures: 'bytes',
  searchTasks: 'bytes',
  searchNotes: 'bytes',
  searchForms: 'bytes',
  searchEvents: 'bytes',
  listTaskComments: 'bytes',
  listUserAddressbooks: 'bytes',
  listAddressbooks: 'bytes',
  listContacts: 'bytes',
  listGlobalContacts: 'bytes',
  applyContactChanges: 'bytes',
  listSharedReportResponses: 'bytes',
  listChatRooms: 'bytes',
  listChatMessages: 'bytes',
  listChatPartyMessages: 'bytes',
  listGuestMessages: 'bytes',
  listSchedulingMessages: 'bytes',
  listFormReports: 'bytes',
  listNoteRevisions: 'bytes',
  listNotifications: 'bytes',
  listContactImports: 'bytes',
  listDirectory: 'bytes',

  // The error names the address.
  listPushSubscriptions: small({
    endpoint: 'CreatePushSubscription.endpoint',
    description: 'CreatePushSubscription.description',
    error: MAX_ENDPOINT + API_URL,
  }),
  listWebhooks: small({
    url: 'CreateWebhook.url',
    description: 'CreateWebhook.description',
    event_types: 'CreateWebhook.event_types',
    secret: CODE,
  }),
  listIncomingWebhooks: small({ name: 'CreateIncomingWebhook.name', target: CODE, url: CODE }),
  // The error names the address.
  listWebhookDeliveries: small({
    event_type: CODE,
    response: STORED_RESPONSE_BYTES,
    error: MAX_URL + API_URL,
  }),

  listHolidays: 'data',
  listEffectiveHolidays: 'data',

  noteFolderChanges: small(FOLDER),
  noteFolderIndex: small(FOLDER),
  listNoteFolders: small(FOLDER),
  listPresence: small({ text: 'SetPresence.text' }),
  listRoomPresence: small({ text: 'SetPresence.text' }),
  listTenantDomains: small(
    { domain: DOMAIN, 'txt_record.name': DOMAIN, 'txt_record.value': API_URL },
    QUOTAS.workspace.domains,
  ),
  listFileUsers: small({}),
  listApplicationPasswords: small({
    scopes: CODE,
    last_used_ip: IP,
    description: 'CreateApplicationPassword.description',
  }),
  listPasskeys: small({ name: MAX_PASSKEY_NAME }, QUOTAS.account.passkeys),
  listIssuers: small(
    {
      scopes: 'CreateIssuer.scopes',
      domains: 'CreateIssuer.domains',
      groups_claim: 'CreateIssuer.groups_claim',
      group_mappings: 'CreateIssuer.group_mappings',
      name: 'CreateIssuer.name',
      issuer: 'CreateIssuer.issuer',
      client_id: 'CreateIssuer.client_id',
      redirect_uri: API_URL,
      email_claim: 'CreateIssuer.email_claim',
      name_claim: 'CreateIssuer.name_claim',
    },
    QUOTAS.workspace.issuers,
  ),
  // Each session has one workspace.
  listConnectedApps: small(
    { id: CODE, name: 'CreateTenantClient.name', scopes: 2 * CODE, workspaces: API_URL },
    QUOTAS.account.sessions,
  ),
  listGroups: small({
    key: GROUP_KEY,
    name: 'CreateGroup.name',
    description: 'CreateGroup.description',
  }),
  listGroupMembers: small(MEMBER),
  listTenantMembers: small(MEMBER),
  listInvitations: small({
    email: MAX_EMAIL,
    groups: 'CreateInvitation.groups',
    message: 'CreateInvitation.message',
  }),
  listMemberSessions: small({ ip: IP, client: 'CreateTenantClient.name', ua: USER_AGENT }, 100),
  listScimTokens: small({ name: 'CreateScimToken.name' }, QUOTAS.workspace.scim_tokens),
  listTaskAttachments: small(
    { sha256: SHA256, url: API_URL, name: FILE_NAME, content_type: MEDIA_TYPE },
    QUOTAS.item.attachments_of_task,
  ),
  moveContacts: small({ '': CONTACT_ID, external_id: CONTACT_ID, error: CODE }, MAX_NAMED),
  listExtractedAddresses: small({ sources: LANGUAGE, email: MAX_EMAIL, name: 'UpdateProfile.display_name' }),
  listChatRoomMembers: small(MEMBER),
  listChatUsers: small({ ...MEMBER, avatar_url: API_URL, status_text: 'SetPresence.text' }),
  listCalendarFeeds: small({}, QUOTAS.item.feeds_of_calendar),
  listSharedReports: small({ name: 'CreateReport.name', form_title: 'CreateForm.title' }),
  listLiveMeetings: small({ title: 'CreateCallRoom.title' }),
  listGuestApprovals: small(APPROVAL),
  listGuestApprovalsOfRoom: small(APPROVAL),
  listExternalInvites: small(INVITE),
  listExternalInvitesOfRoom: small(INVITE),
  listRecordings: small(RECORDING),
  listChatRoomRecordings: small(RECORDING),
};

/** What bounds the bytes of responses with a list that have no further page. */
export const UNPAGED_LISTS: Record<string, string> = {
  readPresence: 'Of one user.',
  listSigningKeys: 'Two while keys are rotated.',
  readSecurity: 'At most 100 sessions and 20 events, with texts of 400 characters.',
  listGroupPermissions: 'The permissions of the service.',
  listWebhookEventTypes: 'The types of the service.',
  readHolidaySubscriptions: 'At most 20 places of the user, and as many of the workspace.',
  readTaskPanel: 'The parts of a task have quotas; comments and history end at a page.',
  exportPhoneContacts: 'Streamed: a page of at most 250 contacts and 1 MiB is in memory.',
  searchDirectory: 'At most 50 results.',
  listMailboxes: 'The quota `user.mailboxes`; a path fits an entry of an index.',
  listMessages: 'The mail service ends the page at `PAGE_BYTES`; a long response is streamed.',
  readMessage:
    'The mail service keeps at most 1,048,576 characters of text and of HTML, 2,000 addresses and 300 header lines; a long response is streamed.',
  listFormPresets: 'Compiled in.',
  listFormAccess: 'At most 500 entries of a name and an address.',
  listFormReportViewers: 'At most 500 entries of a name and an address.',
  analyseForm: 'The questions of a definition of at most 512 KiB, with a few samples for each.',
  readFormReportSnapshot: 'At most 1,000 rows, and `PAGE_BYTES`.',
  suggestTitles: 'At most 50 titles.',
  readEvent: 'The overrides, attendees and changes of an event have limits.',
};
