import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { defineServerEvent } from '../../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import { type CallChange, CallChanges } from '../changes/call-changes.js';
import { CallEnvelope } from '../call.response.js';
import { CallsRepository } from '../calls.repository.js';

const EVENTS = {
  started: defineServerEvent('call.started', 'A call that you may join started.', CallEnvelope),
  updated: defineServerEvent('call.updated', 'A call, or its participants, changed.', CallEnvelope),
  ended: defineServerEvent('call.ended', 'A call ended.', CallEnvelope),
};

/** Sends changes of calls to the sockets of this process: `call.started`, `call.updated`, `call.ended`, each with the call. */
@Injectable()
export class CallFanout implements OnModuleInit {
  private readonly logger = new Logger(CallFanout.name);

  constructor(
    private readonly changes: CallChanges,
    private readonly connections: UserConnections,
    private readonly calls: CallsRepository,
  ) {}

  onModuleInit(): void {
    this.changes.subscribe((message) => {
      if (!this.connections.hasTenant(message.tenant)) return;
      this.deliver(message).catch((error: unknown) =>
        this.logger.warn({ err: error }, 'change of a call not delivered; clients read it with the next one'),
      );
    });
  }

  private async deliver({ tenant: tenantId, call: callId, change }: CallChange): Promise<void> {
    const key = { tenantId, callId };
    const json = await this.calls.shown(key);
    if (json === undefined) return;
    const payload = { call: JSON.parse(json) as CallEnvelope['call'] };
    for (const user of await this.calls.audience(key))
      for (const connection of this.connections.of(tenantId, user)) connection.send(EVENTS[change], payload);
  }
}
