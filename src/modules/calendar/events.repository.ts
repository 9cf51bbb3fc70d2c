import { Injectable } from '@nestjs/common';
import { withoutTag } from '../../lib/itip/index.js';
import { addressForms, addressKey } from '../../lib/text/index.js';
import { jsonBytes, textBytes } from '../../platform/bounded-pages/page-bytes.js';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { CalendarErrors } from './calendar.errors.js';
import type { CalendarRole, CalendarEntry } from './calendar.schema.js';
import type { WriteJson } from './changes/event-write.js';
import {
  type CalendarContext,
  type EntryRow,
  type EventJson,
  type EventRecord,
  type ImportedVersion,
  type OwnedEntry,
  type ProposalRow,
  recordOf,
} from './model/event-record.js';

const setImported = workspace.statement<never>(
  'calendar.set_imported',
  `UPDATE calendar_events event SET imported = version.imported
     FROM jsonb_to_recordset($2::jsonb) AS version (id uuid, imported jsonb)
    WHERE event.tenant_id = $1 AND event.id = version.id`,
);

/** SQL over the row `event`: about the bytes of an event without its overrides. */
export const EVENT_BYTES = `2048 + 400 * event.participants_count + ${textBytes('event.title', 'event.description', 'event.location')}
  + ${jsonBytes('event.locations', 'event.links', 'event.conference', 'event.custom', 'event.imported')}`;

/** SQL over the row `event`, with the workspace as $1: about the bytes of its overrides. */
export const OVERRIDES_BYTES = `CASE WHEN event.overrides_count > 0 THEN (
    SELECT coalesce(sum(2048 + ${jsonBytes('patch')}), 0) FROM event_overrides
     WHERE tenant_id = $1 AND event_id = event.id) ELSE 0 END`;

/** A calendar of the caller; the role is null without access. */
export interface ContextRow {
  calendar: Omit<CalendarContext, 'role' | 'locale'> | null;
  role: CalendarRole | null;
  locale: string | null;
}

/** SQL: the calendar of a request ($1 tenant, $2 calendar, $3 user). */
export const CONTEXT = `row_to_json(calendar) AS calendar, calendar_role_of($1, calendar.id, calendar.owner_id, $3) AS role,
  (SELECT locale FROM member_locales WHERE tenant_id = $1 AND user_id = $3) AS locale`;
const ENTRY = `json_build_object('show_as', entry.show_as, 'color', entry.color, 'reminders', entry.reminders,
  'instance_alarms', entry.instance_alarms, 'response', entry.response) AS entry`;

const readContext = workspace.statement<ContextRow>(
  'calendar.context',
  `SELECT ${CONTEXT} FROM calendar_contexts calendar WHERE calendar.tenant_id = $1 AND calendar.id = $2`,
  { pipelined: true },
);

const readContexts = workspace.statement<ContextRow>(
  'calendar.contexts',
  `SELECT ${CONTEXT} FROM calendar_contexts calendar WHERE calendar.tenant_id = $1 AND calendar.id = ANY ($2::uuid[])`,
);

type EntryJson = Pick<EntryRow, 'show_as' | 'color' | 'reminders' | 'instance_alarms' | 'response'>;

/** Joined rows are null where the calendar has no such event. */
type EventRowJson = ContextRow & { [key in keyof EventJson]: EventJson[key] | null } & { entry: EntryJson };

const readEvent = workspace.statement<EventRowJson>(
  'calendar.read_event',
  `SELECT ${CONTEXT}, record.event, record.participants, record.overrides, ${ENTRY}
     FROM calendar_contexts calendar
     LEFT JOIN calendar_entries entry
       ON entry.tenant_id = $1 AND entry.calendar_id = calendar.id AND entry.event_id = $4 AND NOT entry.hidden
     LEFT JOIN event_records record ON record.tenant_id = $1 AND record.id = entry.event_id
    WHERE calendar.tenant_id = $1 AND calendar.id = $2`,
);

