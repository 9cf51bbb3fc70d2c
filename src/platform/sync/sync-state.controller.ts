import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../context/request-context.js';
import { DisconnectSignal } from '../http/abort-signal.js';
import { Operation } from '../http/api-docs.js';
import { Errors } from '../http/errors.js';
import { SyncStateQuery } from './sync-state.dto.js';
import { SyncStateResponse } from './sync-state.response.js';
import { SyncState } from './sync-state.service.js';

@Controller('sync')
export class SyncStateController {
  constructor(private readonly state: SyncState) {}

  @Operation({
    tag: 'sync',
    id: 'syncState',
    summary: 'Read the heads of all collections',
    description:
      'Our addition, for clients that poll: one cheap request instead of one for each change feed. Poll the feeds of the collections whose number is above the `head` of your last page. With `head` and `wait`, the response is delayed until any of your collections changes.',
    errors: [Errors.validationFailed],
  })
  @ApiOkResponse({ type: SyncStateResponse, description: 'The heads.' })
  @Get('state')
  read(
    @Ctx() ctx: RequestContext,
    @Query() query: SyncStateQuery,
    @DisconnectSignal() disconnected: AbortSignal,
  ): Promise<SyncStateResponse> {
    return this.state.read(ctx, query, disconnected);
  }
}
