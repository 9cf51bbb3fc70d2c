import { createHash } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import {
  type Component,
  component,
  formatComponent,
  property,
  type Property,
  propertyOf,
} from '../../../lib/icalendar/index.js';
import {
  composeItipMail,
  domainOf,
  isOfAttendee,
  type ItipMethod,
  parseItip,
  uriOfAddress,
} from '../../../lib/itip/index.js';
import { textLocaleOf } from '../../../lib/recurrence/index.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { OwnMail, type SendOutcome } from '../../mail/index.js';
import { CalendarEvents, type MessageDue } from '../calendar.events.js';
import { EventsRepository } from '../events.repository.js';
import { FOLLOWING, participantOf } from '../model/event-policy.js';
import type { ProposalRow } from '../model/event-record.js';
import { peopleAt } from '../model/attendance.js';
import { isServed } from '../model/ics/people-parameters.js';
import { PRODUCT } from '../model/ics/product.js';
import { stamp } from '../model/vevent.js';
import { mailText } from './outgoing/mail-text.js';
import { outgoingCalendar, responseOf } from './outgoing/outgoing-calendar.js';
import { parsedOf } from './parsed-message.js';
import { SchedulingErrors } from './scheduling.dto.js';
import {
  deleteOld,
  type DueDelivery,
  isUpdate,
  type NewMessage,
  type PlacedRecord,
  SchedulingRepository,
} from './scheduling.repository.js';

export const DELIVERIES_JOB = 'calendar-deliveries';
const INTERVAL_SECONDS = 10;
/** Longer than all timeouts of one send together. */
const LEASE_SECONDS = 300;
/** Retries end by the age of the message, not by their number: messages that have waited for each other end together. */
const RETRIED_MS = 2 * 86_400_000;
/** A sender who is at a limit of the mail service is so for a day or more, through no fault of the message. */
const LIMITED_MS = 7 * 86_400_000;
/** An old message is retried for some minutes too, e.g. after the workspace was down for days. */
const MIN_ATTEMPTS = 5;
/** How long a refusal by the rate limit counts for all messages of the sender. */
const LIMIT_KEPT_MS = 60_000;
const MAX_PAUSE_SECONDS = 3_600;
/** A delivery that waits for an earlier one is woken by its end, except by a process of the previous release. */
const WAIT_SECONDS = 600;

/**
 * Sends queued messages from the mailboxes of their senders. An attempt after a crash first looks for the message, by its
 * Message-ID, in the mailbox of the sender, so that it is sent once. Messages about an event reach a recipient in their order: each
 * waits until the earlier ones are sent or have failed (adr/0040).
 */
@Injectable()
export class Deliveries implements OnModuleInit {
  private readonly logger = new Logger('Scheduling');

  constructor(
    private readonly repository: SchedulingRepository,
    private readonly mail: OwnMail,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: DELIVERIES_JOB,
      everySeconds: INTERVAL_SECONDS,
      queue: 'mail',
      run: () => this.run(),
    });
    this.jobs.register({ name: 'purge-scheduling-messages', everySeconds: 3_600, deletes: deleteOld });
  }

  /** Sends everything that is due, each message under a lease of its own. */
  async run(): Promise<void> {
    // The mail service is asked once in a while for a sender at the rate limit, however many messages wait.
    const limited = new Map<string, { outcome: SendOutcome; until: number }>();
    for (;;) {
      const delivery = await this.repository.claim(LEASE_SECONDS);
      if (!delivery) return;
      if (delivery.waits) {
        await this.repository.defer(delivery, WAIT_SECONDS);
        continue;
      }
      const sender = `${delivery.tenant_id} ${delivery.user_id}`;
      const known = limited.get(sender);
      const outcome = known && Date.now() < known.until ? known.outcome : await this.attempt(delivery);
      // A full mailbox may still take a smaller message.
      if (outcome !== known?.outcome && outcome.kind === 'retry' && outcome.reason === 'RateLimitedError')
        limited.set(sender, { outcome, until: Date.now() + LIMIT_KEPT_MS });
      await this.conclude(delivery, outcome);
    }
  }

  private async conclude(delivery: DueDelivery, outcome: SendOutcome): Promise<void> {
    if (outcome.kind === 'sent') return this.repository.conclude(delivery, 'sent', null, 0);
    if (outcome.kind === 'retry' && isRetried(delivery, outcome)) {
      const pause = Math.min(2 ** delivery.attempts * 5, MAX_PAUSE_SECONDS);
      return this.repository.conclude(delivery, 'queued', outcome.reason, pause);
    }
    await this.repository.conclude(delivery, 'failed', outcome.reason, 0);
  }

  private async attempt(delivery: DueDelivery): Promise<SendOutcome> {
    const { tenant_id: tenantId, user_id: userId, recipient, attempts, created_at: createdAt } = delivery;
    const owner = { tenantId, userId };
    try {
      const address = await this.mail.addressOf(owner);
      if (address === null) return { kind: 'failed', reason: 'no_mail' };
      const messageId = messageIdOf(delivery, address);
      const raw = await composed(delivery, address, messageId);
      const message = { messageId, to: recipient, raw: raw.toString(), createdAt };
      return await this.mail.send(owner, message, attempts > 1);
    } catch (error) {
      this.logger.warn(
        { err: error, message: delivery.message_id },
        'a message could not be sent, will be retried',
      );
      return { kind: 'retry', reason: 'mail_service_error', isLimit: false };
    }
  }
}

