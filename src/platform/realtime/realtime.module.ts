import { Global, Module } from '@nestjs/common';
import { CatchUp } from './catch-up.js';
import { EventDispatch } from './event-dispatch.js';
import { FeedChanges } from './feed-changes.js';
import { RealtimeGateway } from './gateway.js';
import { RealtimeOptions } from './realtime-options.js';
import { SocketTokenController } from './realtime.controller.js';
import { SocketEvents } from './socket-events.js';
import { SocketTokens } from './socket-tokens.js';
import { UserConnections } from './user-connections.js';

/** Sockets of all domains: `SocketEvents` takes their events, `UserConnections` sends to users. */
@Global()
@Module({
  controllers: [SocketTokenController],
  providers: [
    RealtimeOptions,
    CatchUp,
    SocketTokens,
    SocketEvents,
    EventDispatch,
    UserConnections,
    FeedChanges,
    RealtimeGateway,
  ],
  exports: [CatchUp, SocketEvents, UserConnections, RealtimeGateway, RealtimeOptions],
})
export class RealtimeModule {}
