import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import {
  addressOfUri,
  isOfAttendee,
  type ItipMethod,
  organizerOf,
  parseItip,
  sameMailbox,
} from '../../../lib/itip/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { CalendarMailReader, OwnMail } from '../../mail/index.js';
import { CalendarErrors } from '../calendar.errors.js';
import { EventsRepository } from '../events.repository.js';
import { instanceKey } from '../input/event-ref.js';
import { invalidField } from '../input/event-patch.js';
import { outsideAttendees, recordIn } from '../model/attendance.js';
import { isAtLeast, participantOf, permissionsOf } from '../model/event-policy.js';
import type { CalendarContext, EventRecord } from '../model/event-record.js';
import { eventResponse, viewerOf } from '../responses/event.presenter.js';
import type { CalendarEventResponse } from '../responses/event.response.js';
import { IncomingMessages } from './incoming-messages.js';
import { calendarsIn } from './parsed-message.js';
import { OutgoingMessages } from './outgoing-messages.js';
import { type Arrival, rejectionReason } from './incoming/incoming.js';
import {
  type FullSchedulingMessageResponse,
  type ListSchedulingMessages,
  type ReceivedMessageEnvelope,
  SchedulingErrors,
  type SchedulingMessageListEnvelope,
  type SchedulingMessageResponse,
  type SendSchedulingMessage,
  type SentMessageEnvelope,
  type TakeMessage,
} from './scheduling.dto.js';
import {
  type ListedSchedulingMessage,
  type PlacedRecord,
  SchedulingRepository,
} from './scheduling.repository.js';

const PARSE_ERRORS: Record<string, () => ApiError> = {
  invalid_ics: () => SchedulingErrors.invalidIcs.with(),
  unknown_method: () => SchedulingErrors.unknownMethod.with(),
  multiple_uids: () => SchedulingErrors.multipleUids.with(),
};

