import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { CallAccess } from '../call-access.js';
import type { Recording } from '../calls.entity.js';
import { CallErrors } from '../calls.errors.js';
import type { AccessibleCall } from '../calls.repository.js';
import { CallChanges } from '../changes/call-changes.js';
import { RecordingFiles } from './recording-files.js';
import { isFinished } from './recording-state.js';
import type { RecordingResponse } from './recordings.response.js';
import { RecordingsRepository } from './recordings.repository.js';
import { RecordingsService } from './recordings.service.js';

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
      const before = await this.service.shown(key, id, tx);
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
