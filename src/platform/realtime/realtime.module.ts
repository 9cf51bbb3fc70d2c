import { Global, Module } from '@nestjs/common';
import { Bus, PgBus } from './bus.js';
import { EventDispatch } from './event-dispatch.js';
import { FeedChanges } from './feed-changes.js';
import { RealtimeGateway } from './gateway.js';
import { RealtimeOptions } from './realtime-options.js';
import { SocketTokenController } from './realtime.controller.js';
import { SocketEvents } from './socket-events.js';
import { SocketTokens } from './socket-tokens.js';
import { UserConnections } from './user-connections.js';

/** Sockets of all domains: `SocketEvents` takes their events, `UserConnections` and `Bus` send to users. */
@Global()
@Module({
  controllers: [SocketTokenController],
  providers: [
    PgBus,
    { provide: Bus, useExisting: PgBus },
    RealtimeOptions,
    SocketTokens,
    SocketEvents,
    EventDispatch,
    UserConnections,
    FeedChanges,
    RealtimeGateway,
  ],
  exports: [Bus, SocketEvents, UserConnections, RealtimeGateway, RealtimeOptions],
})
export class RealtimeModule {}
