import { createSecretKey, type KeyObject } from 'node:crypto';
import path from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import {
  EgressClient,
  EncodedFileOutput,
  RoomServiceClient,
  ServerError,
  TrackSource,
  TokenVerifier,
  type VideoGrant,
  WebhookReceiver,
} from 'livekit-server-sdk';
import { Config } from '../../../config/config.js';
import type { ApiError } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import {
  CallServer,
  type CallServerEvent,
  type JoinRequest,
  JOIN_TOKEN_SECONDS,
  type CallRole,
  type ServerParticipant,
  type ServerRecording,
} from '../call-server.js';
import { type CallKey, callOfRoom, identityOf, roomNameOf } from '../model/call-identity.js';
import { CallErrors } from '../calls.errors.js';
import { signToken } from './livekit-tokens.js';
import { eventOf, participantOf, recordingOf } from './livekit-values.js';

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