const lockEvent = workspace.statement<Omit<EventRowJson, 'entry'> & { entries: OwnedEntry[] | null }>(
  'calendar.lock_event',
  `SELECT calendar, role, locale, event, participants, overrides, entries FROM event_lock($1, $2, $4, $3)`,
);

const write = workspace.statement<{ outcome: string }>(
  'calendar.write',
  `SELECT calendar_write($1, $2) AS outcome`,
);

const defaults = workspace.statement<{ user_id: string; calendar_id: string; time_zone: string }>(
  'calendar.defaults',
  `SELECT user_id, calendar_id, time_zone FROM calendar_defaults($1, $2)`,
);

export interface MemberRow {
  user_id: string;
  email: string;
  name: string;
}

/**
 * The members by addresses that name them, in any spelling of the domain: an address with a `+tag` that no member has is that of the member
 * without the tag.
 */
export function membersAt(members: readonly MemberRow[], emails: readonly string[]): Map<string, MemberRow> {
  const byKey = new Map(members.map((member) => [addressKey(member.email), member]));
  return new Map(
    emails.flatMap((email) => {
      const member = byKey.get(addressKey(email)) ?? byKey.get(withoutTag(email));
      return member ? [[email, member]] : [];
    }),
  );
}

// Index tenant_members_email.
const members = workspace.statement<MemberRow>(
  'calendar.members',
  `SELECT user_id, lower(email) AS email, display_name AS name FROM member_profiles
    WHERE tenant_id = $1 AND status = 'active' AND (user_id = ANY ($2) OR lower(email) = ANY ($3))`,
);

const readProposals = workspace.statement<{ proposal: ProposalRow }>(
  'calendar.proposals',
  `SELECT row_to_json(proposal) AS proposal FROM event_proposals proposal
    WHERE tenant_id = $1 AND event_id = $2 ORDER BY id`,
);

const placed = workspace.statement<Pick<CalendarEntry, 'uid' | 'event_id'>>(
  'calendar.events_of_uids',
  `SELECT uid, event_id FROM calendar_entries WHERE tenant_id = $1 AND calendar_id = $2 AND uid = ANY ($3)`,
);

/** An event in a calendar of the caller. */
export interface FoundEvent {
  calendar: CalendarContext;
  record: EventRecord;
  entry: EntryJson;
}

export interface LockedEvent {
  calendar: CalendarContext;
  record: EventRecord;
  entries: OwnedEntry[];
}

/** Events and their placements. */
@Injectable()
export class EventsRepository {
  /** The calendar as the caller sees it, or null. */
  async context(reader: Reader, ctx: MemberKey, calendarId: string): Promise<CalendarContext | null> {
    const [row] = await reader.query(readContext, [ctx.tenantId, calendarId, ctx.userId]);
    return contextOf(row);
  }

  /** The calendar as the caller sees it, with the caller's role. @throws ApiError 404 */
  async calendar(reader: Reader, ctx: RequestContext, calendarId: string): Promise<CalendarContext> {
    return assertVisible(await this.context(reader, ctx, calendarId));
  }

  /** The calendars that the caller sees, by id. */
  async contexts(
    reader: Reader,
    ctx: RequestContext,
    ids: readonly string[],
  ): Promise<Map<string, CalendarContext>> {
    if (ids.length === 0) return new Map();
    const rows = await reader.query(readContexts, [ctx.tenantId, ids, ctx.userId]);
    const calendars = rows.flatMap((row) => contextOf(row) ?? []);
    return new Map(calendars.map((calendar) => [calendar.id, calendar]));
  }

  /** Null means no such calendar. A record of null means that the calendar does not contain the event. */
  async find(
    reader: Reader,
    ctx: RequestContext,
    calendarId: string,
    eventId: string,
  ): Promise<FoundEvent | { calendar: CalendarContext; record: null } | null> {
    const [row] = await reader.query(readEvent, [ctx.tenantId, calendarId, ctx.userId, eventId]);
    const calendar = contextOf(row);
    if (!row || !calendar) return null;
    return row.event
      ? { calendar, record: recordOf(row as EventJson), entry: row.entry }
      : { calendar, record: null };
  }

