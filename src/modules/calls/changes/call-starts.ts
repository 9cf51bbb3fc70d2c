import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ChatApi } from '../../chat/index.js';
import { CallChanges } from './call-changes.js';
import { CALL_STARTED } from '../model/call-events.js';
import type { CallKey } from '../model/call-identity.js';
import type { Call } from '../calls.entity.js';
import { CallErrors } from '../calls.errors.js';
import { CallsRepository } from '../calls.repository.js';

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

  /** The same in a transaction. */
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
