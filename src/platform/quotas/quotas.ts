/**
 * The most rows that an account, a user of a workspace, a workspace, or the item that contains them may have. This table is the only
 * home of these numbers: `GET /tenant` shows it, error messages and documentation are made from it.
 */
export const QUOTAS = {
  account: {
    application_passwords: 50,
    passkeys: 20,
  },
  user: {
    addressbooks: 100,
    calendars: 100,
    chat_rooms: 2_000,
    /** Of notes, and as many of tasks. */
    folders: 5_000,
    forms: 1_000,
    open_calls: 200,
    open_invites: 1_000,
    open_polls: 500,
    signatures: 100,
    webhooks: 50,
  },
  workspace: {
    clients: 200,
    domains: 50,
    groups: 500,
    invitations: 1_000,
    issuers: 10,
    scim_tokens: 10,
  },
  item: {
    attachments_of_task: 50,
    contacts_of_addressbook: 100_000,
    feeds_of_calendar: 20,
    members_of_chat_room: 5_000,
    reports_of_form: 200,
    subtasks_of_task: 200,
  },
} as const;

export type QuotaScope = keyof typeof QUOTAS;

/** A number as messages show it, e.g. 5,000. */
export const shown = (limit: number): string => limit.toLocaleString('en-US');
