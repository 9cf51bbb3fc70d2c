import { Controller, Query } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../context/request-context.js';
import { DisconnectSignal } from '../../http/abort-signal.js';
import { Endpoint } from '../../http/endpoint.js';
import { SyncStateQuery, SyncStateResponse } from './sync-state.dto.js';
import { SyncState } from './sync-state.service.js';

@Controller('sync')
export class SyncStateController {
  constructor(private readonly state: SyncState) {}

  @Endpoint('GET state', {
    tag: 'sync',
    id: 'syncState',
    summary: 'Read the heads of all collections',
    description:
      'Our addition, for clients that poll: one cheap request instead of one for each change feed. Poll the feeds of the collections whose number is above the `head` of your last page. With `head` and `wait`, the response is delayed until any of your collections changes. It follows at most 500 calendars and address books.',
    response: [SyncStateResponse, 'The heads.'],
  })
  read(
    @Ctx() ctx: RequestContext,
    @Query() query: SyncStateQuery,
    @DisconnectSignal() disconnected: AbortSignal,
  ): Promise<SyncStateResponse> {
    return this.state.read(ctx, query, disconnected);
  }
}
