import { Controller, Headers, Injectable, Param, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiHeader, ApiNotFoundResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../../../platform/context/access.decorators.js';
import { Db } from '../../../../platform/database/db.js';
import { ApiPage } from '../../../../platform/http/api-docs.js';
import { BytesBody } from '../../../../platform/http/body/body.guard.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import type { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { acceptedLanguage } from '../../../../platform/languages/languages.js';
import { PUBLIC_FORM_LIMIT, RateLimited } from '../../../../platform/rate-limits/rate-limit.guard.js';
import { toStorable } from '../../model/ics/storable.js';
import { type Answer, ANSWERS, type PollRecord, statusOf } from '../poll-record.js';
import { PollsRepository } from '../polls.repository.js';
import { VoteLinks } from './poll-mails.js';
import { fieldOf, unknownPollPage, votePage } from './vote-page.js';

const MAX_COMMENT = 2_000;

/** Votes of participants outside of the workspace. The token of their link is the credential. */
@Injectable()
export class OutsideVotesService {
  constructor(
    private readonly links: VoteLinks,
    private readonly polls: PollsRepository,
    private readonly db: Db,
  ) {}

  async page(token: string, languages: string | undefined): Promise<BodyReply> {
    const language = acceptedLanguage(languages) ?? 'en';
    const voter = this.links.read(token);
    const poll = voter && (await this.polls.findForParticipant(this.db, voter));
    if (!voter || !poll) return unknownPollPage(language);
    return votePage({ poll, participantId: voter.participantId, language, isSaved: false });
  }

  /** Replaces the votes of the participant. A closed poll shows its result. @param form of the page */
  async vote(token: string, form: Buffer, languages: string | undefined): Promise<BodyReply> {
    const language = acceptedLanguage(languages) ?? 'en';
    const voter = this.links.read(token);
    if (!voter) return unknownPollPage(language);
    const { participantId } = voter;
    return this.db.tx(async (tx) => {
      await this.polls.lock(tx, voter.tenantId, voter.pollId);
      const poll = await this.polls.findForParticipant(tx, voter);
      if (!poll) return unknownPollPage(language);
      if (statusOf(poll) !== 'open') return votePage({ poll, participantId, language, isSaved: false });
      const { votes, comment } = read(form, poll);
      await this.polls.vote(tx, voter.tenantId, voter.pollId, participantId, votes, comment);
      const after = (await this.polls.findForParticipant(tx, voter)) as PollRecord;
      return votePage({ poll: after, participantId, language, isSaved: true });
    });
  }
}

/** The votes of a form. Options without a valid answer have no vote. */
function read(form: Buffer, poll: PollRecord) {
  const fields = new URLSearchParams(form.toString());
  const votes = poll.options.flatMap((option) => {
    const answer = fields.get(fieldOf(option));
    const isAllowed = answer !== 'if_needed' || poll.allow_if_needed;
    return isAnswer(answer) && isAllowed ? [{ option_id: option.id, answer }] : [];
  });
  return { votes, comment: toStorable(fields.get('comment') ?? '', MAX_COMMENT) };
}

const isAnswer = (text: string | null): text is Answer =>
  (ANSWERS as readonly (string | null)[]).includes(text);

const FORM_TYPE = 'application/x-www-form-urlencoded';
const MAX_BODY = 65_536;

const ApiToken = () =>
  ApiParam({
    name: 'token',
    description: 'Of the link in the mail.',
    schema: { type: 'string', example: 'MDE4OTBhNWQ.c2lnbmF0dXJl' },
  });

const ApiLanguage = () =>
  ApiHeader({
    name: 'Accept-Language',
    required: false,
    description: 'Language of the page: en, de, pt or vi.',
    schema: { type: 'string', example: 'de' },
  });

const ApiUnknown = () =>
  ApiNotFoundResponse({
    description: 'The token is invalid, or the poll was deleted.',
    content: { 'text/html': { schema: { type: 'string' } } },
  });

/** Votes of participants outside of the workspace. The token in the path is the credential. */
@ApiTags('calendar')
@Controller('calendar/polls/outside')
export class OutsideVotesController {
  constructor(private readonly votes: OutsideVotesService) {}

  @Endpoint('GET :token', {
    id: 'showPollToParticipant',
    summary: 'Page of a poll for a participant outside of the workspace',
    description:
      'Our addition, for browsers: the link in the mail that a new poll sends. Reading it changes nothing.',
    errors: [Errors.badRequest],
  })
  @ApiToken()
  @ApiLanguage()
  @ApiPage()
  @ApiUnknown()
  @Public()
  page(
    @Param('token') token: string,
    @Headers('accept-language') languages: string | undefined,
  ): Promise<BodyReply> {
    return this.votes.page(token, languages);
  }

  @Endpoint('POST :token', {
    id: 'voteByLink',
    summary: 'Vote in a poll as a participant outside of the workspace',
    description:
      'The form of the page. Replaces all votes of the participant; an option without a field has no vote.',
    status: 200,
    errors: [Errors.badRequest, Errors.unsupportedMediaType, Errors.bodyTooLarge, Errors.tooManyRequests],
  })
  @ApiToken()
  @ApiLanguage()
  @ApiConsumes(FORM_TYPE)
  @ApiBody({
    schema: {
      type: 'object',
      properties: { comment: { type: 'string', example: 'After lunch is better' } },
      additionalProperties: { type: 'string', enum: ['yes', 'if_needed', 'no'] },
      description: 'A field `option_<id>` for each option.',
    },
  })
  @ApiPage('The page with the stored votes.')
  @ApiUnknown()
  @BytesBody({ types: [FORM_TYPE], limit: MAX_BODY })
  @RateLimited(PUBLIC_FORM_LIMIT)
  @Public()
  vote(
    @Param('token') token: string,
    @Req() request: Request,
    @Headers('accept-language') languages: string | undefined,
  ): Promise<BodyReply> {
    return this.votes.vote(token, request.body as Buffer, languages);
  }
}
