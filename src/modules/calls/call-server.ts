import { CallErrors } from './calls.dto.js';
import type { CallKey } from './model/call-events.js';

/** Seconds in which a token must be used to join. */
export const JOIN_TOKEN_SECONDS = 120;

/**
 * Rights of a participant in a call.
 * - `member`: camera, microphone, screen and data
 * - `guest`: camera and microphone
 * - `listener`: receive only, visible to others: members in the audience of a livestream
 * - `viewer`: receive only, hidden from others: guests of a livestream
 */
export type CallRole = 'member' | 'guest' | 'listener' | 'viewer';

export interface JoinRequest {
  /** See `call-events.ts`. */
  identity: string;
  /** Shown to other participants. */
  name: string;
  role: CallRole;
  /** Whether camera and screen are excluded. */
  audioOnly?: boolean;
}

/** A connection to a call, as the media server reports it. */
export interface ServerParticipant {
  identity: string;
  /** New for each connection of the same identity. */
  connectionId: string;
  joinedAt: Date;
  /** Whether they may publish tracks. */
  canPublish: boolean;
}

/** State of a recording at the media server. `limit_reached`: the file is complete up to a limit of the media server. */
export type ServerRecordingState =
  | 'starting'
  | 'active'
  | 'ending'
  | 'complete'
  | 'failed'
  | 'aborted'
  | 'limit_reached';

export interface ServerRecording {
  call: CallKey;
  egressId: string;
  state: ServerRecordingState;
  /** Base name of its file. */
  file: string;
  startedAt: Date | null;
  endedAt: Date | null;
  durationMs: number | null;
  error: string | null;
}

interface ServerEventBase {
  /** Unique; a repeated delivery has the same id. */
  id: string;
  call: CallKey;
  at: Date;
}

export type CallServerEvent = ServerEventBase &
  (
    | { type: 'room_finished' }
    | { type: 'participant_joined' | 'participant_left'; participant: ServerParticipant }
    | { type: 'recording'; recording: ServerRecording }
  );

/**
 * The media server. Methods throw 503 `call_server_not_configured` without one, and 503 `call_server_unavailable` when it does
 * not respond or responds with an error.
 */
export abstract class CallServer {
  abstract readonly isConfigured: boolean;

  /** Whether calls can be recorded: the installation has a directory for recordings. */
  abstract readonly canRecord: boolean;

  /** Address for clients: ws or wss. @throws ApiError 503 */
  abstract get clientUrl(): string;

  /** Creates the room of a call, unless it exists. @param maxParticipants includes guests and viewers */
  abstract createRoom(call: CallKey, maxParticipants: number): Promise<void>;

  /** Disconnects all participants and deletes the room, if it exists. */
  abstract deleteRoom(call: CallKey): Promise<void>;

  /** Signs a token for one room, valid for {@link JOIN_TOKEN_SECONDS}. Sends no request. */
  abstract mintToken(call: CallKey, request: JoinRequest): Promise<string>;

  /** Disconnects a participant. They can connect again with a valid token. @returns false when they are not connected */
  abstract removeParticipant(call: CallKey, identity: string): Promise<boolean>;

  /** Reduces the rights of a participant to those of a `listener`. @returns false when they are not connected */
  abstract makeListener(call: CallKey, identity: string): Promise<boolean>;

  /** Of these calls, returns the ones that have a room. */
  abstract listRooms(calls: readonly CallKey[]): Promise<CallKey[]>;

  /** Connected participants, without recorders; empty for a call without a room. */
  abstract listParticipants(call: CallKey): Promise<ServerParticipant[]>;

  /** @param file base name for the file of the recording */
  abstract startRecording(call: CallKey, file: string): Promise<ServerRecording>;

  /** @returns null when the recording has ended already */
  abstract stopRecording(egressId: string): Promise<ServerRecording | null>;

  /** Recordings of a call that the media server remembers, ended ones included. */
  abstract listRecordings(call: CallKey): Promise<ServerRecording[]>;

  /**
   * Checks the signature of an event without its body.
   * @throws ApiError 401 for a missing or invalid signature, 503
   */
  abstract assertSigned(authorization: string | undefined): Promise<void>;

  /**
   * Verifies and parses an event that the media server has sent.
   * @param body text as received
   * @param authorization the `Authorization` header: a token without a scheme
   * @returns null for an event that this service ignores, or of a room of another service
   * @throws ApiError 401 for a missing or invalid signature, 503
   */
  abstract receiveEvent(body: string, authorization: string | undefined): Promise<CallServerEvent | null>;
}

/** An installation without a media server: every method throws 503 `call_server_not_configured`. */
export class MissingCallServer extends CallServer {
  override readonly isConfigured = false;
  override readonly canRecord = false;

  override get clientUrl(): string {
    throw CallErrors.serverNotConfigured.with();
  }

  override createRoom = reject;
  override deleteRoom = reject;
  override mintToken = reject;
  override removeParticipant = reject;
  override makeListener = reject;
  override listRooms = reject;
  override listParticipants = reject;
  override startRecording = reject;
  override stopRecording = reject;
  override listRecordings = reject;
  override assertSigned = reject;
  override receiveEvent = reject;
}

async function reject(): Promise<never> {
  throw CallErrors.serverNotConfigured.with();
}
