import 'reflect-metadata';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { API_PREFIX, type Config } from './config/config.js';
import { serveDocs } from './docs/serve-docs.js';
import { DAV_PATH, DavServer, WELL_KNOWN } from './modules/dav/index.js';
import { removeNeedlessSlashes, SCIM_ERRORS } from './modules/scim/index.js';
import { OIDC_PATH, SignInServer } from './modules/sign-in/index.js';
import { ApiExceptionFilter } from './platform/http/server/exception.filter.js';
import { Errors } from './platform/http/errors.js';
import { cacheValidationMetadata } from './platform/http/input-docs.js';
import { LeanExpressAdapter } from './platform/http/server/lean-express.adapter.js';
import { writeJson } from './platform/http/replies/reply-writer.js';
import { AccessLog } from './platform/observability/access-log.js';
import { DATABASE_STORAGE, Dependencies } from './platform/observability/dependencies.js';
import { Lifecycle } from './platform/observability/lifecycle.js';
import { LoopWatch } from './platform/observability/loop-watch.js';
import { createLogger, PinoLoggerService } from './platform/observability/logger.js';
import { Metrics, type MetricsReader } from './platform/observability/metrics.js';
import { RealtimeGateway } from './platform/realtime/gateway.js';
import { requestLifecycle } from './platform/observability/request-lifecycle.js';

/** Longer than the idle timeout of common load balancers (60 s), so that they close idle connections and not the server. */
const KEEP_ALIVE_MS = 65_000;
/** Timeout for the reception of a whole request with its body. */
const REQUEST_MS = 120_000;

/** A configured application that does not listen yet. */
export interface ServedApp {
  readonly nest: NestExpressApplication;
  readonly metrics: MetricsReader;
  listen(): Promise<void>;
  /** Serves connections that another process has accepted. @returns a function that takes one, paused */
  acceptFrom(): (socket: Socket) => void;
  /**
   * Rejects new connections, waits up to `timeoutMs` for requests in flight and for sockets to close, closes the pool. May be
   * called twice.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** Builds the application. The server and the tests use this function, so that there is only one set-up. */
export async function createApp(config: Config, databaseUrl: string): Promise<ServedApp> {
  cacheValidationMetadata();
  const logger = createLogger(config.LOG_LEVEL);
  const nest = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config, databaseUrl),
    new LeanExpressAdapter(),
    { logger: new PinoLoggerService(logger), bodyParser: false, abortOnError: false },
  );
  const metrics = nest.get(Metrics);
  nest.set('trust proxy', config.trustProxy);
  const loop = new LoopWatch(logger, metrics);
  nest.use(requestLifecycle({ logger, accessLog: new AccessLog(config), metrics, loop }));
  if (config.corsOrigins.length > 0) nest.enableCors(corsOptions(config.corsOrigins));
  nest.use(removeNeedlessSlashes);
  nest.setGlobalPrefix(API_PREFIX);
  const dependencies = nest.get(Dependencies);
  const onStorageFull = () => dependencies.reportFull(DATABASE_STORAGE);
  nest.useGlobalFilters(new ApiExceptionFilter(onStorageFull, [SCIM_ERRORS]));
  serveDocs(nest, config);
  const signIn = nest.get(SignInServer);
  if (signIn.enabled) nest.use(OIDC_PATH, signIn.handle);
  const dav = nest.get(DavServer);
  nest.use(DAV_PATH, dav.handle);
  for (const path of WELL_KNOWN) nest.use(path, dav.redirect);
  await nest.init();
  nest.use(notFoundOutsidePrefix);

  const server = nest.getHttpServer();
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = REQUEST_MS;
  nest.get(RealtimeGateway).attach(server);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const begin = () => {
    loop.start();
    nest.get(Lifecycle).markServing();
  };
  let drained: Promise<void> | undefined;
  return {
    nest,
    metrics,
    async listen() {
      await nest.listen(config.PORT, config.HOST);
      begin();
    },
    acceptFrom() {
      // Node starts the time limits of requests with this event.
      server.emit('listening');
      begin();
      return (socket) => {
        // Sockets that the server itself accepts have this option.
        socket.allowHalfOpen = true;
        server.emit('connection', socket);
        socket.resume();
      };
    },
    drain(timeoutMs) {
      loop.stop();
      drained ??= drain(nest, server, sockets, timeoutMs);
      return drained;
    },
  };
}

/** 404 for all paths outside the prefix. */
function notFoundOutsidePrefix(_request: Request, response: Response): void {
  const { status, code, message } = Errors.notFound;
  writeJson(response, status, JSON.stringify({ error: code, message }));
}

/** @param sockets open connections of the server, those of websockets too: `closeAllConnections` leaves them open */
async function drain(
  nest: NestExpressApplication,
  server: Server,
  sockets: ReadonlySet<Socket>,
  timeoutMs: number,
): Promise<void> {
  nest.get(Lifecycle).markDraining();
  // Later responses close their connection. Idle connections are closed at once.
  server.on(
    'request',
    (_request, response: { shouldKeepAlive: boolean }) => (response.shouldKeepAlive = false),
  );
  const closed = new Promise<void>((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
  const force = setTimeout(() => sockets.forEach((socket) => socket.destroy()), timeoutMs);
  const sweep = setInterval(() => server.closeIdleConnections(), 100);
  server.closeIdleConnections();
  await Promise.all([closed, emptied(sockets)]);
  clearTimeout(force);
  clearInterval(sweep);
  await nest.close();
}

/** Resolves when each of the connections is closed. */
async function emptied(sockets: ReadonlySet<Socket>): Promise<void> {
  while (sockets.size > 0)
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
}

const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Range',
  'X-Request-Id',
];
const RESPONSE_HEADERS = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
];

function corsOptions(origins: string[]) {
  return {
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: 600,
  };
}