/** Scheduling messages of a calendar for its owner: the log, sending, and received messages that the owner applies. */
@Injectable()
export class SchedulingService {
  constructor(
    private readonly repository: SchedulingRepository,
    private readonly events: EventsRepository,
    private readonly outgoing: OutgoingMessages,
    private readonly incoming: IncomingMessages,
    private readonly mail: OwnMail,
    private readonly mails: CalendarMailReader,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404; 403; 422 `invalid_cursor` */
  async list(
    ctx: RequestContext,
    calendarId: string,
    query: ListSchedulingMessages,
  ): Promise<SchedulingMessageListEnvelope> {
    await this.ownCalendar(ctx, calendarId);
    const { direction, method, result, uid, since } = query;
    const filters = { direction, method, result, uid, since };
    const { rows, next } = await this.cursors.page(query, {
      scope: `scheduling ${ctx.tenantId} ${calendarId} ${JSON.stringify(filters)}`,
      key: (row: ListedSchedulingMessage): [string] => [row.id],
      fits: (row) => row.fits,
      rows: (after, limit) =>
        this.repository.list(ctx.tenantId, calendarId, after?.[0] ?? null, limit, filters),
    });
    return { messages: rows.map(({ fits: _fits, ...message }) => message), next };
  }

  /** @throws ApiError 404; 403 */
  async read(
    ctx: RequestContext,
    calendarId: string,
    id: string,
  ): Promise<{ message: FullSchedulingMessageResponse }> {
    await this.ownCalendar(ctx, calendarId);
    const message = await this.repository.find(ctx.tenantId, calendarId, id);
    if (!message) throw SchedulingErrors.messageNotFound.with();
    return { message };
  }

  /**
   * Sends a message about the state of an event.
   * @throws ApiError 404; 403 `method_not_allowed`; 409 `method_not_applicable`; 422 `unknown_recipient`; 503 `no_mail`
   */
  async send(
    ctx: RequestContext,
    calendarId: string,
    body: SendSchedulingMessage,
  ): Promise<JsonReply<SentMessageEnvelope>> {
    const calendar = await this.ownCalendar(ctx, calendarId);
    const { method, comment = '' } = body;
    const eventId = body.event_id.toLowerCase();
    const found = await this.events.find(this.db, ctx, calendarId, eventId);
    const placed = await this.repository.findPlaced(this.db, ctx.tenantId, eventId);
    const known = found?.record ?? (method === 'CANCEL' ? deletedIn(placed, calendar) : null);
    if (!known || !placed) throw CalendarErrors.eventNotFound.with();
    const record = recordIn(known, calendar);
    const key = sentKey(record, body) ?? '';
    assertMaySend(record, calendar, ctx, method);
    const recipients = recipientsOf(record, key, body);
    await this.assertApplies(ctx.tenantId, record, { method, key, recipients });
    if (!this.mail.isConfigured) throw SchedulingErrors.noMail.with();
    const now = new Date();
    const order = {
      method,
      key,
      recipients,
      comment,
      proposal: null,
      actorId: ctx.userId,
      now,
      isByHand: true,
    };
    const id = await this.outgoing.queue(placed, { ...order, tenantId: ctx.tenantId, cause: uuidv7() });
    const sent = id && (await this.repository.find(ctx.tenantId, calendarId, id));
    if (!sent) throw SchedulingErrors.notYourMethod.with();
    const { ics: _ics, ...message } = sent;
    if (message.reason === 'no_mail') throw SchedulingErrors.noMail.with();
    return JsonReply.of({ message }, { status: 202 });
  }

  /** A message must not report what the event does not show. @throws ApiError 409 `method_not_applicable` */
  private async assertApplies(
    tenantId: string,
    record: EventRecord,
    { method, key, recipients }: { method: ItipMethod; key: string; recipients: readonly string[] },
  ): Promise<void> {
    // A date that the organizer adds is part of the series, which REQUEST states; ADD would create a second event.
    if (method === 'ADD' || (method === 'CANCEL' && !isCancelled(record, key)))
      throw SchedulingErrors.notApplicable.with();
    if (method !== 'DECLINECOUNTER') return;
    const proposals = (await this.events.proposals(this.db, tenantId, record.id)).filter(
      ({ status, recurrence_key }) => recurrence_key === key && /^(?:pending|declined)$/.test(status),
    );
    if (!recipients.every((email) => proposals.some(({ by_email }) => by_email === email)))
      throw SchedulingErrors.notApplicable.with();
  }

  /**
   * Applies a received message. Status 201: it created an event.
   * @param body iCalendar, or fields
   * @throws ApiError 404; 403 `sender_mismatch`; 422 `invalid_ics`, `unknown_method`, `multiple_uids`
   */
  async take(
    ctx: RequestContext,
    calendarId: string,
    body: Buffer | TakeMessage,
  ): Promise<JsonReply<ReceivedMessageEnvelope>> {
    const calendar = await this.ownCalendar(ctx, calendarId);
    const { bytes, from, isProven } = await this.arrived(ctx, body);
    const taken: SchedulingMessageResponse[] = [];
    for (const each of calendarsIn(bytes)) {
      const message = await this.incoming.receive({
        tenantId: ctx.tenantId,
        userId: calendar.owner_id,
        calendarId,
        bytes: each,
        from,
        isProven,
        method: null,
        // The user has decided to apply the message.
        isAuthentic: null,
        byHand: { timeZone: calendar.time_zone },
        dedupeKey: `api ${uuidv7()}`,
      });
      if (!message) throw Errors.forbidden.with();
      taken.push(message);
    }
    // Of several messages, the response is about one that has an effect.
    const message = (taken.find(({ result }) => !/^(?:rejected|ignored)/.test(result)) ??
      taken[0]) as SchedulingMessageResponse;
    const error = message.reason === null ? undefined : PARSE_ERRORS[message.reason];
    if (error) throw error();
    if (message.reason === 'sender_mismatch') throw SchedulingErrors.senderMismatch.with();
    const event =
      message.event_id === null ? null : await this.presentResult(ctx, calendar, message.event_id);
    return JsonReply.of({ message, event }, { status: message.result === 'created' ? 201 : 200 });
  }

  /** The bytes of a message and the sender of its mail. */
  private async arrived(
    ctx: RequestContext,
    body: Buffer | TakeMessage,
  ): Promise<Pick<Arrival, 'bytes' | 'from' | 'isProven'>> {
    if (Buffer.isBuffer(body)) return { bytes: body, from: null, isProven: false };
    const { ics, from: claimed, message } = body;
    if (message) {
      const owner = { tenantId: ctx.tenantId, userId: ctx.userId };
      const mail = await this.mails.read(owner, message.mailbox.toLowerCase(), message.id);
      if (!mail) throw invalidField('message', 'no_calendar', 'is not a mail with a calendar');
      if (mail.content === null)
        throw invalidField('message', 'tnef_unsupported', 'contains TNEF instead of a calendar');
      const from = addressOfUri(mail.from) ?? '';
      return { bytes: Buffer.from(mail.content, 'base64'), from, isProven: mail.is_authentic === true };
    }
    if (ics === undefined) throw invalidField('ics', 'required', 'or `message` is required');
    const bytes = Buffer.from(ics);
    if (claimed !== undefined && !isOrganizerOf(bytes, claimed)) throw SchedulingErrors.senderMismatch.with();
    return { bytes, from: null, isProven: false };
  }

  private async presentResult(
    ctx: RequestContext,
    calendar: CalendarContext,
    eventId: string,
  ): Promise<CalendarEventResponse | null> {
    const found = await this.events.find(this.db, ctx, calendar.id, eventId);
    if (!found?.record) return null;
    return eventResponse(found.record, found.entry, viewerOf(ctx, calendar));
  }

  /** Messages show private events: only the owner of a calendar reads and sends them. @throws ApiError 404; 403 */
  private async ownCalendar(ctx: RequestContext, calendarId: string): Promise<CalendarContext> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    if (calendar.owner_id !== ctx.userId || !isAtLeast(calendar.role, 'owner')) throw Errors.forbidden.with();
    return calendar;
  }
}

