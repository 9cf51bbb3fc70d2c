import { Controller, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Bus } from '../../../platform/bus/bus.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import { Connection } from '../../../platform/realtime/connection.js';
import { defineClientEvent, defineServerEvent } from '../../../platform/realtime/event-declarations.js';
import { SocketEvents } from '../../../platform/realtime/socket-events.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import { CallAccess } from '../call-access.js';
import { CallErrors } from '../calls.dto.js';
import { CallsRepository } from '../calls.repository.js';
import { DeclinedCallResponse, SocketDeclineCall } from './declines.dto.js';

const DECLINE = defineClientEvent(
  'call.decline',
  'Decline a live call, as with `POST /call/{call_id}/decline`.',
  SocketDeclineCall,
  DeclinedCallResponse,
);
const DECLINED = defineServerEvent(
  'call.declined',
  'A user declined a live call. Sent to its host, and to all clients of the user, which stop ringing.',
  DeclinedCallResponse,
);

/** Topic of the bus: messages are `{ tenant, call, user }`. */
const CALL_DECLINED = 'calls.declined';

const decline = workspace.statement<never>(
  'call_declines.insert',
  `INSERT INTO call_declines (tenant_id, call_id, user_id) VALUES ($1, $2, $3)
   ON CONFLICT (tenant_id, call_id, user_id) DO UPDATE SET declined_at = now()`,
);

/** Users who decline a live call. They get no notification of a missed call, and may still join. */
@Injectable()
export class CallDeclines implements OnModuleInit {
  private readonly logger = new Logger(CallDeclines.name);

  constructor(
    private readonly access: CallAccess,
    private readonly calls: CallsRepository,
    private readonly events: SocketEvents,
    private readonly connections: UserConnections,
    private readonly notifications: Notifications,
    private readonly bus: Bus,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.events.register(DECLINE, ({ ctx }, { call_id }) => this.decline(ctx, call_id.toLowerCase()));
    this.bus.subscribe(CALL_DECLINED, (message) => {
      const { tenant, call, user } = message as { tenant: string; call: string; user: string };
      if (!this.connections.hasTenant(tenant)) return;
      this.deliver(tenant, call, user).catch((error: unknown) =>
        this.logger.warn({ err: error }, 'declined call not delivered'),
      );
    });
  }

  /** @throws ApiError 404, 409 `call_not_live` */
  async decline(ctx: RequestContext, callId: string): Promise<DeclinedCallResponse> {
    const { state } = await this.access.read(ctx, callId);
    if (state !== 'live') throw CallErrors.callNotLive.with();
    const { tenantId: tenant, userId: user } = ctx;
    await this.db.single(async (tx) => {
      await tx.query(decline, [tenant, callId, user]);
      tx.afterCommit(() => this.bus.publish(CALL_DECLINED, { tenant, call: callId, user }));
      tx.afterCommit(() => this.notifications.markSettled(tenant, user, { kind: 'call', id: callId }, 0));
    });
    return { call_id: callId, user_id: user };
  }

  private async deliver(tenantId: string, callId: string, userId: string): Promise<void> {
    const key = { tenantId, callId };
    const call = await this.calls.find(key);
    if (!call) return;
    const recipients = new Set([call.host_id, userId]);
    const users = (await this.calls.audience(key)).filter((id) => recipients.has(id));
    const declined = { call_id: callId, user_id: userId };
    Connection.sendAll(this.connections.ofUsers(tenantId, users), DECLINED, declined);
  }
}

@ApiTags('meetings')
@Controller('call')
export class CallDeclinesController {
  constructor(private readonly declines: CallDeclines) {}

  @Endpoint('POST :call_id/decline', {
    id: 'declineCall',
    summary: 'Decline a live call',
    description:
      'The host and your other clients receive the socket event `call.declined`, and you get no notification of a missed call. You may still join. For clients without a socket, such as the handler of a push message.',
    status: 200,
    response: [DeclinedCallResponse, 'The call is declined.'],
    errors: [CallErrors.callNotFound, CallErrors.callNotLive],
  })
  decline(@Ctx() ctx: RequestContext, @Id('call_id') callId: string): Promise<DeclinedCallResponse> {
    return this.declines.decline(ctx, callId);
  }
}
