import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import path from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import {
  type ClaimGrants,
  claimsToJwtPayload,
  EgressClient,
  type EgressInfo,
  EgressStatus,
  EncodedFileOutput,
  type ParticipantInfo,
  RoomServiceClient,
  ServerError,
  TokenVerifier,
  TrackSource,
  type VideoGrant,
  type WebhookEvent,
  WebhookReceiver,
} from 'livekit-server-sdk';
import { Config } from '../../../config/config.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import {
  type CallRole,
  CallServer,
  type CallServerEvent,
  JOIN_TOKEN_SECONDS,
  type JoinRequest,
  type ServerParticipant,
  type ServerRecording,
  type ServerRecordingState,
} from '../call-server.js';
import { CallErrors } from '../calls.dto.js';
import { type CallKey, callOfRoom, identityOf, roomNameOf } from '../model/call-events.js';

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

const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');

/** The signing key of an application of the media server, and the bearer of the token. */
export interface TokenSubject {
  key: string;
  secret: KeyObject;
  identity: string;
  /** Seconds for which the token is valid. */
  seconds: number;
}

/**
 * An access token of LiveKit: a JWT (RFC 7519) with HS256 and the claims of the SDK. The SDK imports the key for each token and
 * signs in the thread pool, which takes four times the processor time.
 */
export function signToken({ key, secret, identity, seconds }: TokenSubject, grants: ClaimGrants): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { ...claimsToJwtPayload(grants), iss: key, sub: identity, nbf: now, exp: now + seconds };
  const text = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** A request that takes longer fails. */
const TIMEOUT_SECONDS = 5;
/** Seconds after which the media server deletes a room that no participant has joined yet. */
const EMPTY_SECONDS = 600;
/** Seconds after which the media server deletes a room that all participants have left. */
const DEPARTURE_SECONDS = 300;

interface Clients {
  url: string;
  key: string;
  secret: KeyObject;
  rooms: RoomServiceClient;
  egress: EgressClient;
  webhooks: WebhookReceiver;
  signatures: TokenVerifier;
}

const { CAMERA, MICROPHONE, SCREEN_SHARE, SCREEN_SHARE_AUDIO } = TrackSource;

const SOURCES: Record<CallRole, TrackSource[]> = {
  member: [CAMERA, MICROPHONE, SCREEN_SHARE, SCREEN_SHARE_AUDIO],
  guest: [CAMERA, MICROPHONE],
  listener: [],
  viewer: [],
};

/** LiveKit, by its SDK: Twirp requests over HTTP, tokens and webhooks signed with the API secret. */
@Injectable()
export class LiveKitCallServer extends CallServer {
  readonly isConfigured = true;
  readonly canRecord: boolean;
  private readonly logger = new Logger(LiveKitCallServer.name);
  private readonly clients: Clients;

  constructor(private readonly config: Config) {
    super();
    this.clients = clientsOf(config);
    this.canRecord = config.LIVEKIT_RECORDINGS_DIR !== undefined;
  }

  override get clientUrl(): string {
    return this.clients.url.replace(/^http/, 'ws');
  }

  override async createRoom(call: CallKey, maxParticipants: number): Promise<void> {
    const options = {
      name: roomNameOf(call),
      emptyTimeout: EMPTY_SECONDS,
      departureTimeout: DEPARTURE_SECONDS,
      maxParticipants,
    };
    await this.request('create a room', ({ rooms }) => rooms.createRoom(options));
  }

  override async deleteRoom(call: CallKey): Promise<void> {
    await this.request('delete a room', ({ rooms }) => rooms.deleteRoom(roomNameOf(call)), null);
  }

  override async mintToken(call: CallKey, { identity, name, role, audioOnly }: JoinRequest): Promise<string> {
    const room = roomNameOf(call);
    // A token without a room name is valid for every room of the server.
    if (callOfRoom(room) === undefined) throw new Error('a token needs the room of a call');
    const { key, secret } = this.clients;
    const video = { roomJoin: true, room, canUpdateOwnMetadata: false, ...grantsOf(role, audioOnly) };
    return signToken({ key, secret, identity, seconds: JOIN_TOKEN_SECONDS }, { name, video });
  }

  override async removeParticipant(call: CallKey, identity: string): Promise<boolean> {
    const remove = async ({ rooms }: Clients) => {
      await rooms.removeParticipant(roomNameOf(call), identity);
      return true;
    };
    return this.request('remove a participant', remove, false);
  }

  override async makeListener(call: CallKey, identity: string): Promise<boolean> {
    const permission = { canPublish: false, canPublishData: false, canSubscribe: true };
    const update = async ({ rooms }: Clients) => {
      await rooms.updateParticipant(roomNameOf(call), identity, { permission });
      return true;
    };
    return this.request('revoke the right to publish', update, false);
  }

