import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { CallChanges } from '../changes/call-changes.js';
import type { CallServerEvent } from '../call-server.js';
import { CALL_JOINED } from '../model/call-events.js';
import { CallsRepository } from '../calls.repository.js';
import { Kicks } from '../changes/kicks.js';
import { ParticipantsRepository } from '../participants.repository.js';
import { type ClaimEvent, ServerEvents } from '../server-events.js';
import { Reconciler } from './reconciler.js';

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
