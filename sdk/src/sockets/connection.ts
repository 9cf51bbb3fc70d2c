import { io, type Socket } from 'socket.io-client';
import type { WorkspaceClient } from '../client.js';
import { unwrap } from '../errors.js';
import type { ClientEvents, Rejection } from '../generated/events.js';
import { disconnected, SocketError, unacknowledged } from './socket-error.js';

/** Milliseconds in which the server acknowledges an event. */
const ACKNOWLEDGE_MS = 10_000;
/** Milliseconds between attempts to connect: the first, and the longest. */
const [FIRST_RETRY_MS, LAST_RETRY_MS] = [250, 30_000];

export interface ConnectionListener {
  /** An event of the server. */
  received(name: string, payload: unknown): void;
  connected(): void;
  disconnected(): void;
}

/** Keeps one socket open: with a new token for each connection, again after each end, for longer than the life of a socket. */
export class Connection {
  private readonly socket: Socket;
  private retries = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isOpen = false;

  constructor(
    private readonly client: WorkspaceClient,
    private readonly listener: ConnectionListener,
  ) {
    const auth = (use: (auth: object) => void) =>
      void this.createToken().then(
        (token) => use({ token }),
        () => use({}),
      );
    this.socket = io(client.url, {
      path: '/apis/v1/socket',
      transports: ['websocket'],
      autoConnect: false,
      // Socket.IO does not reconnect after a rejection, nor after the server closed the socket.
      reconnection: false,
      forceNew: true,
      auth,
    });
    this.socket.onAny((name: string, payload: unknown) => this.received(name, payload));
    this.socket.on('disconnect', () => this.ended());
    this.socket.on('connect_error', () => this.ended());
  }

  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.socket.connect();
  }

  close(): void {
    this.isOpen = false;
    clearTimeout(this.timer);
    this.socket.disconnect();
  }

  /** Connects now, such as after the platform reports a network. */
  retryNow(): void {
    if (!this.isOpen || this.timer === undefined) return;
    clearTimeout(this.timer);
    this.connect();
  }

  /** @throws SocketError if the server rejects the event, the connection is lost or the acknowledgement is late */
  async request<Name extends keyof ClientEvents>(
    name: Name,
    payload: ClientEvents[Name]['request'],
  ): Promise<ClientEvents[Name]['response']> {
    if (!this.socket.connected) throw disconnected();
    type Acknowledgement = ClientEvents[Name]['response'] | Rejection;
    const sending = this.socket
      .timeout(ACKNOWLEDGE_MS)
      .emitWithAck(name, payload) as Promise<Acknowledgement>;
    const response = await sending.catch(() => undefined);
    if (response === undefined) throw this.socket.connected ? unacknowledged() : disconnected();
    if (!response.ok) throw new SocketError(response);
    return response;
  }

  private received(name: string, payload: unknown): void {
    if (name === 'hello') {
      this.retries = 0;
      this.listener.connected();
    }
    if (name === 'auth.expiring') void this.refresh();
    this.listener.received(name, payload);
  }

  /** A socket that is not refreshed closes, and connects with a new token. */
  private async refresh(): Promise<void> {
    try {
      await this.request('auth.refresh', { token: await this.createToken() });
    } catch {
      // `disconnect` follows.
    }
  }

  private ended(): void {
    this.listener.disconnected();
    if (!this.isOpen) return;
    clearTimeout(this.timer);
    const longest = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.retries);
    this.retries += 1;
    // At random, so that the clients of a restarted server do not return together.
    this.timer = setTimeout(() => this.connect(), longest * (0.5 + Math.random() / 2));
  }

  private connect(): void {
    this.timer = undefined;
    this.socket.connect();
  }

  private async createToken(): Promise<string> {
    return unwrap(await this.client.POST('/auth/socket/token')).token;
  }
}
