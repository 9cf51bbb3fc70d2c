import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CatchUp } from '../../../platform/realtime/catch-up.js';
import { defineServerEvent } from '../../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import { type CallChange, CallChanges } from '../changes/call-changes.js';
import { CallEnvelope } from '../call.response.js';
import { CallsRepository } from '../calls.repository.js';
import type { CallKey } from '../model/call-identity.js';
import { growingTo } from '../../../platform/memory/cache-size.js';

/** Calls whose delivered state is kept. */
const MAX_DELIVERED = 10_000;

const EVENTS = {
  started: defineServerEvent('call.started', 'A call that you may join started.', CallEnvelope),
  updated: defineServerEvent('call.updated', 'A call, or its participants, changed.', CallEnvelope),
  ended: defineServerEvent('call.ended', 'A call ended.', CallEnvelope),
};

/** A call as this process has delivered it. */
interface DeliveredCall {
  tenantId: string;
  /** JSON. */
  call: string;
  isLive: boolean;
}

/** Sends changes of calls to the sockets of this process: `call.started`, `call.updated`, `call.ended`, each with the call. */
@Injectable()
export class CallFanout implements OnModuleInit {
  private readonly logger = new Logger(CallFanout.name);
  /** By the id of the call. */
  private readonly delivered = new LRUCache<string, DeliveredCall>(growingTo(MAX_DELIVERED));

  constructor(
    private readonly changes: CallChanges,
    private readonly connections: UserConnections,
    private readonly calls: CallsRepository,
    private readonly catchUp: CatchUp,
  ) {}

  onModuleInit(): void {
    this.changes.subscribe((message) => {
      if (!this.connections.hasTenant(message.tenant)) return;
      this.deliver(message).catch((error: unknown) =>
        this.logger.warn({ err: error }, 'change of a call not delivered; the next comparison delivers it'),
      );
    });
    this.catchUp.register('calls', (seconds) => this.deliverLost(seconds));
  }

  private async deliver({ tenant: tenantId, call: callId, change }: CallChange): Promise<void> {
    const json = await this.calls.shown({ tenantId, callId });
    if (json === undefined) return;
    const isKnown = this.delivered.get(callId)?.call === json;
    if (change === 'updated' || !isKnown) await this.send({ tenantId, callId }, change, json);
  }

  private async send(key: CallKey, change: CallChange['change'], json: string): Promise<void> {
    const { tenantId, callId } = key;
    const call = JSON.parse(json) as CallEnvelope['call'];
    const audience = await this.calls.audience(key);
    this.delivered.set(callId, { tenantId, call: json, isLive: call.state === 'live' });
    for (const user of audience)
      for (const connection of this.connections.of(tenantId, user)) connection.send(EVENTS[change], { call });
  }

  /** Sends the changes of live calls that this process has not sent. @param seconds of which starts may be missing */
  private async deliverLost(seconds: number): Promise<void> {
    const known = [...this.delivered].filter(([, { isLive }]) => isLive);
    const tenants = this.connections.tenants;
    const live = tenants.length === 0 ? [] : await this.calls.liveIn(tenants, seconds);
    for (const { tenant_id: tenantId, id: callId, call, is_recent } of live) {
      const before = this.delivered.get(callId);
      if (before?.call === call) continue;
      if (before?.isLive) await this.send({ tenantId, callId }, 'updated', call);
      else if (is_recent) await this.send({ tenantId, callId }, 'started', call);
      else this.delivered.set(callId, { tenantId, call, isLive: true });
    }
    const liveIds = new Set(live.map(({ id }) => id));
    for (const [callId, { tenantId }] of known) {
      if (liveIds.has(callId)) continue;
      const json = this.connections.hasTenant(tenantId)
        ? await this.calls.shown({ tenantId, callId })
        : undefined;
      if (json === undefined) this.delivered.delete(callId);
      else if (this.delivered.get(callId)?.call !== json)
        await this.send({ tenantId, callId }, 'ended', json);
    }
  }
}
