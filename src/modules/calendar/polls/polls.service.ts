import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { DAY } from '../../../lib/recurrence/index.js';
import { addressForms } from '../../../lib/text/index.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Availability } from '../availability.js';
import { CalendarErrors } from '../calendar.errors.js';
import { EventsRepository, membersAt } from '../events.repository.js';
import { type ReadTime, readTime, type TimeInput } from '../input/event-input-times.js';
import { formatInstant, instantOf, placeIn, wallText, zoneNamed } from '../model/event-times.js';
import { PollMails } from './outside/poll-mails.js';
import { PollHolds } from './poll-holds.js';
import { type OptionRow, type PollRecord, statusOf, type VoterRow } from './poll-record.js';
import { instantsOf, pollResponse } from './poll.presenter.js';
import {
  type CreatePoll,
  type PollEnvelope,
  PollErrors,
  type PollOptionFields,
  type PollParticipantFields,
  type PollResponse,
  type VotePoll,
} from './polls.dto.js';
import { PollsRepository } from './polls.repository.js';

const DEFAULT_MINUTES = 60;
const MAX_LENGTH = 31 * DAY;

/**
 * The options of a request, in its order.
 * @throws ApiError 422 for options that mix times and days, end before their start or repeat each other
 */
export function optionsOf(
  { options, kind, duration_minutes: minutes = DEFAULT_MINUTES }: CreatePoll,
  zone: string,
): { kind: 'time' | 'date'; options: OptionRow[] } {
  const rows = options.map((option, position) => optionOf(option, position, zone, minutes));
  const first = kind ?? (rows[0]?.isDate ? 'date' : 'time');
  const seen = new Set<string>();
  for (const [n, { isDate, row }] of rows.entries()) {
    if (isDate !== (first === 'date'))
      throw invalid(n, 'mixed_days', 'must be a day in a poll about days, and a time in a poll about times');
    const key = `${row.starts} ${row.ends}`;
    if (seen.has(key)) throw invalid(n, 'repeated', 'must not repeat another option');
    seen.add(key);
  }
  return { kind: first, options: rows.map(({ row }) => row) };
}

function optionOf(
  { start, end, date }: PollOptionFields,
  position: number,
  zone: string,
  minutes: number,
): { isDate: boolean; row: OptionRow } {
  const input: TimeInput | undefined = start ?? date;
  if (input === undefined) throw invalid(position, 'required', 'must have a start or a date');
  const from = readTime(input, zone);
  const row = { id: uuidv7(), position, hold_event_id: null };
  if (from.isDate) {
    const last = end === undefined ? from.wall : lastDay(readTime(end, zone), position);
    if (last < from.wall || last - from.wall >= MAX_LENGTH) throw badEnd(position);
    return { isDate: true, row: { ...row, starts: wallText(from.wall, true), ends: wallText(last, true) } };
  }
  const starts = at(from, zone);
  const ends = end === undefined ? starts + minutes * 60 : endOf(readTime(end, zone), from, starts, zone);
  if (ends <= starts || ends - starts > MAX_LENGTH) throw badEnd(position);
  return { isDate: false, row: { ...row, starts: formatInstant(starts), ends: formatInstant(ends) } };
}

/** The last day before an end, which is exclusive as that of an event. @throws ApiError 422 for a time */
function lastDay({ isDate, wall }: ReadTime, position: number): number {
  if (!isDate) throw invalid(position, 'mixed_days', 'must end with a day, as it begins with one');
  return wall - DAY;
}

/** The instant of an end. A start in the hour that summer time skips is later than it says; an end in its zone moves with it, as that of an event. */
function endOf(end: ReadTime, from: ReadTime, starts: number, pollZone: string): number {
  const skipped = end.zone === from.zone ? placeIn(from.zone ?? pollZone, starts).wall - from.wall : 0;
  return at({ ...end, wall: end.wall + skipped }, pollZone);
}

