import path from 'node:path';
import { type EgressInfo, EgressStatus, type ParticipantInfo, type WebhookEvent } from 'livekit-server-sdk';
import { callOfRoom, identityOf } from '../model/call-identity.js';
import type {
  CallServerEvent,
  ServerParticipant,
  ServerRecording,
  ServerRecordingState,
} from '../call-server.js';

const STATES: Record<EgressStatus, ServerRecordingState> = {
  [EgressStatus.EGRESS_STARTING]: 'starting',
  [EgressStatus.EGRESS_ACTIVE]: 'active',
  [EgressStatus.EGRESS_ENDING]: 'ending',
  [EgressStatus.EGRESS_COMPLETE]: 'complete',
  [EgressStatus.EGRESS_FAILED]: 'failed',
  [EgressStatus.EGRESS_ABORTED]: 'aborted',
  [EgressStatus.EGRESS_LIMIT_REACHED]: 'limit_reached',
};

const NANOSECONDS = 1_000_000n;

/** Older servers report seconds only. */
export const participantOf = ({
  identity,
  sid,
  joinedAt,
  joinedAtMs,
  permission,
}: ParticipantInfo): ServerParticipant => ({
  identity,
  connectionId: sid,
  joinedAt: new Date(Number(joinedAtMs > 0n ? joinedAtMs : joinedAt * 1000n)),
  canPublish: permission?.canPublish ?? false,
});

/** @returns undefined for a recording of another service, or one that writes no file */
export function recordingOf(info: EgressInfo): ServerRecording | undefined {
  const call = callOfRoom(info.roomName);
  const file = fileOf(info);
  if (!call || file === undefined) return undefined;
  const [result] = info.fileResults;
  return {
    call,
    egressId: info.egressId,
    state: STATES[info.status],
    file: path.basename(file),
    startedAt: timeOf(info.startedAt),
    endedAt: timeOf(info.endedAt),
    durationMs: result ? Number(result.duration / NANOSECONDS) : null,
    error: info.error || null,
  };
}

/** @returns null for an event that this service ignores */
export function eventOf(event: WebhookEvent): CallServerEvent | null {
  const { id, createdAt, room, participant, egressInfo } = event;
  const at = new Date(Number(createdAt) * 1000);
  if (egressInfo) {
    const recording = recordingOf(egressInfo);
    return recording ? { id, at, type: 'recording', call: recording.call, recording } : null;
  }
  const call = room && callOfRoom(room.name);
  if (!call) return null;
  if (event.event === 'room_finished') return { id, at, call, type: event.event };
  // Recorders and ingresses are participants with identities of the media server.
  if (!participant || !identityOf(participant.identity)) return null;
  if (event.event !== 'participant_joined' && event.event !== 'participant_left') return null;
  return { id, at, call, type: event.event, participant: participantOf(participant) };
}

function fileOf({ request, fileResults }: EgressInfo): string | undefined {
  if (request.case === 'roomComposite') {
    const { fileOutputs, output } = request.value;
    const requested = fileOutputs[0] ?? (output.case === 'file' ? output.value : undefined);
    if (requested) return requested.filepath;
  }
  return fileResults[0]?.filename;
}

const timeOf = (nanoseconds: bigint): Date | null =>
  nanoseconds > 0n ? new Date(Number(nanoseconds / NANOSECONDS)) : null;
