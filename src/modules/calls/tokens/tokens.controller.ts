import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { CallErrors } from '../calls.errors.js';
import { MintQuery, MintToken } from './tokens.dto.js';
import { CallTokenResponse } from './tokens.response.js';
import { TokensService } from './tokens.service.js';

const DESCRIPTION =
  'For users who may join. `room_id` is the id of a call, or of a chat room with a live call. A scheduled call starts with its first token, for its host, moderators and members with the permission `calls.start`. The token must be used within two minutes; mint a new one to connect again.';
const ERRORS = [
  CallErrors.callNotFound,
  Errors.forbidden,
  CallErrors.callEnded,
  CallErrors.callFull,
  CallErrors.callInProgress,
  CallErrors.roomArchived,
  CallErrors.serverNotConfigured,
  CallErrors.serverUnavailable,
  CallErrors.serverFaulty,
];

@ApiTags('meetings')
@Controller('call/tokens')
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  @Endpoint('GET :room_id/mint', {
    id: 'readCallToken',
    summary: 'Mint a token to join a call (GET)',
    description: DESCRIPTION,
    response: [CallTokenResponse, 'The token.'],
    errors: ERRORS,
  })
  get(
    @Ctx() ctx: RequestContext,
    @Id('room_id') id: string,
    @Query() query: MintQuery,
  ): Promise<CallTokenResponse> {
    return this.tokens.mint(ctx, id, query.audio_only === 'true');
  }

  @Endpoint('POST :room_id/mint', {
    id: 'mintCallToken',
    summary: 'Mint a token to join a call',
    description: DESCRIPTION,
    status: 200,
    response: [CallTokenResponse, 'The token.'],
    optionalBody: true,
    errors: ERRORS,
  })
  mint(
    @Ctx() ctx: RequestContext,
    @Id('room_id') id: string,
    @Body() body: MintToken,
  ): Promise<CallTokenResponse> {
    return this.tokens.mint(ctx, id, body.audio_only ?? false);
  }
}