/** A deleted meeting of the owner of a calendar. */
function deletedIn(placed: PlacedRecord | null, { id, owner_id }: CalendarContext): EventRecord | null {
  const record = placed?.record;
  const isOwn = record?.origin_calendar_id === id && record.organizer_id === owner_id;
  return record && isOwn && record.origin === 'internal' && record.deleted_at !== null ? record : null;
}

/** The instance that a message concerns. CANCEL names instances that the series no longer has. */
function sentKey(record: EventRecord, { method, recurrence_id }: SendSchedulingMessage): string | null {
  const series = method === 'CANCEL' ? { ...record, excluded: [] } : record;
  return instanceKey(series, { id: record.id, instance: null }, recurrence_id);
}

function isCancelled(record: EventRecord, key: string): boolean {
  if (record.status === 'cancelled' || record.deleted_at !== null) return true;
  if (key === '') return false;
  const override = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
  return record.excluded.includes(key) || override?.patch.status === 'cancelled';
}

function isOrganizerOf(bytes: Buffer, from: string): boolean {
  try {
    return parseItip(bytes).parts.every(({ event }) => {
      const organizer = organizerOf(event);
      return organizer !== null && sameMailbox(organizer.email, from);
    });
  } catch (error) {
    if (rejectionReason(error) === null) throw error;
    // The message is rejected for its content.
    return true;
  }
}

/** @throws ApiError 403 `method_not_allowed` */
function assertMaySend(
  record: EventRecord,
  calendar: CalendarContext,
  ctx: RequestContext,
  method: ItipMethod,
): void {
  const isAllowed = isOfAttendee(method)
    ? // A counter-proposal has times: it is made by `proposals`.
      method !== 'COUNTER' && record.origin === 'external' && participantOf(record, ctx.userId) !== undefined
    : // Nobody edits a deleted meeting; `deletedIn` returns those of the owner only.
      record.deleted_at !== null || permissionsOf(record, calendar, ctx.userId).edit;
  if (!isAllowed) throw SchedulingErrors.notYourMethod.with();
}

/** @throws ApiError 422 `unknown_recipient` */
function recipientsOf(
  record: EventRecord,
  key: string,
  { method, recipients }: SendSchedulingMessage,
): string[] {
  const allowed = isOfAttendee(method) ? [record.organizer_email] : outsideAttendees(record, key);
  const emails = [...new Set((recipients ?? allowed).map((email) => email.toLowerCase()))];
  const isUnknown =
    method === 'PUBLISH' ? recipients === undefined : !emails.every((email) => allowed.includes(email));
  if (isUnknown || emails.length === 0) throw SchedulingErrors.unknownRecipient.with();
  return emails;
}
