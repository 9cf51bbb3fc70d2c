import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { CALL_JOINED } from '../model/call-events.js';
import { CallAccess } from '../call-access.js';
import { CallServer } from '../call-server.js';
import { CallErrors } from '../calls.dto.js';
import { ApiError } from '../../../platform/http/errors.js';
import { ServerEvents } from '../server-events.js';
import { fileOf, RecordingChanges } from './recording-changes.js';
import { RecordingFiles } from './recording-files.js';
import { type OpenRecording, RecordingsRepository } from './recordings.repository.js';
import { RecordingsService } from './recordings.service.js';

const INTERVAL_SECONDS = 10;
const BATCH = 200;
/** Seconds after which a recording that the media server does not know has failed. */
const UNKNOWN_SECONDS = 60;
/** Seconds in which the file of a complete recording must arrive. */
const FILE_SECONDS = 3_600;
/** Seconds after which storing a file is retried: later than the last attempt of the outbox. */
const STORE_SECONDS = 4 * 3_600;

/** Updates recordings by the events and the lists of the media server, so that each one is finished at some time. */
@Injectable()
export class RecordingEvents implements OnModuleInit {
  private readonly logger = new Logger(RecordingEvents.name);

  constructor(
    private readonly events: ServerEvents,
    private readonly changes: RecordingChanges,
    private readonly recordings: RecordingsRepository,
    private readonly service: RecordingsService,
    private readonly files: RecordingFiles,
    private readonly server: CallServer,
    private readonly access: CallAccess,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.events.on('recording', ({ recording }, claim) => this.changes.apply(recording, claim));
    const autoRecord = async ({ tenantId, payload }: DomainEvent) => {
      const { call_id: callId, host_id: userId } = payload as { call_id: string; host_id: string };
      await this.autoRecord(tenantId, callId, userId);
    };
    this.outbox.subscribe(CALL_JOINED, 'calls.auto-record', autoRecord, 'calls');
    this.jobs.register({
      name: 'calls.reconcile-recordings',
      everySeconds: INTERVAL_SECONDS,
      queue: 'calls',
      run: () => this.reconcile(),
    });
  }

  /** Compares all open recordings with the lists of the media server. */
  async reconcile(): Promise<void> {
    if (!this.server.isConfigured) return;
    let batch = await this.recordings.open(null, BATCH);
    while (batch.length > 0) {
      for (const recording of batch) await this.tryFollow(recording);
      batch = batch.length < BATCH ? [] : await this.recordings.open(batch.at(-1) as OpenRecording, BATCH);
    }
  }

  /** Starts the recording for the first participant, unless the host may no longer record. For later participants it exists. */
  private async autoRecord(tenantId: string, callId: string, userId: string): Promise<void> {
    if (!this.server.canRecord || (await this.recordings.exists({ tenantId, callId }))) return;
    if (!(await this.access.holds({ tenantId, userId }, 'calls.record'))) return;
    try {
      await this.service.startBy({ tenantId, userId }, { tenantId, callId });
    } catch (error) {
      const isOver = error instanceof ApiError && error.kind.status === CallErrors.recordingActive.status;
      if (!isOver) throw error;
    }
  }

  private async tryFollow(recording: OpenRecording): Promise<void> {
    try {
      await this.follow(recording);
    } catch (error) {
      this.logger.warn(
        { err: error, recording: recording.id },
        'recording not reconciled; it will be retried',
      );
    }
  }

  private async follow({ tenantId, callId, id, state, age }: OpenRecording): Promise<void> {
    const key = { tenantId, callId };
    if (state === 'processing') {
      if (age <= FILE_SECONDS) return;
      if (!(await this.files.hasFile(fileOf(id)))) await this.changes.fail(key, id, 'file_missing');
      else if (age > STORE_SECONDS) await this.changes.storeAgain(key, id);
      return;
    }
    const reports = await this.server.listRecordings(key);
    const report = reports.find(({ file }) => file.startsWith(id));
    if (report) await this.changes.apply(report);
    else if (age > UNKNOWN_SECONDS) await this.changes.fail(key, id, 'unknown_to_call_server');
  }
}
