import { Injectable, Logger } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { CallChanges } from '../changes/call-changes.js';
import { RECORDING_COMPLETE, RECORDING_FAILED } from '../model/call-events.js';
import type { CallKey } from '../model/call-identity.js';
import { CallServer, type ServerRecording } from '../call-server.js';
import type { Recording } from '../calls.entity.js';
import { expiry, isFinished, mustStop, nextState } from './recording-state.js';
import { RecordingsRepository } from './recordings.repository.js';
import { cutText } from '../../../lib/text/index.js';

const EXTENSION = '.mp4';

export const fileOf = (recordingId: string): string => `${recordingId}${EXTENSION}`;

/** Applies reports of the media server to recordings. Reports may be repeated, late and in any order. */
@Injectable()
export class RecordingChanges {
  private readonly logger = new Logger(RecordingChanges.name);

  constructor(
    private readonly recordings: RecordingsRepository,
    private readonly server: CallServer,
    private readonly changes: CallChanges,
    private readonly outbox: Outbox,
    private readonly db: Db,
  ) {}

  /** @param inTx runs first in the transaction. Its result is false if the report was handled before */
  async apply(report: ServerRecording, inTx: (tx: Tx) => Promise<boolean> = async () => true): Promise<void> {
    const { call, file, egressId } = report;
    const id = file.endsWith(EXTENSION) ? file.slice(0, -EXTENSION.length) : '';
    if (!isUuid(id)) return;
    const isUnwanted = await this.db.tx(async (tx) => {
      if (!(await inTx(tx))) return false;
      const recording = await this.recordings.lock(tx, call.tenantId, id);
      if (!recording || recording.call_id !== call.callId) return false;
      await this.update(tx, call, recording, report);
      return mustStop(recording.state, report);
    });
    if (isUnwanted) await this.stop(egressId);
  }

  /** Ends a recording that the media server does not know, or whose file does not arrive. */
  async fail({ tenantId, callId }: CallKey, id: string, error: string): Promise<void> {
    await this.db.tx(async (tx) => {
      const recording = await this.recordings.lock(tx, tenantId, id);
      if (recording && !isFinished(recording.state))
        await this.write(tx, { tenantId, callId }, id, { state: 'failed', error });
    });
  }

  /** Appends the event of a complete recording again: its file could not be stored, e.g. because the blob store was down. */
  async storeAgain({ tenantId, callId }: CallKey, id: string): Promise<void> {
    await this.db.tx(async (tx) => {
      const recording = await this.recordings.lock(tx, tenantId, id);
      if (recording?.state !== 'processing') return;
      await this.recordings.update(tx, tenantId, id, {});
      await this.append(tx, { tenantId, callId }, RECORDING_COMPLETE, id);
    });
  }

  private async update(tx: Tx, call: CallKey, recording: Recording, report: ServerRecording): Promise<void> {
    const state = nextState(recording.state, report.state);
    const isNew = state !== recording.state || recording.egress_id === null;
    if (!isNew) return;
    const { egressId, startedAt, endedAt, durationMs, error } = report;
    await this.write(tx, call, recording.id, {
      state,
      egress_id: egressId,
      started_at: recording.started_at ?? startedAt,
      ended_at: endedAt ?? recording.ended_at,
      ...(durationMs !== null && { duration_ms: String(durationMs) }),
      ...(report.state === 'limit_reached' && { limit_reached: true }),
      ...(state === 'processing'
        ? { error: null, expires_at: null }
        : error !== null && { error: cutText(error, 500) }),
    });
    if (state === 'processing' && recording.state !== 'processing')
      await this.append(tx, call, RECORDING_COMPLETE, recording.id);
  }

  private async write(tx: Tx, call: CallKey, id: string, values: Partial<Recording>): Promise<void> {
    const isFailure = values.state === 'failed' || values.state === 'aborted';
    await this.recordings.update(tx, call.tenantId, id, {
      ...values,
      ...(isFailure && { expires_at: expiry() }),
    });
    if (isFailure) await this.append(tx, call, RECORDING_FAILED, id);
    this.changes.report(tx, call, 'updated', id);
  }

  private async append(tx: Tx, { tenantId, callId }: CallKey, type: string, id: string): Promise<void> {
    await this.outbox.append(tx, { tenantId, type, payload: { recording_id: id, call_id: callId } });
  }

  private async stop(egressId: string): Promise<void> {
    try {
      await this.server.stopRecording(egressId);
    } catch (error) {
      this.logger.warn({ err: error, egress: egressId }, 'recording not stopped; the reconciler repeats it');
    }
  }
}
