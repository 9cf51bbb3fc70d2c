import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Db } from '../../../platform/database/db.js';
import { CatchUp } from '../../../platform/realtime/catch-up.js';
import { Connection } from '../../../platform/realtime/connection.js';
import { defineServerEvent } from '../../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import { type CallChange, CallChanges } from '../changes/call-changes.js';
import { CallEnvelope } from '../calls.dto.js';
import { CallsRepository } from '../calls.repository.js';
import { type CallKey, roomNameOf } from '../model/call-events.js';
import { growingTo } from '../../../platform/memory/cache-size.js';

/** Maximum number of calls whose delivered state is kept. */
const MAX_DELIVERED = 10_000;

const EVENTS = {
  started: defineServerEvent('call.started', 'A call that you may join started.', CallEnvelope),
  updated: defineServerEvent('call.updated', 'A call, or its participants, changed.', CallEnvelope),
  ended: defineServerEvent('call.ended', 'A call ended.', CallEnvelope),
};

/** A call as this process has delivered it. */
interface DeliveredCall extends CallKey {
  /** JSON. */
  call: string;
  isLive: boolean;
}

/** Sends changes of calls to the sockets of this process: `call.started`, `call.updated`, `call.ended`, each with the call. */
@Injectable()
export class CallFanout implements OnModuleInit {
  private readonly logger = new Logger(CallFanout.name);
  /** By `roomNameOf`: calls of two workspaces may have the same id. */
  private readonly delivered = new LRUCache<string, DeliveredCall>(growingTo(MAX_DELIVERED));

  constructor(
    private readonly changes: CallChanges,
    private readonly connections: UserConnections,
    private readonly calls: CallsRepository,
    private readonly catchUp: CatchUp,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.changes.subscribe((message) => {
      if (!this.connections.hasTenant(message.tenant)) return;
      this.deliver(message).catch((error: unknown) =>
        this.logger.warn({ err: error }, 'change of a call not delivered; the next comparison delivers it'),
      );
    });
    this.catchUp.register('calls', (seconds) => this.deliverMissed(seconds));
  }

  private async deliver({ tenant: tenantId, call: callId, change }: CallChange): Promise<void> {
    const key = { tenantId, callId };
    const json = await this.calls.readShown(key);
    if (json === undefined) return;
    const isKnown = this.delivered.get(roomNameOf(key))?.call === json;
    if (change === 'updated' || !isKnown) await this.send(key, change, json);
  }

  private async send(key: CallKey, change: CallChange['change'], json: string): Promise<void> {
    const call = JSON.parse(json) as CallEnvelope['call'];
    const audience = await this.calls.audience(key);
    this.keep(key, json, call.state === 'live');
    Connection.sendAll(this.connections.ofUsers(key.tenantId, audience), EVENTS[change], { call });
  }

  /** Sends changes of live calls that this process has missed. @param seconds age up to which a start may be missing */
  private async deliverMissed(seconds: number): Promise<void> {
    const tenants = await this.db.ofCurrentCell(this.connections.tenants, (tenant) => tenant);
    const delivered = await this.db.ofCurrentCell([...this.delivered.values()], ({ tenantId }) => tenantId);
    const deliveredLive = delivered.filter(({ isLive }) => isLive);
    const live = tenants.length === 0 ? [] : await this.calls.liveIn(tenants, seconds);
    for (const { tenant_id: tenantId, id: callId, call, is_recent } of live) {
      const key = { tenantId, callId };
      const before = this.delivered.get(roomNameOf(key));
      if (before?.call === call) continue;
      if (before?.isLive) await this.send(key, 'updated', call);
      else if (is_recent) await this.send(key, 'started', call);
      else this.keep(key, call, true);
    }
    const liveRooms = new Set(
      live.map(({ tenant_id, id }) => roomNameOf({ tenantId: tenant_id, callId: id })),
    );
    for (const { tenantId, callId } of deliveredLive) {
      const key = { tenantId, callId };
      if (liveRooms.has(roomNameOf(key))) continue;
      const json = this.connections.hasTenant(tenantId) ? await this.calls.readShown(key) : undefined;
      if (json === undefined) this.delivered.delete(roomNameOf(key));
      else if (this.delivered.get(roomNameOf(key))?.call !== json) await this.send(key, 'ended', json);
    }
  }

  private keep(key: CallKey, call: string, isLive: boolean): void {
    this.delivered.set(roomNameOf(key), { ...key, call, isLive });
  }
}