const at = ({ wall, zone }: ReadTime, pollZone: string): number => instantOf(wall, zone, pollZone);

const badEnd = (position: number) =>
  invalid(position, 'end_before_start', 'must end after its start, within 31 days');

const invalid = (position: number, code: string, message: string) =>
  fieldError(`options.${position}`, code, `options.${position} ${message}`);

/** A free/busy window has at most 62 days. Options after it show no conflict. */
const CONFLICT_WINDOW = 62 * DAY;

interface NamedParticipant {
  userId?: string;
  /** Lower case; empty for a user. */
  email: string;
  name?: string;
  required?: boolean;
}

/** The answers by option. @throws ApiError 422 for different answers to one option */
function answersOf(votes: VotePoll['votes']): Map<string, VotePoll['votes'][number]['answer']> {
  const answers: ReturnType<typeof answersOf> = new Map();
  for (const [n, { option_id: id, answer }] of votes.entries()) {
    const option = id.toLowerCase();
    if ((answers.get(option) ?? answer) !== answer)
      throw fieldError(`votes.${n}.answer`, 'contradiction', 'contradicts another answer to this option');
    answers.set(option, answer);
  }
  return answers;
}

/** Polls about the time of a meeting: create, read, vote. */
@Injectable()
export class PollsService {
  constructor(
    private readonly polls: PollsRepository,
    private readonly events: EventsRepository,
    private readonly holds: PollHolds,
    private readonly mails: PollMails,
    private readonly availability: Availability,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404 for the calendar; 422 */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreatePoll,
  ): Promise<JsonReply<PollEnvelope>> {
    const zone = zoneNamed(input.time_zone) as string;
    const { kind, options } = optionsOf(input, zone);
    const calendarId = input.calendar_id?.toLowerCase() ?? null;
    if (calendarId !== null) await this.events.calendar(this.db, ctx, calendarId);
    const participants = await this.participants(ctx, input.participants ?? []);
    const now = new Date().toISOString();
    const poll: PollRecord = {
      id: uuidv7(),
      owner_id: ctx.userId,
      calendar_id: calendarId,
      title: input.title,
      description: input.description ?? '',
      location: input.location ?? '',
      time_zone: zone,
      kind,
      deadline: input.deadline?.toISOString() ?? null,
      allow_if_needed: input.allow_if_needed ?? true,
      anonymous: input.anonymous ?? false,
      option_id: null,
      event_id: null,
      cancelled_at: null,
      revision: 1,
      created_at: now,
      updated_at: now,
      options,
      participants,
      votes: [],
    };
    return this.writes.runTx(ctx, key, async (tx) => {
      if (input.hold) {
        const calendar = await this.holds.calendar(tx, ctx, calendarId);
        const held = await this.holds.create(tx, ctx, calendar, poll, options);
        await this.polls.insert(tx, ctx.tenantId, { ...poll, calendar_id: calendar.id, options: held });
      } else await this.polls.insert(tx, ctx.tenantId, poll);
      if (input.send_updates !== 'none') await this.mails.invite(tx, ctx.tenantId, poll);
      const made = await this.present(ctx, await this.readPoll(tx, ctx, poll.id), undefined, tx);
      return JsonReply.of(
        { poll: made },
        {
          status: 201,
          location: `/apis/v1/calendar/polls/${poll.id}`,
        },
      );
    });
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string, zone?: string): Promise<PollEnvelope> {
    return { poll: await this.present(ctx, await this.readPoll(this.db, ctx, id), zone) };
  }

