import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { Audit } from '../../../platform/audit/audit.js';
import { Blobs, type StoredBlob } from '../../../platform/blobs/blobs.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ChatApi } from '../../chat/index.js';
import { CallAccess } from '../call-access.js';
import { CallErrors } from '../calls.dto.js';
import { type AccessibleCall, CallsRepository } from '../calls.repository.js';
import type { Recording } from '../calls.schema.js';
import { CallChanges } from '../changes/call-changes.js';
import { RECORDING_COMPLETE, RECORDING_READY } from '../model/call-events.js';
import { expiry, isFinished } from './recording-changes.js';
import type { RecordingResponse } from './recordings.dto.js';
import { RecordingsRepository } from './recordings.repository.js';
import { RecordingsService } from './recordings.service.js';

/** Maximum size of a recording: 64 GiB. */
const MAX_BYTES = 64 * 1024 ** 3;
const EXPIRE_BATCH = 500;
const CONTENT_TYPE = 'video/mp4';

/** Moves complete recordings from the directory that the media server writes to into the blob store, and deletes old ones. */
@Injectable()
export class RecordingFiles implements OnModuleInit {
  constructor(
    private readonly recordings: RecordingsRepository,
    private readonly calls: CallsRepository,
    private readonly blobs: Blobs,
    private readonly chat: ChatApi,
    private readonly changes: CallChanges,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    const store = ({ tenantId, payload }: DomainEvent) =>
      this.store(tenantId, (payload as { recording_id: string }).recording_id);
    this.outbox.subscribe(RECORDING_COMPLETE, 'calls.store-recording', store, 'files');
    this.jobs.register({ name: 'calls.expire-recordings', everySeconds: 600, run: () => this.expire() });
  }

  /**
   * Stores the file of a recording, unless it is stored already, and removes it from the directory.
   * @throws Error while the file is missing; the outbox then repeats the event
   */
  async store(tenantId: string, id: string): Promise<void> {
    const recording = await this.recordings.find(tenantId, id);
    if (!recording || this.config.LIVEKIT_RECORDINGS_DIR === undefined) return;
    if (recording.state === 'processing') {
      const blob = await this.put(tenantId, recording.file);
      if (!(await this.keep(tenantId, id, blob))) await this.blobs.discard(tenantId, blob);
    }
    // Another process may have stored the file and ended before it removed the file. The file of a failed recording is kept, because
    // the media server may still report the recording as complete.
    const stored = await this.recordings.find(tenantId, id);
    if (stored === null || stored.state === 'ready') await this.discard(recording.file);
  }

  /** Whether this file is in the directory of the media server. */
  async hasFile(file: string): Promise<boolean> {
    if (this.config.LIVEKIT_RECORDINGS_DIR === undefined) return false;
    return stat(this.pathOf(file)).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
  }

  /** Deletes a file from the directory of the media server, if it exists. */
  async discard(file: string): Promise<void> {
    if (this.config.LIVEKIT_RECORDINGS_DIR !== undefined) await rm(this.pathOf(file), { force: true });
  }

  /** Deletes recordings that finished 90 days ago. */
  async expire(): Promise<void> {
    let files: string[];
    do {
      files = await this.recordings.expire(EXPIRE_BATCH);
      for (const file of files) await this.discard(file);
    } while (files.length === EXPIRE_BATCH);
  }

  /** @throws Error for a missing file */
  private async put(tenantId: string, file: string): Promise<StoredBlob> {
    const source = createReadStream(this.pathOf(file));
    try {
      return await this.blobs.put(tenantId, source, { maxBytes: MAX_BYTES });
    } finally {
      source.destroy();
    }
  }

  private pathOf(file: string): string {
    return path.join(this.config.LIVEKIT_RECORDINGS_DIR ?? '', file);
  }

  /** @returns false when another process stored the file, or the recording is no longer processed */
  private async keep(tenantId: string, id: string, blob: StoredBlob): Promise<boolean> {
    const { call_id: callId } = (await this.recordings.find(tenantId, id)) ?? {};
    const call = callId === undefined ? null : await this.calls.find({ tenantId, callId });
    return this.db.tx(async (tx) => {
      if (call && call.room_id !== null)
        await this.chat.lock(tx, { tenantId, userId: call.host_id }, call.room_id);
      const recording = await this.recordings.lock(tx, tenantId, id);
      if (!call || recording?.state !== 'processing') return false;
      await this.blobs.keep(tx, tenantId, blob, CONTENT_TYPE);
      const { size, sha256 } = blob;
      const stored = { state: 'ready', blob_id: blob.id, size: String(size), sha256 } as const;
      await this.recordings.update(tx, tenantId, id, { ...stored, expires_at: expiry() });
      if (call.room_id !== null)
        await this.chat.reportCall(tx, { tenantId, userId: recording.requested_by }, call.room_id, {
          type: 'recording_ready',
          call_id: call.id,
          title: call.title,
          recording_id: id,
          ...(recording.duration_ms !== null && { duration_ms: Number(recording.duration_ms) }),
        });
      await this.outbox.append(tx, {
        tenantId,
        type: RECORDING_READY,
        payload: { recording_id: id, call_id: call.id },
      });
      this.changes.report(tx, { tenantId, callId: call.id }, 'updated', id);
      return true;
    });
  }
}

/** Deletion of recordings by users. */
@Injectable()
export class RecordingDeletion {
  constructor(
    private readonly recordings: RecordingsRepository,
    private readonly service: RecordingsService,
    private readonly files: RecordingFiles,
    private readonly access: CallAccess,
    private readonly changes: CallChanges,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /**
   * Deletes a finished recording. A trigger releases its file.
   * @returns the recording as it was, without a link
   * @throws ApiError 404, 403, 409 `recording_not_finished`
   */
  async delete(ctx: RequestContext, callId: string, id: string): Promise<RecordingResponse> {
    const call = await this.access.read(ctx, callId);
    const { tenantId } = ctx;
    const key = { tenantId, callId };
    const { file, shown } = await this.db.tx(async (tx) => {
      const recording = await this.recordings.lock(tx, tenantId, id);
      if (recording?.call_id !== callId) throw CallErrors.recordingNotFound.with();
      await this.assertRight(ctx, call, recording);
      if (!isFinished(recording.state)) throw CallErrors.recordingNotFinished.with();
      const before = await this.service.readRecording(key, id, tx);
      await this.recordings.delete(tx, tenantId, id);
      const entry = { action: 'call.recording.deleted', objectKind: 'recording', objectId: id };
      await this.audit.record(tx, ctx, { ...entry, data: { call_id: callId } });
      this.changes.report(tx, key, 'updated', id);
      return { file: recording.file, shown: before };
    });
    await this.files.discard(file);
    return { ...shown, url: null, url_expires_at: null };
  }

  private async assertRight(ctx: RequestContext, { role }: AccessibleCall, { requested_by }: Recording) {
    if (role === 'member' && requested_by !== ctx.userId)
      await this.access.assertPermission(ctx, 'calls.moderate');
  }
}