  override async listRooms(calls: readonly CallKey[]): Promise<CallKey[]> {
    if (calls.length === 0) return [];
    return this.request('list rooms', async (clients) => {
      const rooms = await clients.rooms.listRooms(calls.map(roomNameOf));
      return rooms.flatMap(({ name }) => callOfRoom(name) ?? []);
    });
  }

  override async listParticipants(call: CallKey): Promise<ServerParticipant[]> {
    const list = async ({ rooms }: Clients) => {
      const participants = await rooms.listParticipants(roomNameOf(call));
      return participants.filter(({ identity }) => identityOf(identity)).map(participantOf);
    };
    return this.request('list participants', list, []);
  }

  override async startRecording(call: CallKey, file: string): Promise<ServerRecording> {
    const directory = this.config.LIVEKIT_RECORDINGS_DIR;
    if (directory === undefined) throw CallErrors.recordingNotConfigured.with();
    const output = new EncodedFileOutput({ filepath: path.join(directory, file), disableManifest: true });
    return this.request('start a recording', async ({ egress }) => {
      const room = roomNameOf(call);
      const started = recordingOf(
        await egress.startRoomCompositeEgress(room, { file: output }, { layout: 'grid' }),
      );
      if (!started) throw new Error('the recording has no room or no file');
      return started;
    });
  }

  override async stopRecording(egressId: string): Promise<ServerRecording | null> {
    const stop = async ({ egress }: Clients) => recordingOf(await egress.stopEgress(egressId)) ?? null;
    return this.request('stop a recording', stop, null);
  }

  override async listRecordings(call: CallKey): Promise<ServerRecording[]> {
    const list = async ({ egress }: Clients) => {
      const recordings = await egress.listEgress({ roomName: roomNameOf(call) });
      return recordings.flatMap((info) => recordingOf(info) ?? []);
    };
    return this.request('list recordings', list, []);
  }

  override async assertSigned(authorization: string | undefined): Promise<void> {
    try {
      await this.clients.signatures.verify(authorization ?? '');
    } catch (error) {
      throw this.rejection(error);
    }
  }

  override async receiveEvent(
    body: string,
    authorization: string | undefined,
  ): Promise<CallServerEvent | null> {
    const { webhooks } = this.clients;
    try {
      return eventOf(await webhooks.receive(body, authorization));
    } catch (error) {
      throw this.rejection(error);
    }
  }

  private rejection(error: unknown): ApiError {
    this.logger.warn({ err: error }, 'event of the media server rejected');
    return Errors.unauthorized.with({ message: 'The signature of the event is missing or invalid.' });
  }

  /**
   * @param send sends the request and reads the response
   * @param missing the result when the object of the request does not exist, or has ended; undefined: an error
   * @throws ApiError 503 when the media server does not respond or rejects the request, 502 for an invalid response
   */
  private async request<T, M = never>(
    what: string,
    send: (clients: Clients) => Promise<T>,
    missing?: M,
  ): Promise<T | M> {
    const clients = this.clients;
    try {
      return await send(clients);
    } catch (error) {
      if (missing !== undefined && isMissing(error)) return missing;
      this.logger.warn({ err: error }, `the media server could not ${what}`);
      if (isFaulty(error)) throw CallErrors.serverFaulty.with();
      throw CallErrors.serverUnavailable.with({ headers: { 'Retry-After': '5' } });
    }
  }
}

function clientsOf(config: Config): Clients {
  const { LIVEKIT_URL: url = '', LIVEKIT_API_KEY: key = '', LIVEKIT_API_SECRET: secret = '' } = config;
  const options = { requestTimeout: TIMEOUT_SECONDS, failover: false };
  return {
    url,
    key,
    secret: createSecretKey(secret, 'utf8'),
    rooms: new RoomServiceClient(url, key, secret, options),
    egress: new EgressClient(url, key, secret, options),
    webhooks: new WebhookReceiver(key, secret),
    signatures: new TokenVerifier(key, secret),
  };
}

/** Contains no administrative grants, because moderators send their requests to this service. */
function grantsOf(role: CallRole, audioOnly = false): VideoGrant {
  const sources = audioOnly ? SOURCES[role].filter((source) => source === MICROPHONE) : SOURCES[role];
  return {
    canPublish: sources.length > 0,
    ...(sources.length > 0 && { canPublishSources: sources }),
    canPublishData: role === 'member',
    canSubscribe: true,
    hidden: role === 'viewer',
  };
}

/** Whether a response arrived that could not be read: `fetch` reports failures of the connection with a cause, or as a DOMException. */
const isFaulty = (error: unknown): boolean =>
  !(error instanceof ServerError) &&
  !(error instanceof DOMException) &&
  !(error instanceof TypeError && error.cause !== undefined);

/** `failed_precondition`: a recording that has ended cannot be stopped. */
const isMissing = (error: unknown): boolean =>
  error instanceof ServerError && (error.code === 'not_found' || error.code === 'failed_precondition');
