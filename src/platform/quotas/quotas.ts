import type { SqlFile } from '../database/schema/stored-sql.js';

/**
 * The most rows that an account, a user of a workspace, a workspace, or the item that contains them may have. This table is the only
 * home of these numbers: `GET /tenant` shows it, error messages and documentation are made from it.
 */
export const QUOTAS = {
  account: {
    application_passwords: 50,
    passkeys: 20,
    /** A further sign-in ends the session that was not used for the longest time. */
    sessions: 500,
  },
  user: {
    addressbooks: 100,
    calendars: 100,
    chat_rooms: 2_000,
    /** A further import deletes the oldest one, which can then not be undone. */
    contact_imports: 500,
    /** The limit of folders of notes, and as many of tasks. */
    folders: 5_000,
    forms: 1_000,
    /** The limit of the embedded mail service, which returns 400 `CANNOT`, as WildDuck does. */
    mailboxes: 1_500,
    /** Those in the trash count, too. */
    notes: 100_000,
    open_calls: 200,
    open_invites: 1_000,
    open_polls: 500,
    /** Devices that get push messages. */
    push_subscriptions: 50,
    signatures: 100,
    /** Created by the user; also those in the trash. */
    tasks: 100_000,
    webhooks: 50,
    incoming_webhooks: 50,
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
    comments_of_task: 10_000,
    contacts_of_addressbook: 100_000,
    /** Also those to which the owner is invited. */
    events_of_calendar: 100_000,
    feeds_of_calendar: 20,
    members_of_chat_room: 5_000,
    /** Deleted messages and reports of changes of the room count, too. */
    messages_of_chat_room: 2_000_000,
    reports_of_form: 200,
    subtasks_of_task: 200,
    versions_of_form: 200,
  },
} as const;

export type QuotaScope = keyof typeof QUOTAS;

/** A limit, as stored functions, errors and tests name it: `<scope>.<kind>`. */
export type QuotaName = {
  [Scope in QuotaScope]: `${Scope}.${keyof (typeof QUOTAS)[Scope] & string}`;
}[QuotaScope];

export function limitOf(name: QuotaName): number {
  const [scope, kind] = name.split('.') as [QuotaScope, string];
  return (QUOTAS[scope] as Record<string, number>)[kind] as number;
}

/** A number as messages show it, e.g. 5,000. */
export const formatLimit = (limit: number): string => limit.toLocaleString('en-US');

const limits = Object.entries(QUOTAS).flatMap(([scope, kinds]) =>
  Object.entries(kinds).map(([kind, limit]) => `WHEN '${scope}.${kind}' THEN ${limit}`),
);

/**
 * The limits of `QUOTAS` for functions that write rows, by `<scope>.<kind>`, and the error of a function that would pass one, which
 * `throwQuotaError` reads.
 */
export const quotaSql: SqlFile = {
  home: 'workspace',
  name: 'quotas',
  text: `
CREATE FUNCTION row_quota(p_quota text) RETURNS int LANGUAGE sql STABLE AS $$
  SELECT CASE p_quota ${limits.join(' ')} END
$$;

CREATE FUNCTION row_quota_exceeded(p_quota text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'WB002', DETAIL = p_quota;
END $$;
`,
};
