import { Injectable } from '@nestjs/common';
import { parse, stringify, v7 as uuidv7 } from 'uuid';
import { Audit } from '../../../platform/audit/audit.js';
import { Blobs } from '../../../platform/blobs/blobs.js';
import type { MemberKey, RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader } from '../../../platform/database/tx.js';
import { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import { ChatApi } from '../../chat/index.js';
import { CallAccess } from '../call-access.js';
import { CallServer } from '../call-server.js';
import { CallErrors } from '../calls.dto.js';
import { CallsRepository } from '../calls.repository.js';
import type { Call } from '../calls.schema.js';
import { CallChanges } from '../changes/call-changes.js';
import type { CallKey } from '../model/call-events.js';
import { fileOf, RecordingChanges } from './recording-changes.js';
import type { RecordingListEnvelope, RecordingResponse } from './recordings.dto.js';
import { type RecordingFilter, type RecordingRow, RecordingsRepository } from './recordings.repository.js';

/** Seconds in which a link is valid. */
const VALID_SECONDS = 3_600;
const USE = 'recording link';
const ID_BYTES = 16;
const TIME_BYTES = 6;
const SIGNATURE_BYTES = 18;
const BYTES = 2 * ID_BYTES + TIME_BYTES + SIGNATURE_BYTES;
const FORM = /^[\w-]{75}$/;

export interface RecordingLink {
  url: string;
  expiresAt: Date;
}

/** Signed links to recordings for players, which send no bearer token: workspace, recording, time of the end, HMAC. */
@Injectable()
export class RecordingLinks {
  constructor(private readonly keyring: Keyring) {}

  /** A new link to a file. */
  issue(tenantId: string, id: string): RecordingLink {
    const expires = Math.floor(Date.now() / 1000) + VALID_SECONDS;
    const time = Buffer.alloc(TIME_BYTES);
    time.writeUIntBE(expires, 0, TIME_BYTES);
    const content = Buffer.concat([parse(tenantId), parse(id), time]);
    const signature = this.keyring.sign(USE, content.toString('hex'), SIGNATURE_BYTES);
    const token = Buffer.concat([content, signature]).toString('base64url');
    return { url: `/apis/v1/call/recordings/${token}`, expiresAt: new Date(expires * 1000) };
  }

  /** @returns undefined for an invalid or expired link */
  read(token: string): { tenantId: string; id: string } | undefined {
    if (!FORM.test(token)) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    if (bytes.length !== BYTES) return undefined;
    const content = bytes.subarray(0, BYTES - SIGNATURE_BYTES);
    if (!this.keyring.verify(USE, content.toString('hex'), bytes.subarray(content.length))) return undefined;
    if (content.readUIntBE(2 * ID_BYTES, TIME_BYTES) * 1000 <= Date.now()) return undefined;
    return { tenantId: stringify(content, 0), id: stringify(content, ID_BYTES) };
  }
}

/** The permission to see the recordings of all calls. */
const READ_ANY = 'recordings.read_any';

/** Starts, stops, lists and serves recordings. */
@Injectable()
export class RecordingsService {
  constructor(
    private readonly recordings: RecordingsRepository,
    private readonly recordingChanges: RecordingChanges,
    private readonly links: RecordingLinks,
    private readonly calls: CallsRepository,
    private readonly access: CallAccess,
    private readonly server: CallServer,
    private readonly changes: CallChanges,
    private readonly chat: ChatApi,
    private readonly blobs: Blobs,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** The recordings of a room that the caller is a member of. @throws ApiError 404 */
  async ofRoom(ctx: RequestContext, roomId: string, query: PageQuery): Promise<RecordingListEnvelope> {
    if (!(await this.chat.room(ctx, roomId))) throw CallErrors.roomNotFound.with();
    return this.page(ctx, query, { roomId, any: false });
  }

  /** The recordings of all calls that the caller may see. */
  async list(
    ctx: RequestContext,
    query: PageQuery,
    filter: Omit<RecordingFilter, 'any'>,
  ): Promise<RecordingListEnvelope> {
    return this.page(ctx, query, { ...filter, any: await this.access.holds(ctx, READ_ANY) });
  }

  /**
   * Writes the row before the request to the media server, so that the events of the media server find it.
   * @throws ApiError 404, 409 `call_not_live`, `recording_active`, 503
   */
  async start(ctx: RequestContext, callId: string): Promise<RecordingResponse> {
    await this.access.read(ctx, callId);
    return this.startBy(ctx, { tenantId: ctx.tenantId, callId });
  }

  /** Without a check of access: for calls that are recorded from the start. */
  async startBy(ctx: MemberKey, key: CallKey): Promise<RecordingResponse> {
    if (!this.server.isConfigured) throw CallErrors.serverNotConfigured.with();
    if (!this.server.canRecord) throw CallErrors.recordingNotConfigured.with();
    const id = await this.insert(ctx, key);
    try {
      await this.recordingChanges.apply(await this.server.startRecording(key, fileOf(id)));
    } catch (error) {
      await this.recordingChanges.fail(key, id, 'not_started');
      throw error;
    }
    return this.readRecording(key, id);
  }

  /** Does nothing to a recording that has ended. @throws ApiError 404, 503 */
  async stop(ctx: RequestContext, callId: string, id: string): Promise<RecordingResponse> {
    await this.access.read(ctx, callId);
    if (!(await this.recordings.isVisible(ctx, await this.access.holds(ctx, READ_ANY), id)))
      throw CallErrors.recordingNotFound.with();
    const key = { tenantId: ctx.tenantId, callId };
    const egressId = await this.db.tx(async (tx) => {
      const recording = await this.recordings.lock(tx, ctx.tenantId, id);
      if (recording?.call_id !== callId) throw CallErrors.recordingNotFound.with();
      if (recording.state !== 'starting' && recording.state !== 'active') return null;
      await this.recordings.update(tx, ctx.tenantId, id, { state: 'stopping' });
      await this.record(tx, ctx, 'call.recording.stopped', id, callId);
      this.changes.report(tx, key, 'updated', id);
      return recording.egress_id;
    });
    const stopped = egressId === null ? null : await this.server.stopRecording(egressId);
    if (stopped) await this.recordingChanges.apply(stopped);
    return this.readRecording(key, id);
  }

  /** The file of a signed link. @throws ApiError 404 */
  async content(token: string): Promise<ContentReply> {
    const link = this.links.read(token);
    const recording = link && (await this.recordings.find(link.tenantId, link.id));
    if (!recording?.blob_id) throw CallErrors.recordingNotFound.with();
    const { tenant_id, blob_id } = recording;
    return new ContentReply({
      name: recording.file,
      contentType: 'video/mp4',
      size: Number(recording.size),
      sha256: (recording.sha256 as Buffer).toString('hex'),
      open: (range) => this.blobs.open(tenant_id, blob_id, range),
    });
  }

  /** The response for a recording that exists. */
  async readRecording(key: CallKey, id: string, reader?: Reader): Promise<RecordingResponse> {
    return (await this.find(key, id, reader)) as RecordingResponse;
  }

  /** @returns undefined for a deleted recording */
  async find({ tenantId }: CallKey, id: string, reader?: Reader): Promise<RecordingResponse | undefined> {
    const row = await this.recordings.readShown(tenantId, id, reader);
    return row && this.present(tenantId, row);
  }

  private async insert(ctx: MemberKey & Partial<RequestContext>, key: CallKey): Promise<string> {
    const id = uuidv7();
    await this.db.tx(async (tx) => {
      const call = (await this.calls.lock(tx, key)) as Call;
      if (call.state !== 'live') throw CallErrors.callNotLive.with();
      const { tenant_id, room_id } = call;
      const identity = { tenant_id, call_id: key.callId, id };
      const values = { ...identity, room_id, requested_by: ctx.userId, file: fileOf(id) };
      if (!(await this.recordings.insert(tx, values))) throw CallErrors.recordingActive.with();
      await this.record(tx, ctx, 'call.recording.started', id, key.callId);
      this.changes.report(tx, key, 'updated', id);
    });
    return id;
  }

  private async record(
    tx: Parameters<Audit['record']>[0],
    ctx: Parameters<Audit['record']>[1],
    action: string,
    id: string,
    callId: string,
  ): Promise<void> {
    await this.audit.record(tx, ctx, {
      action,
      objectKind: 'recording',
      objectId: id,
      data: { call_id: callId },
    });
  }

  private async page(
    ctx: RequestContext,
    query: PageQuery,
    filter: RecordingFilter,
  ): Promise<RecordingListEnvelope> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `recordings ${ctx.tenantId} ${ctx.userId} ${JSON.stringify(filter)}`,
      key: (row: RecordingRow): [string] => [row.id],
      rows: (after, limit) => this.recordings.list(ctx, filter, after, limit),
    });
    return { recordings: rows.map((row) => this.present(ctx.tenantId, row)), next };
  }

  private present(tenantId: string, row: RecordingRow): RecordingResponse {
    const link = row.state === 'ready' ? this.links.issue(tenantId, row.id) : null;
    return {
      ...row,
      url: link?.url ?? null,
      url_expires_at: link?.expiresAt.toISOString() ?? null,
    };
  }
}
