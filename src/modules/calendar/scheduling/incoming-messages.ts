import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { CalendarZones } from '../../../lib/icalendar/index.js';
import {
  addressOfUri,
  isOfAttendee,
  type ItipMessage,
  organizerOf,
  sameMailbox,
} from '../../../lib/itip/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { CALENDAR_MAIL, type CalendarMail, OwnMail } from '../../mail/index.js';
import type { EventChange } from '../changes/event-write.js';
import { EventWriter } from '../changes/event-writer.js';
import { EventsRepository } from '../events.repository.js';
import {
  type Applied,
  type Arrival,
  type Incoming,
  RejectedMessageError,
  rejectionReason,
  keepEvent,
} from './incoming/incoming.js';
import { applyCounter, applyRefresh, applyReply } from './incoming/replies.js';
import { applyCancel, applyDecline } from './incoming/cancellations.js';
import {
  assertChangesOwnOnly,
  assertTouchesOwnOnly,
  contextOf,
  isFromAnother,
  joinsCurrent,
  placementsOf,
  rejoined,
  standing,
  withOwner,
} from './incoming/placements.js';
import { applyRequest } from './incoming/requests.js';
import { digest, OutgoingMessages } from './outgoing-messages.js';
import { addressesIn, calendarsIn, parsedOf, readMessage } from './parsed-message.js';
import { type PlacedRecord, SchedulingRepository } from './scheduling.repository.js';
import type { SchedulingMessageResponse } from './scheduling.dto.js';

/** Maximum length of a message that the log stores. */
const MAX_KEPT = 262_144;

/** Applies messages from outside of the workspace to its events, and records them. */
@Injectable()
export class IncomingMessages implements OnModuleInit {
  constructor(
    private readonly repository: SchedulingRepository,
    private readonly events: EventsRepository,
    private readonly writer: EventWriter,
    private readonly outgoing: OutgoingMessages,
    private readonly mail: OwnMail,
    private readonly outbox: Outbox,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    const receive = ({ tenantId, payload }: DomainEvent) =>
      this.receiveMail(tenantId, payload as unknown as CalendarMail);
    this.outbox.subscribe(CALENDAR_MAIL, 'calendar-messages', receive, 'mail');
  }

  private async receiveMail(tenantId: string, mail: CalendarMail): Promise<void> {
    for (const [n, bytes] of calendarsIn(Buffer.from(mail.content ?? '', 'base64')).entries())
      await this.receiveCalendar(tenantId, mail, bytes, n);
  }

  private async receiveCalendar(
    tenantId: string,
    mail: CalendarMail,
    bytes: Buffer,
    n: number,
  ): Promise<void> {
    const key = `${mail.user_id} ${mail.message_id} ${mail.content ?? ''}`;
    await this.receive({
      tenantId,
      userId: mail.user_id,
      calendarId: null,
      bytes,
      from: addressOfUri(mail.from) ?? '',
      isProven: true,
      method: mail.method,
      isAuthentic: mail.is_authentic ?? null,
      dedupeKey: `in ${digest(n === 0 ? key : `${key} ${n}`)}`,
      isTnef: mail.content === null,
    });
  }

  /**
   * Applies a message in one transaction.
   * @returns the entry of the log; null for a user that is no longer a member
   */
  async receive(arrival: Arrival & { isTnef?: boolean }): Promise<SchedulingMessageResponse | null> {
    const { tenantId, userId, bytes } = arrival;
    const [member] = await this.events.members(this.db, tenantId, [userId], []);
    if (!member) return null;
    const account = await this.mail.addressOf({ tenantId, userId });
    const emails = [...new Set([member.email, ...(account ? [account] : [])])];
    const message = arrival.isTnef ? 'tnef_unsupported' : readMessage(bytes);
    const addresses = typeof message === 'string' ? [] : addressesIn(message);
    const memberIds = await this.events.memberIds(this.db, tenantId, addresses);
    return this.db.tx(async (tx) => {
      await this.repository.lockUid(
        tx,
        tenantId,
        typeof message === 'string' ? arrival.dedupeKey : message.uid,
      );
      const logged = await this.repository.findByKey(tx, tenantId, arrival.dedupeKey);
      if (logged) return logged;
      const calendarId =
        arrival.calendarId ?? (await this.events.defaultCalendars(tx, tenantId, [userId])).get(userId);
      if (calendarId === undefined) return null;
      const own = { userId, emails };
      const done =
        typeof message === 'string'
          ? { applied: keepEvent('rejected', message), placed: null }
          : await this.apply(tx, { ...arrival, calendarId }, message, own, memberIds);
      return this.record(tx, arrival, message, calendarId, done);
    });
  }