  /** Replaces the votes of the caller. @throws ApiError 404; 409 `poll_closed`; 422 `unknown_option`, and for contradicting votes */
  async vote(ctx: RequestContext, id: string, body: Checked<VotePoll>): Promise<PollEnvelope> {
    const record = await this.db.tx(async (tx) => {
      const poll = await this.lockPoll(tx, ctx, id);
      const { votes, comment = '' } = body.value;
      if (statusOf(poll) !== 'open') throw PollErrors.pollClosed.with();
      const me = poll.participants.find(({ user_id: userId }) => userId === ctx.userId) as VoterRow;
      const optionIds = new Set(poll.options.map((option) => option.id));
      const byOption = answersOf(votes);
      for (const [option, answer] of byOption) {
        if (!optionIds.has(option)) throw PollErrors.unknownOption.with();
        if (answer === 'if_needed' && !poll.allow_if_needed)
          throw fieldError('votes', 'if_needed', 'This poll does not allow if_needed');
      }
      const rows = [...byOption].map(([option_id, answer]) => ({ option_id, answer }));
      await this.polls.vote(tx, ctx.tenantId, id, me.id, rows, comment);
      return this.readPoll(tx, ctx, id);
    });
    return { poll: await this.present(ctx, record) };
  }

  /** The poll with the conflicts of the caller. */
  async present(
    ctx: RequestContext,
    poll: PollRecord,
    requested?: string,
    reader: Reader = this.db,
  ): Promise<PollResponse> {
    const zone = (requested && zoneNamed(requested)) || poll.time_zone;
    const times = poll.options.map((option) => instantsOf(option, zone));
    const from = Math.min(...times.map(({ start }) => start));
    const to = Math.min(Math.max(...times.map(({ end }) => end)), from + CONFLICT_WINDOW);
    // The poll does not conflict with its own events.
    const held = poll.options.flatMap(({ hold_event_id: id }) => id ?? []);
    const own = poll.event_id === null ? held : [...held, poll.event_id];
    const busy = await this.availability.ofMember(ctx, ctx.userId, { from, to }, own, reader);
    return pollResponse(poll, { userId: ctx.userId, zone, busy });
  }

  /** Locks a poll. @throws ApiError 404 */
  async lockPoll(tx: Tx, ctx: RequestContext, id: string): Promise<PollRecord> {
    await this.polls.lock(tx, ctx.tenantId, id);
    return this.readPoll(tx, ctx, id);
  }

  /** @throws ApiError 404 */
  async readPoll(reader: Reader, ctx: RequestContext, id: string): Promise<PollRecord> {
    const poll = await this.polls.find(reader, ctx, id);
    if (!poll) throw PollErrors.pollNotFound.with();
    return poll;
  }

  /** The owner and the participants of a request, each once. @throws ApiError 422 `unknown_user` */
  private async participants(
    ctx: RequestContext,
    given: readonly PollParticipantFields[],
  ): Promise<VoterRow[]> {
    const named = given.map<NamedParticipant>(({ id, user_id = id, email, ...rest }) => ({
      userId: user_id?.toLowerCase(),
      email: email?.toLowerCase() ?? '',
      ...rest,
    }));
    const ids = [ctx.userId, ...named.flatMap(({ userId }) => userId ?? [])];
    const emails = named.map(({ email }) => email);
    const members = await this.events.members(this.db, ctx.tenantId, ids, emails);
    const byId = new Map(members.map((member) => [member.user_id, member]));
    const byEmail = membersAt(members, emails);
    const found = new Map<string, VoterRow>();
    const owner: NamedParticipant = { userId: ctx.userId, email: '' };
    for (const [n, { userId, email, name, required = true }] of [owner, ...named].entries()) {
      const member = userId ? byId.get(userId) : byEmail.get(email);
      if (userId && !member)
        throw CalendarErrors.unknownUser.with({
          details: [
            { field: `participants.${n - 1}`, code: 'unknown_user', message: 'is not an active member' },
          ],
        });
      const address = member?.email ?? addressForms(email).find((form) => found.has(form)) ?? email;
      if (found.has(address)) continue;
      found.set(address, {
        id: uuidv7(),
        email: address,
        user_id: member?.user_id ?? null,
        name: member?.name ?? name ?? '',
        required,
        comment: '',
        responded_at: null,
      });
    }
    return [...found.values()];
  }
}
