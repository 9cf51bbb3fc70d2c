import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import type { MemberKey, WorkspaceKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { ChatApi } from '../chat/index.js';
import { CallEnding, CallStarts } from './changes/call-changes.js';
import { CallsRepository } from './calls.repository.js';
import { CallServer } from './call-server.js';
import { Call, DEFAULT_CALL_TITLE } from './calls.schema.js';
import { CallErrors } from './calls.dto.js';

const MINUTE_MS = 60_000;

// Rows of members who are in both lists are not changed.
const setMembers = workspace.statement<never>(
  'call_members.set',
  `WITH removed AS (
     DELETE FROM call_members WHERE tenant_id = $1 AND call_id = $2 AND user_id <> ALL ($3::uuid[]))
   INSERT INTO call_members (tenant_id, call_id, user_id)
   SELECT $1, call.id, given.user_id FROM calls call CROSS JOIN unnest($3::uuid[]) AS given (user_id)
    WHERE call.tenant_id = $1 AND call.id = $2 ON CONFLICT DO NOTHING`,
);

/** Calls, for other modules. */
@Injectable()
export class CallsApi {
  constructor(
    private readonly server: CallServer,
    private readonly starts: CallStarts,
    private readonly ending: CallEnding,
    private readonly calls: CallsRepository,
    private readonly chat: ChatApi,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  /**
   * Creates a scheduled call that starts again after each end, for the instances of an event.
   * @returns its id
   * @throws ApiError 503 `call_server_not_configured`
   */
  async create(
    tx: Tx,
    { tenantId, userId: hostId }: MemberKey,
    { title, scheduledAt }: { title: string; scheduledAt: Date },
  ): Promise<string> {
    if (!this.server.isConfigured) throw CallErrors.serverNotConfigured.with();
    const id = uuidv7();
    const values = {
      tenant_id: tenantId,
      id,
      host_id: hostId,
      title: title || DEFAULT_CALL_TITLE,
      scheduled_at: scheduledAt,
      reusable: true,
    };
    await rowsOf(tx, Call).insert({ ...values, kind: 'meeting', state: 'scheduled' });
    return id;
  }

  /** Replaces the members of a call. The host may always join. */
  async setMembers(
    tx: Tx,
    { tenantId }: WorkspaceKey,
    callId: string,
    userIds: readonly string[],
  ): Promise<void> {
    await tx.query(setMembers, [tenantId, callId, userIds]);
  }

  /**
   * Adds a call of a room that took place and ends now, for the history of the room. The media server is not used.
   * @param minutes length of the call
   * @returns its id
   */
  async recordPast(
    ctx: MemberKey,
    { roomId, title, minutes }: { roomId: string; title: string; minutes: number },
  ): Promise<string> {
    const { tenantId, userId: hostId } = ctx;
    const key = { tenantId, callId: uuidv7() };
    await this.db.tx(async (tx) => {
      await this.chat.lock(tx, ctx, roomId);
      const values = { tenant_id: tenantId, id: key.callId, host_id: hostId, room_id: roomId, title };
      await rowsOf(tx, Call).insert({ ...values, kind: 'meeting', state: 'scheduled' });
      await this.starts.startIn(tx, ctx, key);
      await this.calls.update(tx, key, { started_at: new Date(Date.now() - minutes * MINUTE_MS) });
      await this.ending.endIn(tx, key, { actor: ctx });
    });
    return key.callId;
  }

  /** Ends the call for good. */
  async close(tx: Tx, { tenantId, userId }: MemberKey, callId: string): Promise<void> {
    await this.ending.endIn(tx, { tenantId, callId }, { actor: { tenantId, userId }, isFinal: true });
  }

  /** Address of a call in the client. */
  urlOf(callId: string): string {
    return `${this.config.webClientUrl}/calls/${callId}`;
  }
}