function isRetried({ attempts, created_at }: DueDelivery, { isLimit }: { isLimit: boolean }): boolean {
  return attempts < MIN_ATTEMPTS || Date.now() - created_at.getTime() < (isLimit ? LIMITED_MS : RETRIED_MS);
}

/** The Message-ID, which is the same in each attempt. The recipient is part of it: as a digest if it has more than 32 bytes. */
function messageIdOf({ message_id, recipient }: DueDelivery, address: string): string {
  const bytes = Buffer.from(recipient);
  const part = bytes.length <= 32 ? bytes : createHash('sha256').update(bytes).digest();
  return `<${message_id}.${part.toString('hex')}@${domainOf(address)}>`;
}

function composed(delivery: DueDelivery, address: string, messageId: string): Promise<Buffer> {
  const { event_id, recipient, method, ics, mail, created_at } = delivery;
  return composeItipMail({
    from: { name: mail.from_name, address },
    to: { name: '', address: recipient },
    messageId,
    // All messages about an event are one thread.
    references: event_id === null ? [] : [`<event.${event_id}@${domainOf(address)}>`],
    subject: mail.subject,
    date: created_at,
    text: mail.text,
    html: mail.html,
    method: method as ItipMethod,
    ics,
  });
}

/** A message to compose for recipients outside of the workspace. */
export interface Order {
  tenantId: string;
  method: ItipMethod;
  /** Empty: the whole event. */
  key: string;
  recipients: readonly string[];
  comment: string;
  proposal: ProposalRow | null;
  /** The member that causes the message. */
  actorId: string;
  /** A member sends the message by hand: a change of the event meanwhile ends it, because its conditions were checked before. */
  isByHand?: boolean;
  /** Distinguishes messages about the same version. Null means one message for each version. */
  cause: string | null;
  now: Date;
}

/** How often a message is composed while its event changes. The last one is queued as it is. */
const COMPOSITIONS = 5;

/** Composes messages to addresses outside of the workspace and queues them. */
@Injectable()
export class OutgoingMessages implements OnModuleInit {
  constructor(
    private readonly events: EventsRepository,
    private readonly repository: SchedulingRepository,
    private readonly mail: OwnMail,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    const compose = (event: DomainEvent) => this.compose(event as unknown as DomainEvent<MessageDue>);
    this.outbox.subscribe(CalendarEvents.messageDue, 'calendar-messages', compose, 'mail');
  }

  /** Queues the message of an outbox event. It has the current version of the event, so a later version replaces an earlier one. */
  private async compose({ id, tenantId, payload, occurredAt }: DomainEvent<MessageDue>): Promise<void> {
    const placed = await this.repository.findPlaced(this.db, tenantId, payload.event_id);
    if (!placed || !isServed(peopleAt(placed.record, payload.recurrence_key), payload.recipient)) return;
    const proposals = payload.proposal_id
      ? await this.events.proposals(this.db, tenantId, payload.event_id)
      : [];
    await this.queue(placed, {
      tenantId,
      method: payload.method,
      key: payload.recurrence_key,
      recipients: [payload.recipient],
      comment: payload.comment,
      proposal: proposals.find((each) => each.id === payload.proposal_id) ?? null,
      actorId: payload.actor_id,
      cause: payload.repeat ? id : null,
      now: occurredAt,
    });
  }

  /**
   * Composes a message and queues it. Where the event changes meanwhile, the message is composed again: another process may have queued
   * the one of the later version, which an earlier version must not follow.
   * @returns its id; null where there is nothing to send, or where it is queued already
   * @throws ApiError 409 `method_not_applicable` where the event of a message by hand changes meanwhile
   */
  async queue(placed: PlacedRecord, order: Order): Promise<string | null> {
    const { tenantId, recipients } = order;
    let current: PlacedRecord | null = placed;
    for (let left = COMPOSITIONS; current; left -= 1) {
      const { id: eventId, revision } = current.record;
      const composed = await this.composeMessage(current, order);
      if (!composed) return null;
      const { message, hasMail } = composed;
      const isStored = await this.db.tx(async (tx) => {
        const found = await this.repository.lockEvent(tx, tenantId, eventId);
        const isChanged = found !== undefined && found !== revision;
        if (isChanged && order.isByHand) throw SchedulingErrors.notApplicable.with();
        if (isChanged && left > 1) return null;
        return this.store(tx, tenantId, message, recipients, hasMail);
      });
      if (isStored !== null) return isStored ? message.id : null;
      current = await this.repository.findPlaced(this.db, tenantId, eventId);
    }
    return null;
  }

