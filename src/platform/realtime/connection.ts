import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Socket } from 'socket.io';
import type { RequestContext } from '../context/request-context.js';
import type { ServerEvent } from './event-declarations.js';
import { AUTH_EXPIRING, type ClosingReason, SESSION_CLOSING } from './gateway-events.js';

/** Limits of the sockets of one process. Tests shorten them. */
@Injectable()
export class RealtimeOptions {
  /** Seconds until a socket closes unless the client refreshes it. */
  lifetimeSeconds = 3_600;
  /** Seconds before the end at which the event `auth.expiring` is sent. */
  warningSeconds = 120;
  /** Milliseconds from the connection to a valid token. */
  connectMs = 5_000;
  /** Connections without a valid token, of all clients. */
  maxUnauthenticated = 1_000;
  maxPerUser = 20;
  /** Bytes of one message of a client. */
  maxFrameBytes = 64 * 1024;
  /** Events of one user: a bucket of `burst` that refills with `perSecond`. */
  perSecond = 10;
  burst = 40;
  /** Rejected events in a row after which the socket closes. */
  maxRejected = 100;
  /** Bytes that wait for a slow client: beyond the first limit volatile events are dropped, beyond the second it is closed. */
  volatileBytes = 1024 * 1024;
  closeBytes = 4 * 1024 * 1024;
}

/** FIN and the opcode of a text frame. */
const TEXT_FRAME = 0x81;
/** Lengths up to 125 are in the second byte; 126 and 127 announce a length of 16 and of 64 bits. */
const [LENGTH_16, LENGTH_64] = [126, 127];

/** An event as a packet of Socket.IO, and as the WebSocket frame that carries it. */
export interface EncodedEvent {
  packet: string;
  frame: Buffer;
}

/**
 * Encodes an event of the default namespace once for any number of sockets.
 * See the protocols of Socket.IO (version 5: `2` is an event) and Engine.IO (version 4: `4` is a message).
 * @param payload contains no binary data
 */
export function encodeEvent(name: string, payload: object): EncodedEvent {
  const packet = `2${JSON.stringify([name, payload])}`;
  return { packet, frame: textFrame(`4${packet}`) };
}

/** An unmasked text frame of RFC 6455, section 5.2, in one buffer: one write for each socket. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headerBytes = length < LENGTH_16 ? 2 : length < 0x1_0000 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerBytes + length);
  frame[0] = TEXT_FRAME;
  if (headerBytes === 2) frame[1] = length;
  else if (headerBytes === 4) {
    frame[1] = LENGTH_16;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headerBytes);
  return frame;
}

/** The part of engine.io's connection that sends frames and holds unsent data. */
interface EngineConnection {
  writeBuffer: { data?: string | Buffer }[];
  /** `writable`: all frames were written to the operating system. */
  transport?: { writable?: boolean; socket?: { bufferedAmount?: number } };
  /** @param options `wsPreEncodedFrame`: the buffers of the frame, sent instead of encoding `data` again */
  write(data: string, options: { wsPreEncodedFrame: Buffer[] }): void;
  close(discard: boolean): void;
  request: IncomingMessage;
}

/** An authenticated socket. */
export class Connection {
  /** Rejected events since the last accepted one. */
  rejected = 0;
  private timers: NodeJS.Timeout[] = [];

  constructor(
    readonly socket: Socket,
    readonly ctx: RequestContext,
    private readonly options: RealtimeOptions,
  ) {
    this.extend();
  }

  get id(): string {
    return this.socket.id;
  }

  /** Sends an event to several sockets. It is encoded once. Clients that do not read their events are disconnected. */
  static sendAll<Payload extends object>(
    connections: readonly Connection[],
    { name }: ServerEvent<Payload>,
    payload: Payload,
  ): void {
    const reading = connections.filter((connection) => connection.isReading());
    Connection.write(reading, name, payload);
  }

  /** Sends an event that may be lost, such as typing. It is encoded once. Clients with much unsent data do not receive it. */
  static sendVolatile<Payload extends object>(
    connections: readonly Connection[],
    { name }: ServerEvent<Payload>,
    payload: Payload,
  ): void {
    const hasSpace = (to: Connection) => to.bufferedBytes() < to.options.volatileBytes;
    Connection.write(connections.filter(hasSpace), name, payload);
  }

  private static write(connections: readonly Connection[], name: string, payload: object): void {
    if (connections.length === 0) return;
    const { packet, frame } = encodeEvent(name, payload);
    const options = { wsPreEncodedFrame: [frame] };
    for (const { engine } of connections) engine.write(packet, options);
  }

  /** Sends an event. A client that does not read its events is disconnected and resumes later. */
  send<Payload extends object>(event: ServerEvent<Payload>, payload: Payload): void {
    Connection.sendAll([this], event, payload);
  }

  /** @param reason sent to the client as the event `session.closing` */
  close(reason: ClosingReason): void {
    this.socket.emit(SESSION_CLOSING.name, { reason });
    this.socket.disconnect(true);
  }

  /** Closes the socket of a client that does not read its events. @returns whether the client reads them */
  private isReading(): boolean {
    if (this.bufferedBytes() <= this.options.closeBytes) return true;
    // Discards the pending events. The client would not read a closing frame either, so the connection does not wait for its reply.
    this.engine.close(true);
    this.engine.request.socket.destroy();
    return false;
  }

  private get engine(): EngineConnection {
    return this.socket.conn as unknown as EngineConnection;
  }

  /** Restarts the lifetime of the socket. @returns the time of its end */
  extend(): Date {
    this.stop();
    const { lifetimeSeconds, warningSeconds } = this.options;
    const warn = () => this.send(AUTH_EXPIRING, { in: warningSeconds });
    this.timers = [
      setTimeout(warn, Math.max(0, lifetimeSeconds - warningSeconds) * 1_000).unref(),
      setTimeout(() => this.close('expired'), lifetimeSeconds * 1_000).unref(),
    ];
    return new Date(Date.now() + lifetimeSeconds * 1_000);
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  private bufferedBytes(): number {
    const { writeBuffer, transport } = this.engine;
    if (transport?.writable) return 0;
    const queued = writeBuffer.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
    return queued + (transport?.socket?.bufferedAmount ?? 0);
  }
}
