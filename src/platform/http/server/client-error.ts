import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { API_PREFIX } from '../../../config/config.js';
import { ErrorKind, Errors } from '../errors.js';
import { JSON_HEADERS } from '../security-headers.js';

/** Path of the Socket.IO server. */
export const SOCKET_PATH = `/${API_PREFIX}/socket`;

/** Whether a request target is that of the Socket.IO server. */
export const isSocketTarget = (target: string | undefined): boolean =>
  target?.split('?', 1)[0]?.replace(/\/$/, '') === SOCKET_PATH;

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};
/** It is not in the catalogue of errors, because no operation returns it. */
const EXPECTATION_FAILED = new ErrorKind(
  417,
  'expectation_failed',
  'The only supported Expect value is 100-continue.',
);
const HOST = 'host';
const AUTHORIZATION = 'authorization';
const STATUS_BY_CODE: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/**
 * An HTTP server that also returns the error shape of the API for requests that never reach the application: malformed
 * HTTP, a missing or repeated Host header, an unknown Expect header. Node itself returns an empty body for these, or, for
 * repeated headers, uses the first one.
 */
export function createHttpServer(application: RequestListener): Server {
  const options = {
    requireHostHeader: false,
    // An upgrade to another protocol, such as h2c, is ignored: the request gets its ordinary response.
    shouldUpgradeCallback: ({ url, headers }: IncomingMessage) =>
      isSocketTarget(url) && headers.upgrade?.toLowerCase() === 'websocket',
  };
  const server = createServer(options, (request, response) => {
    // RFC 9112, section 3.2. HTTP/1.0 has no such rule for a missing header.
    const hasNoHost = request.headers.host === undefined && request.httpVersion === '1.1';
    if (hasNoHost || isAmbiguous(request)) rejectRequest(response, Errors.badRequest);
    else application(request, response);
  });
  server.on('checkExpectation', (_request, response: ServerResponse) =>
    rejectRequest(response, EXPECTATION_FAILED),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || hasBegunResponse(socket)) {
      socket.destroy();
      return;
    }
    const status = STATUS_BY_CODE[error.code ?? ''] ?? 400;
    const { body, headers } = errorOf(Errors.badRequest);
    const head = headers.map(([name, value]) => `${name}: ${value}`).join('\r\n');
    socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${head}\r\n\r\n${body}`);
  });
  return server;
}

/** Whether a response of this connection has begun: an error response would become part of its body. Node checks the same. */
function hasBegunResponse(socket: Socket): boolean {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return response?.headersSent === true;
}

/** Whether Host or Authorization is repeated: a proxy and this server might use different ones. */
function isAmbiguous({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  let credentials = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
    else if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) credentials += 1;
  }
  return hosts > 1 || credentials > 1;
}

/** The body of the request, if any, is not read, so the connection closes. @param extras differ from those of the error */
export function rejectRequest(response: ServerResponse, kind: ErrorKind, extras: ErrorParts = {}): void {
  const { body, headers } = errorOf(kind, extras);
  response.writeHead(kind.status, headers.flat()).end(body);
}

interface ErrorParts {
  message?: string;
  headers?: readonly [string, string][];
}

function errorOf({ code, message: usual }: ErrorKind, { message = usual, headers = [] }: ErrorParts = {}) {
  const body = JSON.stringify({ error: code, message });
  const length = String(Buffer.byteLength(body));
  return {
    body,
    headers: [...JSON_HEADERS, ...headers, ['Content-Length', length], ['Connection', 'close']],
  };
}

/** Time of a connection, milliseconds. */
const TIMEOUT_MS = 5_000;
const MESSAGE = 'The service is restarting; retry shortly.';

/** Responds 503 to every request of the connections that it is given. */
export class UnavailableServer {
  private readonly server = createServer((_request, response) =>
    rejectRequest(response, Errors.overloaded, { message: MESSAGE, headers: [['Retry-After', '2']] }),
  );

  /** @param socket a paused one that has read nothing */
  serve(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
    this.server.emit('connection', socket);
    socket.resume();
  }
}