  /** The message about an event as it is; null where there is nothing to send. */
  private async composeMessage(
    { record, entries }: PlacedRecord,
    order: Order,
  ): Promise<{ message: NewMessage; hasMail: boolean } | null> {
    const { tenantId, method, key, recipients, comment, proposal, actorId, now } = order;
    const isFromAttendee = isOfAttendee(method);
    const userId = isFromAttendee ? actorId : record.organizer_id;
    if (userId === null) return null;
    const address = await this.mail.addressOf({ tenantId, userId });
    const attendee = isFromAttendee ? participantOf(record, userId) : undefined;
    const from = isFromAttendee ? (attendee?.email ?? '') : (address ?? record.organizer_email);
    const request = { method, key, from, recipients, comment, proposal, now: now.toISOString() };
    const calendar = outgoingCalendar(record, request);
    if (!calendar) return null;
    const name = isFromAttendee ? (attendee?.name ?? '') : record.organizer_name;
    const text = mailText(record, {
      method: calendar.method,
      key,
      comment,
      proposal,
      isUpdate: !isFromAttendee && (await isUpdate(this.db, tenantId, record.id, recipients, calendar)),
      response: responseOf(record, from, key)?.response ?? null,
      sender: name || from,
      locale: textLocaleOf(await this.repository.localeOf(tenantId, userId)),
      now: new Date(),
    });
    const own = entries.find(({ owner_id }) => owner_id === userId);
    const version = [record.id, key, calendar.sequence, calendar.dtstamp, calendar.method, recipients.join()];
    const message: NewMessage = {
      id: uuidv7(),
      calendar_id: isFromAttendee && own ? own.calendar_id : record.origin_calendar_id,
      user_id: userId,
      event_id: record.id,
      direction: 'out',
      method: calendar.method,
      uid: record.uid,
      recurrence_key: key.replace(FOLLOWING, ''),
      sequence: calendar.sequence,
      dtstamp: calendar.dtstamp,
      sender: address ?? from,
      result: 'queued',
      reason: null,
      parsed: parsedOf(parseItip(calendar.ics)),
      ics: calendar.ics,
      mail: { ...text, from_name: name },
      dedupe_key: `out ${digest([...version, proposal?.id, order.cause].join('|'))}`,
    };
    return { message, hasMail: address !== null };
  }

  /** Stores a message with its deliveries, and starts their job after the commit. @returns false if the message is stored already */
  async store(
    tx: Tx,
    tenantId: string,
    message: NewMessage,
    recipients: readonly string[],
    hasMail: boolean,
  ): Promise<boolean> {
    const state = hasMail ? {} : { result: 'failed' as const, reason: 'no_mail' };
    if (!(await this.repository.insert(tx, tenantId, { ...message, ...state }))) return false;
    const [status, error] = hasMail ? (['queued', null] as const) : (['failed', 'no_mail'] as const);
    await this.repository.insertDeliveries(tx, tenantId, message, recipients, status, error);
    if (!hasMail && message.event_id !== null)
      await this.repository.markParticipants(tx, tenantId, message.event_id, recipients, status);
    tx.afterCommit(() => this.jobs.trigger(DELIVERIES_JOB));
    return true;
  }

  /** Queues REFRESH: a request to the organizer for an event of which only a part was received. */
  async refresh(
    tx: Tx,
    tenantId: string,
    request: {
      uid: string;
      /** The event as the organizer names it. */
      event: Component;
      calendarId: string;
      userId: string;
      from: string;
      organizer: string;
      cause: string;
    },
  ): Promise<void> {
    const { uid, event: named, calendarId, userId, from, organizer, cause } = request;
    const dtstamp = new Date().toISOString();
    const event = component('VEVENT', [
      propertyOf(named, 'UID') as Property,
      property('DTSTAMP', stamp(dtstamp)),
      property('ORGANIZER', uriOfAddress(organizer)),
      property('ATTENDEE', uriOfAddress(from)),
    ]);
    const head = [property('VERSION', '2.0'), property('PRODID', PRODUCT)];
    const ics = formatComponent(component('VCALENDAR', [...head, property('METHOD', 'REFRESH')], [event]));
    const message: NewMessage = {
      id: uuidv7(),
      calendar_id: calendarId,
      user_id: userId,
      event_id: null,
      direction: 'out',
      method: 'REFRESH',
      uid,
      recurrence_key: '',
      sequence: 0,
      dtstamp,
      sender: from,
      result: 'queued',
      reason: null,
      parsed: null,
      ics,
      mail: { subject: 'REFRESH', text: uid, html: '', from_name: '' },
      dedupe_key: `out ${digest(cause)}`,
    };
    await this.store(tx, tenantId, message, [organizer], true);
  }
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
