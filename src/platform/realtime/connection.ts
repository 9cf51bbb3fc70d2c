import type { IncomingMessage } from 'node:http';
import type { Socket } from 'socket.io';
import type { RequestContext } from '../context/request-context.js';
import { encodeEvent } from './event-encoding.js';
import { AUTH_EXPIRING, type ClosingReason, SESSION_CLOSING } from './gateway-events.js';
import type { RealtimeOptions } from './realtime-options.js';
import type { ServerEvent } from './event-declarations.js';

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
