import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { CallServer, type CallServerEvent } from '../call-server.js';
import { CallsRepository } from '../calls.repository.js';
import type { Call } from '../calls.schema.js';
import { CallChanges, CallEnding } from '../changes/call-changes.js';
import { Kicks } from '../changes/kicks.js';
import { CALL_JOINED, type CallKey, roomNameOf } from '../model/call-events.js';
import { ParticipantsRepository } from '../participants.repository.js';
import { type ClaimEvent, ServerEvents } from '../server-events.js';

/** Seconds after which a call without participants ends. */
const EMPTY_SECONDS = 300;
/** Shorter than the 15 seconds between two runs of jobs, so that the job is due at each of them. */
const INTERVAL_SECONDS = 10;
/** Calls in one request to the media server. */
const BATCH = 200;

const now = workspace.statement<{ now: Date }>('calls.now', `SELECT clock_timestamp() AS now`, {
  reach: 'cell',
});

/** Corrects calls by the lists of the media server, because its events may be lost, and ends calls without participants. */
@Injectable()
export class Reconciler implements OnModuleInit {
  private readonly logger = new Logger(Reconciler.name);

  constructor(
    private readonly calls: CallsRepository,
    private readonly participants: ParticipantsRepository,
    private readonly ending: CallEnding,
    private readonly kicks: Kicks,
    private readonly server: CallServer,
    private readonly changes: CallChanges,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'calls.reconcile',
      everySeconds: INTERVAL_SECONDS,
      queue: 'calls',
      run: () => this.run(),
    });
  }

  /** Reconciles all live calls. @throws ApiError 503 */
  async run(): Promise<void> {
    if (!this.server.isConfigured) return;
    let batch = await this.calls.listLive(null, BATCH);
    while (batch.length > 0) {
      const rooms = new Set((await this.server.listRooms(batch)).map(roomNameOf));
      for (const call of batch) await this.tryReconcile(call, rooms.has(roomNameOf(call)));
      batch = batch.length < BATCH ? [] : await this.calls.listLive(batch.at(-1) as CallKey, BATCH);
    }
  }

  /** @param hasRoom false: the media server has no room for the call, so its participants are not requested. @throws ApiError 503 */
  async reconcile(key: CallKey, hasRoom = true): Promise<void> {
    const [clock] = await this.db.query(now, []);
    const listed = hasRoom ? await this.server.listParticipants(key) : [];
    const isOverdue = await this.db.tx(async (tx) => {
      const call = await this.calls.lock(tx, key);
      if (call?.state !== 'live') return false;
      if (await this.participants.recordList(tx, key, listed, (clock as { now: Date }).now))
        this.changes.report(tx, key, 'updated');
      return isEmptyFor(await this.calls.find(key, tx));
    });
    await this.kicks.enforce(key);
    const publishing = listed.filter(({ canPublish }) => canPublish).map(({ identity }) => identity);
    await this.kicks.makeListeners(key, publishing);
    if (isOverdue) await this.ending.end(key, { only: isEmptyFor });
  }

  /** Logs a failure of one call, so that the others are still reconciled. */
  private async tryReconcile(call: CallKey, hasRoom: boolean): Promise<void> {
    try {
      await this.reconcile(call, hasRoom);
    } catch (error) {
      this.logger.warn({ err: error, call: call.callId }, 'call not reconciled; it will be retried');
    }
  }
}

const isEmptyFor = (call: Pick<Call, 'empty_since'> | null): boolean =>
  call !== null &&
  call.empty_since !== null &&
  Date.now() - call.empty_since.getTime() > EMPTY_SECONDS * 1000;

type ParticipantEvent = Extract<CallServerEvent, { type: 'participant_joined' | 'participant_left' }>;

/** Connections and disconnections of participants. Events may be lost, repeated, late and in any order. */
@Injectable()
export class ParticipantEvents implements OnModuleInit {
  constructor(
    private readonly events: ServerEvents,
    private readonly calls: CallsRepository,
    private readonly participants: ParticipantsRepository,
    private readonly reconciler: Reconciler,
    private readonly kicks: Kicks,
    private readonly changes: CallChanges,
    private readonly outbox: Outbox,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.events.on('participant_joined', (event, claim) => this.apply(event, claim));
    this.events.on('participant_left', (event, claim) => this.apply(event, claim));
    // A new room may have the same name, so the event alone does not mean that the participants have left.
    this.events.on('room_finished', ({ call }) => this.reconciler.reconcile(call));
  }

  private async apply(event: ParticipantEvent, claim: ClaimEvent): Promise<void> {
    const { call: key, participant, at } = event;
    const isConnected = event.type === 'participant_joined';
    const joined = await this.db.tx(async (tx) => {
      if (!(await claim(tx))) return undefined;
      const call = await this.calls.lock(tx, key);
      if (!call) return undefined;
      if (call.state !== 'live') return isConnected ? 'unwanted' : undefined;
      const leftAt = new Date(Math.max(at.getTime(), participant.joinedAt.getTime()));
      const isNew = await this.participants.recordConnection(
        tx,
        key,
        participant,
        isConnected ? null : leftAt,
      );
      if (!isNew) return undefined;
      this.changes.report(tx, key, 'updated');
      if (isConnected && call.auto_record)
        await this.outbox.append(tx, {
          tenantId: key.tenantId,
          type: CALL_JOINED,
          payload: { call_id: key.callId, host_id: call.host_id },
        });
      return isConnected ? 'recorded' : undefined;
    });
    if (joined === 'unwanted') await this.kicks.kick(key, participant.identity);
    if (joined === 'recorded') await this.kicks.admit(key, participant.identity);
  }
}
