import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Audit, type AuditActor } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { ChatApi } from '../../chat/index.js';
import { CallChanges } from './call-changes.js';
import { CALL_ENDED, CALL_ROOM_UNUSED } from '../model/call-events.js';
import type { CallKey } from '../model/call-identity.js';
import { CallServer } from '../call-server.js';
import type { Call } from '../calls.entity.js';
import { CallsRepository } from '../calls.repository.js';
import { ParticipantsRepository } from '../participants.repository.js';

interface EndOptions {
  /** The user who ends the call; undefined: the service. */
  actor?: AuditActor & { tenantId: string; userId: string };
  /** A call of an event does not start again either. */
  isFinal?: boolean;
  /** Condition, which is checked under the lock of the call. */
  only?: (call: Call) => boolean;
}

/** Ends calls. A handler of the outbox deletes the room at the media server; it is repeated until it succeeds. */
@Injectable()
export class CallEnding implements OnModuleInit {
  constructor(
    private readonly calls: CallsRepository,
    private readonly participants: ParticipantsRepository,
    private readonly server: CallServer,
    private readonly chat: ChatApi,
    private readonly changes: CallChanges,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    const deleteRoom = async ({ tenantId, payload }: DomainEvent) => {
      const { call_id: callId } = payload as { call_id: string };
      if (this.server.isConfigured) await this.server.deleteRoom({ tenantId, callId });
    };
    this.outbox.subscribe(CALL_ROOM_UNUSED, 'calls.delete-room', deleteRoom, 'calls');
  }

  /** @returns whether the call was scheduled or live */
  async end(key: CallKey, options: EndOptions = {}): Promise<boolean> {
    return this.db.tx((tx) => this.endIn(tx, key, options));
  }

  /** The same in a transaction. */
  async endIn(
    tx: Tx,
    key: CallKey,
    { actor, isFinal = false, only = () => true }: EndOptions = {},
  ): Promise<boolean> {
    const { tenantId, callId } = key;
    const found = await this.calls.find(key, tx);
    if (!found) return false;
    const { room_id } = found;
    const reporter = actor ?? { tenantId, userId: found.host_id };
    if (room_id !== null) await this.chat.lock(tx, reporter, room_id);
    const call = await this.calls.lock(tx, key);
    if (!call || call.state === 'ended' || !only(call)) return false;
    const startsAgain = call.reusable && !isFinal;
    if (startsAgain && call.state === 'scheduled') return false;
    const endedAt = new Date();
    const ended = startsAgain
      ? ({ state: 'scheduled', started_at: null } as const)
      : ({ state: 'ended', ended_at: endedAt } as const);
    await this.calls.update(tx, key, { ...ended, empty_since: null });
    const participants = await this.participants.total(tx, key, call.started_at);
    await this.participants.leaveAll(tx, key);
    if (room_id !== null && call.started_at !== null) {
      const duration_ms = Math.max(0, endedAt.getTime() - call.started_at.getTime());
      const event = {
        type: 'call_ended' as const,
        call_id: callId,
        title: call.title,
        duration_ms,
        participants,
      };
      await this.chat.reportCall(tx, reporter, room_id, event);
    }
    const entry = { action: 'call.ended', objectKind: 'call', objectId: callId, data: { participants } };
    await this.audit.record(tx, actor ?? { tenantId, userId: null, origin: 'job' }, entry);
    const payload = { call_id: callId, started_at: call.started_at, user_id: actor?.userId ?? null };
    await this.outbox.append(tx, { tenantId, type: CALL_ENDED, payload });
    await this.outbox.append(tx, { tenantId, type: CALL_ROOM_UNUSED, payload: { call_id: callId } });
    this.changes.report(tx, key, 'ended');
    return true;
  }
}
