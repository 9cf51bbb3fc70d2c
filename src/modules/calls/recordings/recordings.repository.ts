import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { CallKey } from '../model/call-events.js';
import { Recording, type RecordingState } from '../calls.schema.js';
import type { RecordingResponse } from './recordings.dto.js';

/** A recording as responses show it, without its link. */
export type RecordingRow = Omit<RecordingResponse, 'url' | 'url_expires_at'>;

/** Filters of a list. */
export interface RecordingFilter {
  roomId?: string;
  callId?: string;
  from?: Date;
  to?: Date;
  /** Also recordings of calls that the caller may not see. */
  any: boolean;
}

export interface OpenRecording extends CallKey {
  id: string;
  state: RecordingState;
  /** Seconds since its last change. */
  age: number;
}

const COLUMNS = `recording.id, recording.call_id, recording.room_id, call.title, recording.state, recording.requested_by,
       rfc3339(recording.started_at) AS started_at, rfc3339(recording.ended_at) AS ended_at,
       recording.duration_ms::float8 AS duration_ms, recording.size::float8 AS size, recording.limit_reached, recording.error,
       rfc3339(recording.expires_at) AS expires_at, rfc3339(recording.created_at) AS created_at`;
// Members of a room see the recordings that were made while they were members.
const WAS_MEMBER = `(access.member_since IS NULL OR access.member_since <= coalesce(recording.ended_at, now()))`;

const VISIBLE = `EXISTS (
       SELECT FROM call_access access
        WHERE access.tenant_id = $1 AND access.call_id = recording.call_id AND access.user_id = $2 AND ${WAS_MEMBER})`;

// Indexes: the primary key, recordings_of_room, recordings_of_call.
const list = workspace.statement<RecordingRow>(
  'recordings.list',
  `SELECT ${COLUMNS} FROM recordings recording
     JOIN calls call ON call.tenant_id = $1 AND call.id = recording.call_id
    WHERE recording.tenant_id = $1 AND ($3 OR ${VISIBLE})
      AND ($4::uuid IS NULL OR recording.room_id = $4) AND ($5::uuid IS NULL OR recording.call_id = $5)
      AND ($6::timestamptz IS NULL OR recording.created_at >= $6) AND ($7::timestamptz IS NULL OR recording.created_at < $7)
      AND ($8::uuid IS NULL OR recording.id < $8)
    ORDER BY recording.id DESC LIMIT $9`,
);

const shown = workspace.statement<RecordingRow>(
  'recordings.shown',
  `SELECT ${COLUMNS} FROM recordings recording JOIN calls call ON call.tenant_id = $1 AND call.id = recording.call_id
    WHERE recording.tenant_id = $1 AND recording.id = $2`,
);

const isVisible = workspace.statement<Pick<Recording, 'id'>>(
  'recordings.is_visible',
  `SELECT recording.id FROM recordings recording
    WHERE recording.tenant_id = $1 AND recording.id = $4 AND ($3 OR ${VISIBLE})`,
);

const audience = workspace.statement<{ user_id: string }>(
  'recordings.audience',
  `SELECT access.user_id FROM recordings recording
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = recording.call_id AND ${WAS_MEMBER}
    WHERE recording.tenant_id = $1 AND recording.id = $2`,
);

// Index: recordings_of_call.
const started = workspace.statement<Pick<Recording, 'id'>>(
  'recordings.started',
  `SELECT id FROM recordings WHERE tenant_id = $1 AND call_id = $2 AND (state <> 'failed' OR egress_id IS NOT NULL) LIMIT 1`,
);

// Index: recordings_open.
const open = workspace.statement<OpenRecording>(
  'recordings.open',
  `SELECT tenant_id AS "tenantId", id, call_id AS "callId", state, extract(epoch FROM now() - updated_at)::float8 AS age
     FROM recordings
    WHERE state IN ('starting', 'active', 'stopping', 'processing')
      AND ($1::uuid IS NULL OR (id, tenant_id) > ($1, $2::uuid))
    ORDER BY id, tenant_id LIMIT $3`,
  { reach: 'cell' },
);

// Index: recordings_expired. A trigger releases the files.
const expire = workspace.statement<Pick<Recording, 'file'>>(
  'recordings.expire',
  `DELETE FROM recordings WHERE (tenant_id, id) IN (
     SELECT tenant_id, id FROM recordings WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
   RETURNING file`,
  { reach: 'cell' },
);

/** SQL of recordings. */
@Injectable()
export class RecordingsRepository {
  constructor(private readonly db: Db) {}

  /** The newest first. */
  async list(
    { tenantId, userId }: RequestContext,
    { any, roomId, callId, from, to }: RecordingFilter,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<RecordingRow[]> {
    const filters = [any, roomId ?? null, callId ?? null, from ?? null, to ?? null];
    return this.db.query(list, [tenantId, userId, ...filters, after?.[0] ?? null, limit]);
  }

  /** Reads a recording without a check of access. */
  async readShown(tenantId: string, id: string, reader: Reader = this.db): Promise<RecordingRow | undefined> {
    return (await reader.query(shown, [tenantId, id]))[0];
  }

  /** @param any whether the caller sees all recordings */
  async isVisible({ tenantId, userId }: RequestContext, any: boolean, id: string): Promise<boolean> {
    return (await this.db.query(isVisible, [tenantId, userId, any, id])).length > 0;
  }

  /** Users who may see a recording; none for a deleted one. */
  async audience(tenantId: string, id: string): Promise<string[]> {
    return (await this.db.query(audience, [tenantId, id])).map((row) => row.user_id);
  }

  async find(tenantId: string, id: string): Promise<Recording | null> {
    return rowsOf(this.db, Recording).one({ tenant_id: tenantId, id });
  }

  async lock(tx: Tx, tenantId: string, id: string): Promise<Recording | null> {
    return rowsOf(tx, Recording).lock({ tenant_id: tenantId, id });
  }

  /** @returns false when the call has an active recording */
  async insert(
    tx: Tx,
    values: Pick<Recording, 'tenant_id' | 'id' | 'call_id' | 'room_id' | 'requested_by' | 'file'>,
  ): Promise<boolean> {
    return (await rowsOf(tx, Recording).insert({ ...values, state: 'starting' })) !== null;
  }

  async update(tx: Tx, tenantId: string, id: string, values: Partial<Recording>): Promise<void> {
    await rowsOf(tx, Recording).update({ tenant_id: tenantId, id }, { ...values, updated_at: () => 'now()' });
  }

  /** A trigger releases the file. */
  async delete(tx: Tx, tenantId: string, id: string): Promise<void> {
    await rowsOf(tx, Recording).delete({ tenant_id: tenantId, id });
  }

  /** Whether the call has a recording, in any state, that the media server may have started. */
  async exists({ tenantId, callId }: CallKey): Promise<boolean> {
    return (await this.db.query(started, [tenantId, callId])).length > 0;
  }

  /** Recordings of all workspaces that are not finished, by id. */
  async open(after: OpenRecording | null, limit: number): Promise<OpenRecording[]> {
    return this.db.query(open, [after?.id ?? null, after?.tenantId ?? null, limit]);
  }

  /** Deletes expired recordings. @returns the names of their files, at most `limit` */
  async expire(limit: number): Promise<string[]> {
    const rows = await this.db.single((tx) => tx.query(expire, [limit]));
    return rows.map(({ file }) => file);
  }
}
