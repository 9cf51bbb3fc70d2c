import { Injectable } from '@nestjs/common';
import type { MemberKey, WorkspaceKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { RowQuota } from '../../platform/quotas/row-quota.js';
import type { CallKey } from './model/call-events.js';
import { Call, type CallState } from './calls.schema.js';

/** Role of a user in a call. */
export type MemberRole = 'host' | 'moderator' | 'member';

export interface AccessibleCall {
  /** JSON. */
  call: string;
  role: MemberRole;
  state: CallState;
}

export interface ShownLiveCall {
  tenant_id: string;
  id: string;
  /** JSON. */
  call: string;
  /** Whether it started within the last seconds. */
  is_recent: boolean;
}

const read = workspace.statement<AccessibleCall>(
  'calls.read',
  `SELECT view.call, access.role, call.state FROM calls call
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = call.id AND access.user_id = $2
     JOIN call_views view ON view.tenant_id = $1 AND view.id = call.id
    WHERE call.tenant_id = $1 AND call.id = $3`,
);

const shown = workspace.statement<{ call: string }>(
  'calls.shown',
  `SELECT call FROM call_views WHERE tenant_id = $1 AND id = $2`,
);

// Index: calls_live.
const liveIn = workspace.statement<ShownLiveCall>(
  'calls.live_in_workspaces',
  `SELECT call.tenant_id, call.id, view.call, call.started_at > now() - make_interval(secs => $2) AS is_recent
     FROM calls call JOIN call_views view ON view.tenant_id = call.tenant_id AND view.id = call.id
    WHERE call.tenant_id = ANY ($1::uuid[]) AND call.state = 'live'`,
  { reach: 'cell' },
);

const audience = workspace.statement<{ user_id: string }>(
  'calls.audience',
  `SELECT user_id FROM call_access WHERE tenant_id = $1 AND call_id = $2`,
);

// Index: calls_live_in_room.
const activeIn = workspace.statement<Pick<Call, 'id'> & { call: string }>(
  'calls.active_in_room',
  `SELECT call.id, json_build_object(
            'call_id', call.id, 'title', call.title, 'kind', call.kind, 'started_at', rfc3339(call.started_at),
            'participants', view.participants)::text AS call
     FROM calls call JOIN call_views view ON view.tenant_id = $1 AND view.id = call.id
    WHERE call.tenant_id = $1 AND call.room_id = $2 AND call.state = 'live'`,
  { pipelined: true },
);

// Index: calls_of_room.
const openIn = workspace.statement<Pick<Call, 'id'>>(
  'calls.open_in_room',
  `SELECT id FROM calls WHERE tenant_id = $1 AND room_id = $2 AND state <> 'ended' ORDER BY id`,
);

// Index: calls_to_reconcile.
const live = workspace.statement<CallKey>(
  'calls.live',
  `SELECT tenant_id AS "tenantId", id AS "callId"
     FROM calls WHERE state = 'live' AND ($1::uuid IS NULL OR (id, tenant_id) > ($1, $2::uuid)) ORDER BY id, tenant_id LIMIT $3`,
  { reach: 'cell' },
);

// Index calls_open.
const openCallsOfUser = new RowQuota(
  'user',
  'open_calls',
  'calls',
  'calls WHERE tenant_id = $1 AND host_id = $2 AND ended_at IS NULL',
);

/** SQL of calls, for all folders of the module. */
@Injectable()
export class CallsRepository {
  /** The calls of a host that have not ended. */
  readonly openQuota = openCallsOfUser;

  constructor(private readonly db: Db) {}

  /** @returns undefined for an unknown call, or one that the caller may not see */
  async read(
    { tenantId, userId }: MemberKey,
    id: string,
    reader: Reader = this.db,
  ): Promise<AccessibleCall | undefined> {
    return (await reader.query(read, [tenantId, userId, id]))[0];
  }

  /** JSON of a call, without a check of access. */
  async readShown({ tenantId, callId }: CallKey): Promise<string | undefined> {
    return (await this.db.query(shown, [tenantId, callId]))[0]?.call;
  }

  /** The live calls of workspaces of the current cell. @param seconds age up to which a start is recent */
  async liveIn(tenants: readonly string[], seconds: number): Promise<ShownLiveCall[]> {
    return this.db.query(liveIn, [tenants, seconds]);
  }

  /** Users who may see a call. */
  async audience({ tenantId, callId }: CallKey): Promise<string[]> {
    return (await this.db.query(audience, [tenantId, callId])).map((row) => row.user_id);
  }

  /** The live call of a room, as the room shows it. */
  async activeIn(
    reader: Reader,
    { tenantId }: WorkspaceKey,
    roomId: string,
  ): Promise<{ id: string; call: string } | undefined> {
    return (await reader.query(activeIn, [tenantId, roomId]))[0];
  }

  /** Ids of the scheduled and live calls of a room. */
  async openIn(reader: Reader, tenantId: string, roomId: string): Promise<string[]> {
    return (await reader.query(openIn, [tenantId, roomId])).map(({ id }) => id);
  }

  async find({ tenantId, callId: id }: CallKey, reader: Reader = this.db): Promise<Call | null> {
    return rowsOf(reader, Call).one({ tenant_id: tenantId, id });
  }

  /** Locks the row of a call. Lock its room first. */
  async lock(tx: Tx, { tenantId, callId: id }: CallKey): Promise<Call | null> {
    return rowsOf(tx, Call).lock({ tenant_id: tenantId, id });
  }

  async update(tx: Tx, { tenantId, callId: id }: CallKey, values: Partial<Call>): Promise<void> {
    await rowsOf(tx, Call).update({ tenant_id: tenantId, id }, { ...values, updated_at: () => 'now()' });
  }

  /** Live calls of all workspaces, by id. */
  async listLive(after: CallKey | null, limit: number): Promise<CallKey[]> {
    return this.db.query(live, [after?.callId ?? null, after?.tenantId ?? null, limit]);
  }
}
