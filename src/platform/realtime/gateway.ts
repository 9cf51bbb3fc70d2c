import { randomUUID } from 'node:crypto';
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Server as Engine } from 'engine.io';
import { LRUCache } from 'lru-cache';
import { Server, type Socket } from 'socket.io';
import { Config } from '../../config/config.js';
import { Bus } from '../bus/bus.js';
import { type AccessChange, AccessChanges, concerns } from '../context/access-changes.js';
import { type RequestContext, TokenResolver } from '../context/request-context.js';
import { inWorkOf, PUBLIC } from '../current-work/current-work.js';
import { assertFewEventValues } from '../http/body/body-limits.js';
import { Errors } from '../http/errors.js';
import { validated } from '../http/input.pipe.js';
import { isSocketTarget } from '../http/server/client-error.js';
import { asApiError } from '../http/server/exception.filter.js';
import { assertStorable, removeInheritedKeys } from '../http/storable-text.js';
import { growingTo } from '../memory/cache-size.js';
import { Lifecycle } from '../observability/lifecycle.js';
import { Metrics } from '../observability/metrics.js';
import { Connection, RealtimeOptions } from './connection.js';
import { AUTH_REFRESH, HELLO, type RefreshedResponse, RESYNC } from './gateway-events.js';
import { SocketEvents } from './socket-events.js';
import { type SocketIdentity, SocketTokens } from './socket-tokens.js';
import { UserConnections } from './user-connections.js';

interface Bucket {
  tokens: number;
  at: number;
}

const MAX_BUCKETS = 100_000;

type Acknowledge = (response: object) => void;

/** Validates and limits the events of sockets, and acknowledges each with `{ok: true, ...}` or `{ok: false, status, error}`. */
@Injectable()
export class EventDispatch {
  private readonly logger = new Logger(EventDispatch.name);
  private readonly buckets = new LRUCache<string, Bucket>(growingTo(MAX_BUCKETS));

  constructor(
    private readonly events: SocketEvents,
    private readonly options: RealtimeOptions,
  ) {}

  async handle(connection: Connection, name: string, values: unknown[]): Promise<void> {
    const last = values.at(-1);
    const acknowledge: Acknowledge = typeof last === 'function' ? (last as Acknowledge) : () => undefined;
    const wait = this.take(connection);
    if (wait > 0) return this.reject(connection, acknowledge, wait);
    connection.rejected = 0;
    try {
      const { tenantId: workspace, userId: user } = connection.ctx;
      const run = () => this.run(connection, name, values[0]);
      acknowledge({ ok: true, ...(await inWorkOf({ workspace, user }, run)) });
    } catch (error) {
      const { kind, body } = asApiError(error);
      if (kind.status >= 500) this.logger.error({ err: error, event: name }, 'event of a socket failed');
      acknowledge({ ok: false, status: kind.status, ...body });
    }
  }

  private async run(connection: Connection, name: string, input: unknown): Promise<object> {
    const event = this.events.find(name);
    if (!event) throw Errors.notFound.with({ message: 'There is no such event.' });
    assertFewEventValues(input);
    assertStorable(input);
    removeInheritedKeys(input);
    return event.handle(connection, validated(event.input, input));
  }

  /** A client that ignores the limit is disconnected. */
  private reject(connection: Connection, acknowledge: Acknowledge, wait: number): void {
    connection.rejected += 1;
    const { status, code, message } = Errors.tooManyRequests;
    acknowledge({ ok: false, status, error: code, message, retry_after: Math.ceil(wait) });
    if (connection.rejected > this.options.maxRejected) connection.close('flood');
  }

  /** Counts one event of the user. @returns 0, or seconds until the next event is accepted */
  private take({ ctx }: Connection): number {
    const { perSecond, burst } = this.options;
    const key = `${ctx.tenantId} ${ctx.userId}`;
    const now = performance.now();
    const { tokens, at } = this.buckets.get(key) ?? { tokens: burst, at: now };
    const left = Math.min(burst, tokens + ((now - at) / 1_000) * perSecond);
    this.buckets.set(key, { tokens: left >= 1 ? left - 1 : left, at: now });
    return left >= 1 ? 0 : (1 - left) / perSecond;
  }
}

/** Time for which access changes are kept: longer than the lifetime of a token. */
const RECENT_MS = 90_000;
/** Milliseconds in which closing sockets send their last event. */
const CLOSE_MS = 100;
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** The Socket.IO server: the websocket transport only, so that any process can serve any socket. */
@Injectable()
export class RealtimeGateway {
  private readonly logger = new Logger(RealtimeGateway.name);
  private readonly server = new Server({ serveClient: false, connectTimeout: this.options.connectMs });
  private readonly engine: Engine;
  private recent: { change: AccessChange; at: number }[] = [];
  /** Websockets, with and without a valid token. */
  private open = 0;
  private draining = false;

  constructor(
    private readonly config: Config,
    private readonly options: RealtimeOptions,
    private readonly tokens: SocketTokens,
    private readonly connections: UserConnections,
    private readonly dispatch: EventDispatch,
    private readonly bus: Bus,
    private readonly access: AccessChanges,
    private readonly callers: TokenResolver,
    private readonly lifecycle: Lifecycle,
    metrics: Metrics,
    events: SocketEvents,
  ) {
    events.register(AUTH_REFRESH, (connection, { token }) => this.refresh(connection, token));
    metrics.gauge(
      'realtime_sockets',
      'Open sockets: with a verified token, and without one.',
      'state',
      () => ({
        authenticated: connections.size,
        unauthenticated: this.open - connections.size,
      }),
    );
    this.engine = new Engine({
      transports: ['websocket'],
      maxHttpBufferSize: options.maxFrameBytes,
      perMessageDeflate: false,
      allowRequest: (request, done) => this.allow(request, done),
    });
  }