  /** Locks an event for a change. Null means no such calendar; a record of null means that the calendar does not contain it. */
  async lock(
    tx: Tx,
    ctx: RequestContext,
    calendarId: string,
    eventId: string,
  ): Promise<LockedEvent | { calendar: CalendarContext; record: null } | null> {
    const [row] = await tx.query(lockEvent, [ctx.tenantId, calendarId, ctx.userId, eventId]);
    const calendar = contextOf(row);
    if (!row || !calendar) return null;
    const entries = row.entries ?? [];
    // The request before this one may have removed the event from the calendar.
    const isPlaced = entries.some((entry) => entry.calendar_id === calendarId);
    return row.event && isPlaced
      ? { calendar, record: recordOf(row as EventJson), entries }
      : { calendar, record: null };
  }

  /** @returns `ok`, or the code of the reason why nothing was written */
  async write(tx: Tx, tenantId: string, json: WriteJson): Promise<string> {
    return (await tx.query(write, [tenantId, JSON.stringify(json)]))[0]?.outcome as string;
  }

  /** Ids of the default calendars of active members; creates the missing ones. */
  async defaultCalendars(tx: Tx, tenantId: string, userIds: readonly string[]): Promise<Map<string, string>> {
    if (userIds.length === 0) return new Map();
    const rows = await tx.query(defaults, [tenantId, userIds]);
    return new Map(rows.map((row) => [row.user_id, row.calendar_id]));
  }

  /** Active members with these ids or addresses (lower case), also those with the address without its `+tag`: see `membersAt`. */
  async members(reader: Reader, tenantId: string, ids: string[], emails: string[]): Promise<MemberRow[]> {
    const addresses = [
      ...new Set(emails.flatMap((email) => [email, withoutTag(email)]).flatMap(addressForms)),
    ];
    return ids.length + emails.length === 0 ? [] : reader.query(members, [tenantId, ids, addresses]);
  }

  /** Ids of active members by these addresses. */
  async memberIds(reader: Reader, tenantId: string, emails: string[]): Promise<Map<string, string>> {
    const found = membersAt(await this.members(reader, tenantId, [], emails), emails);
    return new Map([...found].map(([email, { user_id }]) => [email, user_id]));
  }

  /** The ids of the events of a calendar with these uids, by uid. */
  async idsOfUids(
    reader: Reader,
    tenantId: string,
    calendarId: string,
    uids: readonly string[],
  ): Promise<Map<string, string>> {
    const rows = uids.length === 0 ? [] : await reader.query(placed, [tenantId, calendarId, uids]);
    return new Map(rows.map(({ uid, event_id }) => [uid, event_id]));
  }

  /** Stores what imports found in their files, of events that did not change. */
  async setImported(
    tx: Tx,
    tenantId: string,
    versions: readonly { id: string; imported: ImportedVersion }[],
  ): Promise<void> {
    if (versions.length > 0) await tx.query(setImported, [tenantId, JSON.stringify(versions)]);
  }

  /** The proposals of an event, oldest first. */
  async proposals(reader: Reader, tenantId: string, eventId: string): Promise<ProposalRow[]> {
    return (await reader.query(readProposals, [tenantId, eventId])).map((row) => row.proposal);
  }
}

/** Null without access. */
export function contextOf(row: ContextRow | undefined): CalendarContext | null {
  return row?.calendar && row.role ? { ...row.calendar, role: row.role, locale: row.locale } : null;
}

/** @throws ApiError 404 without access */
export function assertVisible(calendar: CalendarContext | null): CalendarContext {
  if (!calendar) throw CalendarErrors.calendarNotFound.with();
  return calendar;
}
