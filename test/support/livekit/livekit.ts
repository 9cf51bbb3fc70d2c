import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  DisconnectReason,
  EgressInfo,
  EgressStatus,
  FileInfo,
  ListEgressRequest,
  ListEgressResponse,
  ListParticipantsRequest,
  ListParticipantsResponse,
  ListRoomsRequest,
  ListRoomsResponse,
  ParticipantInfo,
  ParticipantPermission,
  Room,
  RoomCompositeEgressRequest,
  RoomParticipantIdentity,
  StopEgressRequest,
  CreateRoomRequest,
  DeleteRoomRequest,
  UpdateParticipantRequest,
  WebhookEvent,
} from '@livekit/protocol';
import { SignJWT } from 'jose';
import { TokenVerifier } from 'livekit-server-sdk';
import { Webhooks } from './webhooks.ts';

type Grants = NonNullable<Awaited<ReturnType<TokenVerifier['verify']>>['video']>;

/** An error of Twirp: code, and the status that it has over HTTP. */
class TwirpFailure extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const NOT_FOUND = (what: string) => new TwirpFailure('not_found', 404, `${what} does not exist`);

interface LiveRoom {
  room: Room;
  participants: Map<string, ParticipantInfo>;
}

/** A client that is connected to a room. */
export interface Connection {
  identity: string;
  sid: string;
  room: string;
  /** LiveKit gives connected clients new tokens, valid for ten minutes, also to those that are about to be removed. */
  freshToken: string;
}

/**
 * A media server that speaks LiveKit's protocol: Twirp requests and webhooks with the messages of `@livekit/protocol`, tokens
 * that are verified like LiveKit does. Rooms, participants and recordings exist in memory; tests act as clients with `join` and
 * as egress with `activate`, `complete` and the like.
 */
export class LiveKit {
  readonly key = 'test-key';
  readonly secret = randomBytes(24).toString('hex');
  readonly directory = mkdtempSync(path.join(tmpdir(), 'recordings-'));
  readonly rooms = new Map<string, LiveRoom>();
  readonly egresses = new Map<string, EgressInfo>();
  readonly webhooks = new Webhooks(this.key, this.secret);
  /** Requests by method. */
  readonly requests: string[] = [];
  /** Methods without a response. */
  readonly hanging = new Set<string>();
  /** Methods that fail with 503. */
  readonly failing = new Set<string>();
  /** Invalid responses by method. */
  readonly faulty = new Map<string, unknown>();
  /** Every request fails with 503. */
  unavailable = false;
  /** A stopped recording completes at once. */
  completesOnStop = true;
  private readonly verifier = new TokenVerifier(this.key, this.secret);
  private server: Server | undefined;
  private port = 0;
  private clock = Date.now();

  static async start(): Promise<LiveKit> {
    const made = new LiveKit();
    await made.listen();
    return made;
  }

