import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Connection } from '../../../platform/realtime/connection.js';
import { defineClientEvent, defineServerEvent } from '../../../platform/realtime/event-declarations.js';
import { SocketEvents } from '../../../platform/realtime/socket-events.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import { CallAccess } from '../call-access.js';
import { CallChanges } from '../changes/call-changes.js';
import { CallsRepository } from '../calls.repository.js';
import {
  RecordingDeletedResponse,
  RecordingEnvelope,
  SocketStartRecording,
  SocketStopRecording,
} from './recordings.dto.js';
import { RecordingsRepository } from './recordings.repository.js';
import { RecordingsService } from './recordings.service.js';

const START = defineClientEvent(
  'call.recording.start',
  'Start a recording, as with `POST /call/{call_id}/recordings`.',
  SocketStartRecording,
  RecordingEnvelope,
);
const STOP = defineClientEvent(
  'call.recording.stop',
  'Stop a recording.',
  SocketStopRecording,
  RecordingEnvelope,
);
const UPDATED = defineServerEvent(
  'recording.updated',
  'A recording that you may see changed.',
  RecordingEnvelope,
);

const DELETED = defineServerEvent(
  'recording.deleted',
  'A recording of a call that you may join was deleted.',
  RecordingDeletedResponse,
);

/** Recordings over sockets: start, stop, and changes for users who may see the recording. */
@Injectable()
export class RecordingSockets implements OnModuleInit {
  private readonly logger = new Logger(RecordingSockets.name);

  constructor(
    private readonly events: SocketEvents,
    private readonly recordings: RecordingsService,
    private readonly access: CallAccess,
    private readonly calls: CallsRepository,
    private readonly rows: RecordingsRepository,
    private readonly changes: CallChanges,
    private readonly connections: UserConnections,
  ) {}

  onModuleInit(): void {
    this.events.register(START, async ({ ctx }, { call_id }) => {
      await this.access.assertPermission(ctx, 'calls.record');
      return { recording: await this.recordings.start(ctx, call_id.toLowerCase()) };
    });
    this.events.register(STOP, async ({ ctx }, { call_id, recording_id }) => {
      await this.access.assertPermission(ctx, 'calls.record');
      const ids = [call_id.toLowerCase(), recording_id.toLowerCase()] as const;
      return { recording: await this.recordings.stop(ctx, ...ids) };
    });
    this.changes.subscribe(({ tenant, call, recording }) => {
      if (recording === undefined || !this.connections.hasTenant(tenant)) return;
      this.deliver(tenant, call, recording).catch((error: unknown) =>
        this.logger.warn({ err: error }, 'change of a recording not delivered'),
      );
    });
  }

  private async deliver(tenantId: string, callId: string, id: string): Promise<void> {
    const key = { tenantId, callId };
    const recording = await this.recordings.find(key, id);
    const users = recording ? await this.rows.audience(tenantId, id) : await this.calls.audience(key);
    const connections = this.connections.ofUsers(tenantId, users);
    if (recording) Connection.sendAll(connections, UPDATED, { recording });
    else Connection.sendAll(connections, DELETED, { recording_id: id, call_id: callId });
  }
}
