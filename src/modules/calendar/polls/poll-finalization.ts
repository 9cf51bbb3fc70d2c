import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { CreateEvent } from '../input/event.dto.js';
import { eventResponse, viewerOf } from '../responses/event.presenter.js';
import type { CalendarEventResponse } from '../responses/event.response.js';
import { EventOperations } from '../changes/event-operations.js';
import { EventsRepository } from '../events.repository.js';
import { PollMails } from './outside/poll-mails.js';
import { PollHolds, timesOfOption } from './poll-holds.js';
import type { OptionRow, PollRecord } from './poll-record.js';
import { type FinalizedPollEnvelope, type FinalizePoll, type PollEnvelope, PollErrors } from './polls.dto.js';
import { PollsRepository } from './polls.repository.js';
import { PollsService } from './polls.service.js';

/** The choice of an option, which creates the event of a poll. */
@Injectable()
export class PollFinalization {
  constructor(
    private readonly service: PollsService,
    private readonly polls: PollsRepository,
    private readonly events: EventsRepository,
    private readonly holds: PollHolds,
    private readonly operations: EventOperations,
    private readonly mails: PollMails,
    private readonly db: Db,
  ) {}

  /**
   * Creates the event once: a repeated request with the same option returns the same event.
   * @throws ApiError 404; 403; 409 `already_finalized`; 422 `unknown_option`
   */
  async finalize(
    ctx: RequestContext,
    id: string,
    body: Checked<FinalizePoll>,
  ): Promise<FinalizedPollEnvelope> {
    const { record, event } = await this.db.tx(async (tx) => {
      const poll = await this.lockOwn(tx, ctx, id);
      const input = body.value;
      const optionId = input.option_id.toLowerCase();
      const option = poll.options.find((each) => each.id === optionId);
      if (!option) throw PollErrors.unknownOption.with();
      if (poll.option_id !== null) {
        if (poll.option_id !== optionId) throw PollErrors.alreadyFinalized.with();
        return { record: poll, event: await this.eventOf(tx, ctx, poll) };
      }
      if (poll.cancelled_at !== null) throw PollErrors.pollClosed.with();
      const made = await this.create(tx, ctx, poll, option, input);
      return { record: await this.service.readPoll(tx, ctx, id), event: made };
    });
    return { poll: await this.service.present(ctx, record), event };
  }

  /** Participants outside of the workspace who have voted get a mail. A repeated request changes nothing. @throws ApiError 404; 403; 409 `already_finalized` */
  async cancel(ctx: RequestContext, id: string): Promise<PollEnvelope> {
    const record = await this.db.tx(async (tx) => {
      const poll = await this.lockOwn(tx, ctx, id);
      if (poll.option_id !== null) throw PollErrors.alreadyFinalized.with();
      if (poll.cancelled_at !== null) return poll;
      await this.holds.release(tx, ctx, poll.options);
      await this.polls.cancel(tx, ctx.tenantId, id);
      await this.mails.cancel(tx, ctx.tenantId, poll);
      return this.service.readPoll(tx, ctx, id);
    });
    return { poll: await this.service.present(ctx, record) };
  }

  private async lockOwn(tx: Tx, ctx: RequestContext, id: string): Promise<PollRecord> {
    const poll = await this.service.lockPoll(tx, ctx, id);
    if (poll.owner_id !== ctx.userId) throw Errors.forbidden.with();
    return poll;
  }

  private async create(
    tx: Tx,
    ctx: RequestContext,
    poll: PollRecord,
    option: OptionRow,
    input: FinalizePoll,
  ): Promise<CalendarEventResponse> {
    const calendar = await this.holds.calendar(tx, ctx, input.calendar_id?.toLowerCase() ?? poll.calendar_id);
    await this.holds.release(tx, ctx, poll.options);
    const ids = poll.participants.flatMap(({ user_id }) => user_id ?? []);
    const members = await this.events.members(tx, ctx.tenantId, ids, []);
    const fields = eventOf(poll, option, input, new Set(members.map(({ user_id }) => user_id)));
    const { record, entry } = await this.operations.create(tx, ctx, calendar, fields);
    const chosen = { option_id: option.id, event_id: record.id, calendar_id: calendar.id };
    await this.polls.finalize(tx, ctx.tenantId, poll.id, chosen);
    return eventResponse(record, entry, viewerOf(ctx, calendar));
  }

  /** The event of a poll that was finalized before, also if it was moved; null after its deletion or without access to it. */
  private async eventOf(
    tx: Tx,
    ctx: RequestContext,
    poll: PollRecord,
  ): Promise<CalendarEventResponse | null> {
    const [place] = await this.holds.places(tx, ctx, poll.event_id === null ? [] : [poll.event_id]);
    if (!place) return null;
    const found = await this.events.find(tx, ctx, place.calendar_id, place.event_id);
    if (!found?.record) return null;
    const { calendar, record, entry } = found;
    return eventResponse(record, entry, viewerOf(ctx, calendar));
  }
}

/**
 * The fields of the event: the time of the option, and all participants except the owner as attendees.
 * @param members ids of the participants who are active members. Former members are not invited
 */
function eventOf(
  poll: PollRecord,
  option: OptionRow,
  input: FinalizePoll,
  members: ReadonlySet<string>,
): CreateEvent {
  const { title = poll.title, invite = 'all', send_updates } = input;
  const canCome = new Set(
    poll.votes
      .filter(({ option_id: id, answer }) => id === option.id && answer !== 'no')
      .map(({ participant_id: id }) => id),
  );
  const others = poll.participants.filter(
    ({ user_id }) => user_id !== poll.owner_id && (user_id === null || members.has(user_id)),
  );
  const attendees = others
    .filter(({ id }) => invite === 'all' || canCome.has(id))
    .map(({ user_id, email, name, required }) => ({
      // The address of a member may have changed.
      ...(user_id === null ? { email } : { user_id }),
      name,
      role: required ? ('required' as const) : ('optional' as const),
    }));
  return Object.assign(new CreateEvent(), {
    title,
    description: poll.description,
    location: poll.location,
    ...timesOfOption(option, poll.time_zone),
    attendees,
    send_updates,
  });
}