  /** Settings of an application that uses this server. */
  get settings(): Record<string, string> {
    return {
      LIVEKIT_URL: `ws://127.0.0.1:${this.port}`,
      LIVEKIT_API_KEY: this.key,
      LIVEKIT_API_SECRET: this.secret,
      LIVEKIT_RECORDINGS_DIR: this.directory,
    };
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.respond(request, response));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  /** The server rejects connections until `listen`. Rooms and participants stay. */
  async unlisten(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => {
      if (server) server.close(() => resolve());
      else resolve();
    });
  }

  async stop(): Promise<void> {
    await this.unlisten();
    await this.webhooks.settled();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Connects a client. @throws Error as LiveKit rejects it: invalid token, unknown room (`auto_create: false`), full room */
  async join(token: string): Promise<Connection> {
    const claims = await this.verifier.verify(token);
    const { video: grants, sub: identity = '', name = '' } = claims;
    if (!grants?.roomJoin) throw new Error('permissions denied: no roomJoin');
    // LiveKit accepts a token without a room for every room. The service must never create one.
    if (!grants.room) throw new Error('the token opens every room');
    const live = this.rooms.get(grants.room);
    if (!live) throw new Error('requested room does not exist');
    const { maxParticipants } = live.room;
    const previous = live.participants.get(identity);
    if (previous) await this.disconnect(grants.room, identity, DisconnectReason.DUPLICATE_IDENTITY);
    if (maxParticipants > 0 && live.participants.size >= maxParticipants)
      throw new Error('room is full: max participants exceeded');
    const now = this.tick();
    const participant = new ParticipantInfo({
      sid: `PA_${randomUUID().slice(0, 12)}`,
      identity,
      name,
      joinedAt: BigInt(Math.floor(now / 1000)),
      joinedAtMs: BigInt(now),
      permission: new ParticipantPermission({ canPublish: grants.canPublish ?? true }),
    });
    live.participants.set(identity, participant);
    await this.send('participant_joined', { room: live.room, participant });
    const freshToken = await this.freshToken(identity, name, grants);
    return { identity, sid: participant.sid, room: grants.room, freshToken };
  }

  /** Disconnects a client that is still connected. */
  async leave({ room, identity, sid }: Connection): Promise<void> {
    if (this.rooms.get(room)?.participants.get(identity)?.sid !== sid) return;
    await this.disconnect(room, identity, DisconnectReason.CLIENT_INITIATED);
  }

  isConnected({ room, identity, sid }: Connection): boolean {
    return this.rooms.get(room)?.participants.get(identity)?.sid === sid;
  }

  /** Whether a connected participant may publish tracks. */
  canPublish = ({ room, identity }: Connection): boolean | undefined =>
    this.rooms.get(room)?.participants.get(identity)?.permission?.canPublish;

  /** Identities of a room. */
  connected = (room: string): string[] => [...(this.rooms.get(room)?.participants.keys() ?? [])].toSorted();

  /** Closes a room, as LiveKit does when it has been empty for too long. */
  async closeRoom(name: string): Promise<void> {
    const live = this.rooms.get(name);
    if (!live) return;
    for (const identity of live.participants.keys())
      await this.disconnect(name, identity, DisconnectReason.ROOM_DELETED);
    this.rooms.delete(name);
    await this.send('room_finished', { room: live.room });
    for (const egress of this.egresses.values())
      if (egress.roomName === name && egress.status <= EgressStatus.EGRESS_ENDING)
        await this.complete(egress.egressId);
  }

  /** The only recording of a room that is not over. */
  egressOf(room: string): EgressInfo {
    const found = [...this.egresses.values()].findLast(({ roomName }) => roomName === room);
    if (!found) throw new Error(`no recording of ${room}`);
    return found;
  }

  async activate(egressId: string): Promise<void> {
    await this.changeEgress(egressId, 'egress_updated', { status: EgressStatus.EGRESS_ACTIVE });
  }

  /** Writes the file of a recording and reports its end. */
  async complete(
    egressId: string,
    bytes = Buffer.from('video'),
    status: EgressStatus = EgressStatus.EGRESS_COMPLETE,
  ): Promise<void> {
    const file = fileOf(this.egresses.get(egressId) as EgressInfo);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    const duration = 90_000_000_000n;
    const result = new FileInfo({ filename: file, location: file, size: BigInt(bytes.length), duration });
    await this.changeEgress(egressId, 'egress_ended', {
      status,
      endedAt: this.nanoseconds(),
      fileResults: [result],
    });
  }

  async fail(
    egressId: string,
    status: EgressStatus = EgressStatus.EGRESS_FAILED,
    error = 'pipeline',
  ): Promise<void> {
    await this.changeEgress(egressId, 'egress_ended', { status, error, endedAt: this.nanoseconds() });
  }

  private async changeEgress(id: string, event: string, values: Partial<EgressInfo>): Promise<void> {
    const info = new EgressInfo({
      ...(this.egresses.get(id) as EgressInfo),
      ...values,
      updatedAt: this.nanoseconds(),
    });
    this.egresses.set(id, info);
    await this.send(event, { egressInfo: info });
  }

  private async disconnect(room: string, identity: string, reason: DisconnectReason): Promise<void> {
    const live = this.rooms.get(room) as LiveRoom;
    const participant = live.participants.get(identity) as ParticipantInfo;
    live.participants.delete(identity);
    participant.disconnectReason = reason;
    await this.send('participant_left', { room: live.room, participant });
  }

  private async send(event: string, values: Partial<WebhookEvent>): Promise<void> {
    const createdAt = BigInt(Math.ceil(this.tick() / 1000));
    await this.webhooks.send(new WebhookEvent({ event, id: `EV_${randomUUID()}`, createdAt, ...values }));
  }

  private async freshToken(identity: string, name: string, grants: Grants): Promise<string> {
    return new SignJWT({ name, video: { ...grants } })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(this.key)
      .setSubject(identity)
      .setNotBefore('0s')
      .setExpirationTime('10m')
      .sign(Buffer.from(this.secret));
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const method = (request.url ?? '').replace('/twirp/livekit.', '');
    this.requests.push(method);
    if (this.hanging.has(method)) return;
    try {
      if (this.unavailable || this.failing.has(method))
        throw new TwirpFailure('unavailable', 503, 'no healthy nodes');
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      const grants = await this.authorize(request.headers.authorization);
      const result = this.faulty.get(method) ?? (await this.run(method, body as never, grants));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
    } catch (error) {
      const { code, status, message } =
        error instanceof TwirpFailure ? error : new TwirpFailure('internal', 500, String(error));
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code, msg: message }));
    }
  }

  private async authorize(header = ''): Promise<Grants> {
    if (!header.startsWith('Bearer ')) throw new TwirpFailure('unauthenticated', 401, 'no token');
    const claims = await this.verifier.verify(header.slice('Bearer '.length)).catch(() => {
      throw new TwirpFailure('unauthenticated', 401, 'invalid token');
    });
    return claims.video ?? {};
  }

  private async run(method: string, body: never, grants: Grants): Promise<unknown> {
    const need = (allowed: boolean | undefined) => {
      if (!allowed) throw new TwirpFailure('permission_denied', 403, 'permissions denied');
    };
    const options = { ignoreUnknownFields: true };
    switch (method) {
      case 'RoomService/CreateRoom':
        need(grants.roomCreate);
        return this.createRoom(CreateRoomRequest.fromJson(body, options)).toJson();
      case 'RoomService/ListRooms': {
        need(grants.roomList);
        const { names } = ListRoomsRequest.fromJson(body, options);
        const rooms = [...this.rooms.values()].map(({ room }) => room);
        const found = rooms.filter(({ name }) => names.length === 0 || names.includes(name));
        return new ListRoomsResponse({ rooms: found }).toJson();
      }
      case 'RoomService/DeleteRoom': {
        need(grants.roomCreate);
        const { room } = DeleteRoomRequest.fromJson(body, options);
        if (!this.rooms.has(room)) throw NOT_FOUND('room');
        await this.closeRoom(room);
        return {};
      }
      case 'RoomService/ListParticipants': {
        const { room } = ListParticipantsRequest.fromJson(body, options);
        need(grants.roomAdmin && grants.room === room);
        const participants = [...this.live(room).participants.values()];
        return new ListParticipantsResponse({ participants }).toJson();
      }
      case 'RoomService/RemoveParticipant': {
        const { room, identity } = RoomParticipantIdentity.fromJson(body, options);
        need(grants.roomAdmin && grants.room === room);
        if (!this.live(room).participants.has(identity)) throw NOT_FOUND('participant');
        await this.disconnect(room, identity, DisconnectReason.PARTICIPANT_REMOVED);
        return {};
      }
      case 'RoomService/UpdateParticipant': {
        const { room, identity, permission } = UpdateParticipantRequest.fromJson(body, options);
        need(grants.roomAdmin && grants.room === room);
        const participant = this.live(room).participants.get(identity);
        if (!participant) throw NOT_FOUND('participant');
        if (permission) participant.permission = permission;
        return participant.toJson();
      }
      case 'Egress/StartRoomCompositeEgress':
        need(grants.roomRecord);
        return (await this.startEgress(RoomCompositeEgressRequest.fromJson(body, options))).toJson();
      case 'Egress/StopEgress':
        need(grants.roomRecord);
        return (await this.stopEgress(StopEgressRequest.fromJson(body, options).egressId)).toJson();
      case 'Egress/ListEgress': {
        need(grants.roomRecord);
        const { roomName } = ListEgressRequest.fromJson(body, options);
        const items = [...this.egresses.values()].filter((info) => !roomName || info.roomName === roomName);
        return new ListEgressResponse({ items }).toJson();
      }
      default:
        throw new TwirpFailure('bad_route', 404, method);
    }
  }

  private createRoom({ name, maxParticipants, emptyTimeout }: CreateRoomRequest): Room {
    const known = this.rooms.get(name);
    if (known) return known.room;
    const room = new Room({ sid: `RM_${randomUUID().slice(0, 12)}`, name, maxParticipants, emptyTimeout });
    this.rooms.set(name, { room, participants: new Map() });
    return room;
  }

  private live(room: string): LiveRoom {
    const live = this.rooms.get(room);
    if (!live) throw NOT_FOUND('room');
    return live;
  }

  private async startEgress(request: RoomCompositeEgressRequest): Promise<EgressInfo> {
    const { roomName } = request;
    const { room } = this.live(roomName);
    const info = new EgressInfo({
      egressId: `EG_${randomUUID().slice(0, 12)}`,
      roomId: room.sid,
      roomName,
      status: EgressStatus.EGRESS_STARTING,
      startedAt: this.nanoseconds(),
      request: { case: 'roomComposite', value: request },
    });
    this.egresses.set(info.egressId, info);
    // LiveKit may send the event before its response.
    await this.send('egress_started', { egressInfo: info });
    return info;
  }

  private async stopEgress(egressId: string): Promise<EgressInfo> {
    const info = this.egresses.get(egressId);
    if (!info) throw NOT_FOUND('egress');
    if (info.status >= EgressStatus.EGRESS_ENDING)
      throw new TwirpFailure(
        'failed_precondition',
        412,
        `egress with status ${info.status} cannot be stopped`,
      );
    const ending = new EgressInfo({ ...info, status: EgressStatus.EGRESS_ENDING });
    this.egresses.set(egressId, ending);
    if (this.completesOnStop) setImmediate(() => void this.complete(egressId));
    return ending;
  }

  private nanoseconds = (): bigint => BigInt(this.tick()) * 1_000_000n;

  /** Unique increasing milliseconds, so that connections have an order. */
  private tick(): number {
    this.clock = Math.max(this.clock + 1, Date.now());
    return this.clock;
  }
}

function fileOf({ request }: EgressInfo): string {
  if (request.case !== 'roomComposite') throw new Error('no recording of a room');
  const { fileOutputs, output } = request.value;
  const [file] = fileOutputs;
  if (file) return file.filepath;
  if (output.case !== 'file') throw new Error('no file');
  return output.value.filepath;
}
