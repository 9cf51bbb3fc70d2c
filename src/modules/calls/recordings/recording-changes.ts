import { Injectable, Logger } from '@nestjs/common';
import { cutText } from '../../../lib/text/index.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { CallServer, type ServerRecording, type ServerRecordingState } from '../call-server.js';
import type { Recording, RecordingState } from '../calls.schema.js';
import { CallChanges } from '../changes/call-changes.js';
import { type CallKey, RECORDING_COMPLETE, RECORDING_FAILED } from '../model/call-events.js';
import { RecordingsRepository } from './recordings.repository.js';

/** Days after which a finished recording is deleted. */
const KEEP_DAYS = 90;
const DAY_MS = 86_400_000;

/** States in their order. A recording never returns to an earlier state, so that the order of events does not matter. */
const RANK: Record<RecordingState, number> = {
  starting: 0,
  active: 1,
  stopping: 2,
  failed: 3,
  aborted: 3,
  // Above `failed`: the file may be complete although the recording was marked as failed without an event.
  processing: 4,
  ready: 5,
};

const STATES: Record<ServerRecordingState, RecordingState> = {
  starting: 'starting',
  active: 'active',
  ending: 'stopping',
  failed: 'failed',
  aborted: 'aborted',
  complete: 'processing',
  limit_reached: 'processing',
};

/** The state after a report of the media server. */
export function nextState(current: RecordingState, reported: ServerRecordingState): RecordingState {
  const next = STATES[reported];
  return RANK[next] > RANK[current] ? next : current;
}

/** Whether a recording has reached its last state. */
export const isFinished = (state: RecordingState): boolean =>
  state === 'ready' || state === 'failed' || state === 'aborted';

/** The time at which a recording that finishes now is deleted. */
export const expiry = (): Date => new Date(Date.now() + KEEP_DAYS * DAY_MS);

/** Whether the media server still records although the recording was stopped or has failed. */
export const mustStop = (current: RecordingState, { state }: ServerRecording): boolean =>
  (state === 'starting' || state === 'active') && RANK[current] >= RANK.stopping;

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
