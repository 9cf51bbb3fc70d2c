import { Controller, Headers, Param, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiHeader, ApiNotFoundResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../../../platform/context/access.decorators.js';
import { ApiPage } from '../../../../platform/http/api-docs.js';
import { BytesBody } from '../../../../platform/http/body/body.guard.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { PUBLIC_FORM_LIMIT, RateLimited } from '../../../../platform/rate-limits/rate-limit.guard.js';
import { Errors } from '../../../../platform/http/errors.js';
import type { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { OutsideVotesService } from './outside-votes.service.js';

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
