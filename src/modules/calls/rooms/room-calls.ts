import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Tx } from '../../../platform/database/tx.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ActiveCalls, ROOM_ACCESS_CHANGING, type RoomAccessChange } from '../../chat/index.js';
import { CallEnding } from '../changes/call-changes.js';
import { CALL_ACCESS_CHANGED } from '../model/call-events.js';
import { CallsRepository } from '../calls.repository.js';
import { Kicks } from '../changes/kicks.js';

/** Connects calls with chat rooms: a room shows its live call, a deleted room ends it, and a removed member is disconnected. */
@Injectable()
export class RoomCalls implements OnModuleInit {
  constructor(
    private readonly activeCalls: ActiveCalls,
    private readonly calls: CallsRepository,
    private readonly ending: CallEnding,
    private readonly kicks: Kicks,
    private readonly hooks: TxHooks,
    private readonly outbox: Outbox,
  ) {}

  onModuleInit(): void {
    this.activeCalls.register(
      async (reader, ctx, roomId) => (await this.calls.activeIn(reader, ctx, roomId))?.call ?? null,
    );
    this.hooks.on(ROOM_ACCESS_CHANGING, (tx, change) => this.accessChanging(tx, change));
    const enforce = ({ tenantId, payload }: DomainEvent) =>
      this.kicks.enforce({ tenantId, callId: (payload as { call_id: string }).call_id });
    this.outbox.subscribe(CALL_ACCESS_CHANGED, 'calls.kick', enforce, 'calls');
  }

  private async accessChanging(
    tx: Tx,
    { tenantId, roomId, userId, removed }: RoomAccessChange,
  ): Promise<void> {
    if (removed === null) {
      for (const callId of await this.calls.openIn(tx, tenantId, roomId))
        await this.ending.endIn(tx, { tenantId, callId }, { actor: { tenantId, userId } });
      return;
    }
    const active = await this.calls.activeIn(tx, { tenantId }, roomId);
    if (!active) return;
    const payload = { call_id: active.id };
    await this.outbox.append(tx, { tenantId, type: CALL_ACCESS_CHANGED, payload });
  }
}