  private async apply(
    tx: Tx,
    arrival: Arrival & { calendarId: string },
    message: ItipMessage,
    owner: Incoming['owner'],
    members: ReadonlyMap<string, string>,
  ): Promise<{ applied: Applied; placed: PlacedRecord | null }> {
    const { tenantId, from } = arrival;
    const zones = new CalendarZones(message.calendar);
    const placed = await this.locked(tx, arrival, message, owner);
    const isPlaced = placed?.entries.some(({ owner_id }) => owner_id === owner.userId) ?? false;
    const now = new Date().toISOString();
    const byHand = arrival.byHand ?? (placed && isPlaced ? standing(placed, from) : undefined);
    const isByUser = arrival.byHand !== undefined;
    const incoming: Incoming = { message, zones, from, owner, members, byHand, isByUser, isPlaced, now };
    try {
      if (arrival.method !== null && arrival.method !== message.method)
        throw new RejectedMessageError('method_mismatch');
      if (arrival.isAuthentic === false) throw new RejectedMessageError('sender_not_authenticated');
      const applied = await this.applied(tx, arrival, placed, incoming);
      if (!arrival.isProven || isFromAnother(incoming)) assertChangesOwnOnly(placed, applied, incoming);
      const written = await this.write(tx, tenantId, arrival.calendarId, placed, applied, incoming);
      return { applied: written.applied, placed: written.placed ?? placed };
    } catch (error) {
      const reason = rejectionReason(error);
      if (reason === null) throw error;
      return { applied: keepEvent('rejected', reason), placed };
    }
  }

  /** The event that a message concerns: one of the owner for responses, else one from outside of the workspace. */
  private async locked(
    tx: Tx,
    { tenantId, calendarId, byHand }: Arrival,
    message: ItipMessage,
    owner: Incoming['owner'],
  ): Promise<PlacedRecord | null> {
    const rows = await this.repository.lockEvents(tx, tenantId, message.uid);
    const published = rows.find(
      ({ origin, origin_calendar_id, organizer_id }) =>
        origin === 'published' &&
        (byHand ? origin_calendar_id === calendarId : organizer_id === owner.userId),
    );
    const external = rows.find(({ origin }) => origin === 'external');
    const own = rows.find(
      ({ origin, organizer_id }) => origin === 'internal' && organizer_id === owner.userId,
    );
    const { method } = message;
    const found = isOfAttendee(method)
      ? own
      : method === 'PUBLISH'
        ? published
        : (external ?? (method === 'CANCEL' ? published : undefined));
    return found ? this.repository.findPlaced(tx, tenantId, found.id) : null;
  }

  private async applied(
    tx: Tx,
    arrival: Arrival & { calendarId: string },
    placed: PlacedRecord | null,
    incoming: Incoming,
  ): Promise<Applied> {
    const { message, owner } = incoming;
    const { method } = message;
    const record = placed?.record ?? null;
    assertTouchesOwnOnly(placed, incoming);
    if (method === 'REQUEST' || method === 'PUBLISH')
      return applyRequest(record, arrival.calendarId, incoming);
    if (!record) {
      if (method === 'ADD') await this.requestRefresh(tx, arrival, incoming);
      return keepEvent('ignored_unknown');
    }
    const proposals = method.endsWith('COUNTER')
      ? await this.events.proposals(tx, arrival.tenantId, record.id)
      : [];
    if (method === 'ADD') return applyRequest(record, arrival.calendarId, incoming);
    if (method === 'CANCEL') return applyCancel(record, incoming);
    if (method === 'DECLINECOUNTER') return applyDecline(record, proposals, incoming);
    if (record.deleted_at !== null || record.organizer_id !== owner.userId)
      return keepEvent('ignored_unknown');
    if (method === 'REPLY') return applyReply(record, incoming);
    return method === 'COUNTER' ? applyCounter(record, proposals, incoming) : applyRefresh(record, incoming);
  }

  /** Requests an event from its organizer after an ADD for an unknown event (RFC 5546, 3.2.4). */
  private async requestRefresh(
    tx: Tx,
    arrival: Arrival & { calendarId: string },
    incoming: Incoming,
  ): Promise<void> {
    const { message, owner } = incoming;
    const [part] = message.parts;
    const organizer = part && organizerOf(part.event);
    if (!organizer || arrival.from === null || !sameMailbox(arrival.from, organizer.email)) return;
    await this.outgoing.refresh(tx, arrival.tenantId, {
      uid: message.uid,
      event: part.event,
      calendarId: arrival.calendarId,
      userId: owner.userId,
      from: owner.emails.at(-1) as string,
      organizer: organizer.email,
      cause: `refresh ${arrival.dedupeKey}`,
    });
  }