  /** Serves the upgrade requests of an HTTP server. */
  attach(http: HttpServer): void {
    this.server.bind(this.engine);
    this.server.use((socket, next) => void this.admit(socket, next));
    this.server.on('connection', (socket) => this.connected(socket));
    this.engine.on('connection', (raw: { once(event: 'close', listener: () => void): void }) => {
      this.open += 1;
      raw.once('close', () => (this.open -= 1));
    });
    this.collectWrites();
    http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (isSocketTarget(request.url) && !this.draining) this.engine.handleUpgrade(request, socket, head);
      else socket.on('error', () => socket.destroy()).end(NOT_FOUND);
    });
    this.access.onChange((change) => this.accessChanged(change));
    this.bus.onLoss(() => this.resync());
    this.lifecycle.onDraining(() => this.close());
  }

  /** Writes frames that are sent to a socket together with one system call. */
  private collectWrites(): void {
    this.engine.on('flush', ({ request }: { request: IncomingMessage }, packets: readonly unknown[]) => {
      if (packets.length > 1) request.socket.cork();
    });
    this.engine.on('drain', ({ request }: { request: IncomingMessage }) => request.socket.uncork());
  }

  private close(): void {
    this.draining = true;
    for (const connection of this.connections.all) connection.close('restart');
    // Later, so that the last event of each socket is sent first.
    setTimeout(() => this.engine.close(), CLOSE_MS).unref();
  }

  /** Checks the Origin, because CORS does not apply to websockets. Browsers always send it; native clients do not. */
  private allow(request: IncomingMessage, done: (error: string | null, allowed: boolean) => void): void {
    const { origin, host } = request.headers;
    const { corsOrigins } = this.config;
    const isAllowed =
      origin === undefined ||
      corsOrigins.includes('*') ||
      corsOrigins.includes(origin) ||
      [`http://${host}`, `https://${host}`].includes(origin);
    const hasRoom = this.open - this.connections.size < this.options.maxUnauthenticated;
    done(isAllowed && hasRoom ? null : 'forbidden', isAllowed && hasRoom);
  }

  private async admit(socket: Socket, next: (error?: Error) => void): Promise<void> {
    let rejection: Error | undefined;
    try {
      await this.authenticate(socket);
    } catch (error) {
      rejection = error as Error;
    }
    next(rejection);
  }

  /** @throws Error `unauthorized`, `too_many_sockets`, `unavailable`: the client gets its message */
  private async authenticate(socket: Socket): Promise<void> {
    const { token } = socket.handshake.auth as { token?: unknown };
    // Until the caller is known, all sockets that open share what requests without a caller have.
    const owner = { workspace: PUBLIC, user: socket.id };
    const identity = await inWorkOf(owner, () => this.identify(token));
    // In a separate turn of the event loop: Socket.IO connects this socket before another one is counted or access changes.
    await setImmediate();
    if (!identity || this.hasChangedSince(identity)) throw new Error('unauthorized');
    const { tenantId, userId, sessionId } = identity;
    if (this.connections.connectionsOf(tenantId, userId).size >= this.options.maxPerUser)
      throw new Error('too_many_sockets');
    const ctx: RequestContext = { tenantId, userId, sessionId, role: null, requestId: randomUUID() };
    socket.data = Object.freeze(ctx);
  }

  private async identify(token: unknown): Promise<SocketIdentity | undefined> {
    try {
      await this.bus.listen();
      const identity = await this.tokens.use(token);
      // The process that issued the token may not have known yet that the session had ended.
      return identity && (await this.callers.isValid(identity)) ? identity : undefined;
    } catch (error) {
      this.logger.error({ err: error }, 'a socket cannot be authenticated');
      throw new Error('unavailable', { cause: error });
    }
  }

  private connected(socket: Socket): void {
    const connection = new Connection(socket, socket.data as RequestContext, this.options);
    this.connections.add(connection);
    socket.on('disconnect', () => {
      connection.stop();
      this.connections.remove(connection);
    });
    socket.onAny(
      (event: string, ...values: unknown[]) => void this.dispatch.handle(connection, event, values),
    );
    const heartbeat = this.engine.opts.pingInterval;
    connection.send(HELLO, { conn_id: socket.id, server_time: new Date().toISOString(), heartbeat });
  }

  /** Another token of the same session extends the lifetime of the socket. @throws ApiError 401 */
  private async refresh(connection: Connection, token: string): Promise<RefreshedResponse> {
    const identity = await this.identify(token).catch(() => undefined);
    const { tenantId, userId, sessionId } = connection.ctx;
    const isSame =
      identity?.tenantId === tenantId && identity.userId === userId && identity.sessionId === sessionId;
    if (!isSame) throw Errors.unauthorized.with();
    return { expires_at: connection.extend().toISOString() };
  }

  /** Makes all clients resume, because they may have missed events. */
  private resync(): void {
    for (const connection of this.connections.all) connection.send(RESYNC, { all: true });
  }

  private accessChanged(change: AccessChange): void {
    const now = Date.now();
    this.recent = [...this.recent.filter(({ at }) => at > now - RECENT_MS), { change, at: now }];
    this.connections.closeFor(change);
  }

  /** Whether access changed between the issue of the token and its use. */
  private hasChangedSince({ issuedAt, ...identity }: SocketIdentity): boolean {
    return this.recent.some(({ change, at }) => at >= issuedAt.getTime() && concerns(change, identity));
  }
}
