import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { CalendarErrors, CALENDARS } from '../calendar.errors.js';
import { PollFinalization } from './poll-finalization.js';
import {
  CreatePoll,
  FinalizedPollEnvelope,
  FinalizePoll,
  PollEnvelope,
  PollErrors,
  ReadPoll,
  VotePoll,
} from './polls.dto.js';
import { PollsService } from './polls.service.js';

@ApiTags('calendar')
@Controller('calendar/polls')
export class PollsController {
  constructor(
    private readonly polls: PollsService,
    private readonly finalization: PollFinalization,
  ) {}

  @Endpoint('POST', {
    id: 'createPoll',
    summary: 'Ask for the best time of a meeting',
    description:
      'You take part in your own poll. Participants outside of the workspace get a mail with a link to a page where they vote, unless `send_updates` is none.',
    status: 201,
    response: [PollEnvelope, 'The new poll.'],
    location: true,
    errors: [QuotaErrors.exceeded, CALENDARS.notFound, CalendarErrors.unknownUser],
    example: {
      title: 'Planning',
      time_zone: 'Europe/Berlin',
      duration_minutes: 60,
      options: [{ start: '2026-03-02T09:00:00' }, { start: '2026-03-03T14:00:00' }],
      participants: [{ email: 'bob@demo.example' }],
    },
  })
  create(@Ctx() ctx: RequestContext, @Idempotency() key: IdempotencyKey | null, @Body() body: CreatePoll) {
    return this.polls.create(ctx, key, body);
  }

  @Endpoint('GET :id', {
    id: 'readPoll',
    summary: 'Read a poll',
    description:
      'For the owner and the participants of the poll. The response shows conflicts with events in the calendars of the caller.',
    response: [PollEnvelope, 'The poll.'],
    errors: [PollErrors.pollNotFound],
  })
  read(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: ReadPoll): Promise<PollEnvelope> {
    return this.polls.read(ctx, id, query.time_zone);
  }

  @Endpoint('POST :id/vote', {
    id: 'votePoll',
    summary: 'Vote in a poll',
    description: 'Replaces all your votes.',
    status: 200,
    response: [PollEnvelope, 'The poll with your votes.'],
    errors: [PollErrors.pollNotFound, PollErrors.pollClosed, PollErrors.unknownOption],
  })
  vote(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(VotePoll) body: Checked<VotePoll>,
  ): Promise<PollEnvelope> {
    return this.polls.vote(ctx, id, body);
  }

  @Endpoint('POST :id/cancel', {
    id: 'cancelPoll',
    summary: 'Cancel a poll',
    description:
      'Ends the poll without an event, and deletes its tentative events. Participants outside of the workspace who have voted get a mail. Only for the owner.',
    status: 200,
    response: [PollEnvelope, 'The cancelled poll.'],
    errors: [PollErrors.pollNotFound, Errors.forbidden, PollErrors.alreadyFinalized],
  })
  cancel(@Ctx() ctx: RequestContext, @Id() id: string): Promise<PollEnvelope> {
    return this.finalization.cancel(ctx, id);
  }

  @Endpoint('POST :id/finalize', {
    id: 'finalizePoll',
    summary: 'Choose an option of a poll',
    description:
      'Creates the event and invites the participants. A repeated request with the same option returns the same event. Only for the owner.',
    status: 200,
    response: [FinalizedPollEnvelope, 'The poll and its event.'],
    errors: [
      PollErrors.pollNotFound,
      CALENDARS.notFound,
      Errors.forbidden,
      PollErrors.alreadyFinalized,
      PollErrors.pollClosed,
      PollErrors.unknownOption,
      QuotaErrors.exceeded,
    ],
  })
  finalize(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(FinalizePoll) body: Checked<FinalizePoll>,
  ): Promise<FinalizedPollEnvelope> {
    return this.finalization.finalize(ctx, id, body);
  }
}
