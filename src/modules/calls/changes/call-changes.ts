import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Audit, type AuditActor } from '../../../platform/audit/audit.js';
import { Bus } from '../../../platform/bus/bus.js';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { ChatApi } from '../../chat/index.js';
import { CallServer } from '../call-server.js';
import { CallErrors } from '../calls.dto.js';
import { CallsRepository } from '../calls.repository.js';
import type { Call } from '../calls.schema.js';
import { CALL_ENDED, CALL_ROOM_UNUSED, CALL_STARTED, type CallKey } from '../model/call-events.js';
import { ParticipantsRepository } from '../participants.repository.js';

const CALL_CHANGED = 'calls.changed';

/** A message between processes. It carries ids: receivers read the rows. */
export interface CallChange {
  tenant: string;
  call: string;
  change: 'started' | 'updated' | 'ended';
  /** A recording that changed. */
  recording?: string;
}

/** Reports changes of calls to the sockets of all processes, after the commit. */
@Injectable()
export class CallChanges {
  constructor(private readonly bus: Bus) {}

  report(tx: Tx, { tenantId, callId }: CallKey, change: CallChange['change'], recording?: string): void {
    const message = { tenant: tenantId, call: callId, change, ...(recording && { recording }) };
    tx.afterCommit(() => this.bus.publish(CALL_CHANGED, message));
  }

  subscribe(handler: (message: CallChange) => void): void {
    this.bus.subscribe(CALL_CHANGED, (message) => handler(message as unknown as CallChange));
  }
}

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

  /** Ends a call in a transaction. */
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

/** Makes scheduled calls live. */
@Injectable()
export class CallStarts {
  constructor(
    private readonly calls: CallsRepository,
    private readonly chat: ChatApi,
    private readonly changes: CallChanges,
    private readonly outbox: Outbox,
    private readonly db: Db,
  ) {}

  /** Does nothing to a live call. @throws ApiError 409 `call_ended`, `call_in_progress`, `room_archived` */
  async start(ctx: MemberKey, key: CallKey): Promise<void> {
    await this.db.tx((tx) => this.startIn(tx, ctx, key));
  }

  /** Starts a call in a transaction. */
  async startIn(tx: Tx, ctx: MemberKey, key: CallKey): Promise<void> {
    const { tenantId, callId } = key;
    const roomId = (await this.calls.find(key, tx))?.room_id ?? null;
    if (roomId !== null) await this.chat.lock(tx, ctx, roomId);
    const call = (await this.calls.lock(tx, key)) as Call;
    if (call.state === 'live') return;
    if (call.state === 'ended') throw CallErrors.callEnded.with();
    if (roomId !== null && (await this.chat.room(ctx, roomId, tx))?.archived)
      throw CallErrors.roomArchived.with();
    const active = roomId === null ? undefined : await this.calls.activeIn(tx, ctx, roomId);
    if (active) throw CallErrors.callInProgress.with({ body: { call_id: active.id } });
    const now = new Date();
    await this.calls.update(tx, key, { state: 'live', started_at: now, empty_since: now });
    if (roomId !== null)
      await this.chat.reportCall(tx, ctx, roomId, {
        type: 'call_started',
        call_id: callId,
        title: call.title,
      });
    const payload = { call_id: callId, user_id: ctx.userId };
    await this.outbox.append(tx, { tenantId, type: CALL_STARTED, payload });
    this.changes.report(tx, key, 'started');
  }
}