  private async write(
    tx: Tx,
    tenantId: string,
    calendarId: string,
    placed: PlacedRecord | null,
    applied: Applied,
    incoming: Incoming,
  ): Promise<{ applied: Applied; placed: PlacedRecord | null }> {
    const { owner, now } = incoming;
    const ctx = contextOf(tenantId, owner.userId);
    const isInvitation = /^(?:REQUEST|ADD|PUBLISH)$/.test(incoming.message.method);
    const isPlaced = placed?.entries.some(({ owner_id }) => owner_id === owner.userId) ?? false;
    const joins = isInvitation && placed !== null && !isPlaced && joinsCurrent(placed.record, applied, owner);
    const { proposals, action, fields, key, messages } = applied;
    const record = applied.record ?? (joins ? rejoined(placed.record) : undefined);
    if (!record) {
      if (placed) await this.writer.repeatMessages(tx, ctx, placed.record, messages ?? []);
      return { applied, placed };
    }
    const recordOfOwner = withOwner(record, owner);
    const change: EventChange = {
      before: placed?.record ?? null,
      record: recordOfOwner,
      ...placementsOf(placed, recordOfOwner, isInvitation, calendarId, owner.userId),
      proposals,
      action,
      fields,
      key,
      messages,
    };
    const changed = await this.writer.commitOne(tx, ctx, change, now);
    const done = await this.withDelegates(tx, ctx, placed, changed, now);
    const result = joins ? 'created' : applied.result;
    return { applied: { ...applied, result }, placed: { record: done.record, entries: done.entries } };
  }

  /** Invites the members to whom an attendee outside of the workspace has delegated, in a change of its own: it is no response. */
  private async withDelegates(
    tx: Tx,
    ctx: RequestContext,
    placed: PlacedRecord | null,
    changed: EventChange,
    now: string,
  ): Promise<EventChange> {
    const { record, entries } = changed;
    const known = new Set(placed?.record.participants.map(({ user_id }) => user_id));
    const isSame = record.participants.every(({ user_id }) => user_id === null || known.has(user_id));
    if (record.origin !== 'internal' || isSame) return changed;
    const origin = entries.find(({ calendar_id }) => calendar_id === record.origin_calendar_id);
    const ownerId = origin?.owner_id ?? (record.organizer_id as string);
    const placements = await this.writer.placements(tx, ctx, record, entries, ownerId);
    const change: EventChange = {
      before: record,
      record,
      ...placements,
      action: 'updated',
      fields: ['attendees'],
    };
    return this.writer.commitOne(tx, ctx, change, now);
  }

  private async record(
    tx: Tx,
    arrival: Arrival,
    message: ItipMessage | string,
    calendarId: string,
    { applied, placed }: { applied: Applied; placed: PlacedRecord | null },
  ): Promise<SchedulingMessageResponse> {
    const { tenantId, userId, from, dedupeKey } = arrival;
    const isRead = typeof message !== 'string';
    const [part] = isRead ? message.parts : [];
    const own = placed?.entries.find(({ owner_id }) => owner_id === userId);
    const id = uuidv7();
    const text = arrival.bytes.toString('utf8').toWellFormed().replaceAll('\0', '');
    const hasTime =
      part?.dtstamp !== null && part?.dtstamp !== undefined && Math.abs(part.dtstamp) < 250_000_000_000;
    await this.repository.insert(tx, tenantId, {
      id,
      calendar_id: own?.calendar_id ?? calendarId,
      user_id: userId,
      event_id: placed?.record.id ?? null,
      direction: 'in',
      method: isRead ? message.method : null,
      uid: isRead ? message.uid : '',
      recurrence_key: applied.key ?? '',
      sequence: part?.sequence ?? 0,
      dtstamp: hasTime ? new Date((part?.dtstamp as number) * 1000).toISOString() : null,
      sender: from ?? '',
      result: applied.result,
      reason: applied.reason,
      parsed: isRead ? parsedOf(message) : null,
      ics: text.length > 0 && text.length <= MAX_KEPT ? text : null,
      mail: null,
      dedupe_key: dedupeKey,
    });
    return (await this.repository.findByKey(tx, tenantId, dedupeKey)) as SchedulingMessageResponse;
  }
}
