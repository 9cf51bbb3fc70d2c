import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** An Express application, as a function. */
export type Dispatch = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface InProcessRequest {
  method: string;
  /** Path and query. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer | null;
  /** Address of the client, for rate limits and the audit log. */
  remoteAddress: string | undefined;
}

export interface InProcessResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Null for a response that is not JSON. Such a response is aborted at its headers. */
  body: Buffer | null;
}

/** Replaces a network connection and discards all written data. */
class NullSocket extends Duplex {
  constructor(readonly remoteAddress: string | undefined) {
    super();
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}

/**
 * Passes a request through the application without a network connection: the same middleware, guards, pipes and handlers.
 * @param signal aborts the request like a client that disconnects
 * @returns the response; null for a response that ended before it was complete
 */
export function dispatchInProcess(
  dispatch: Dispatch,
  request: InProcessRequest,
  signal: AbortSignal,
): Promise<InProcessResponse | null> {
  const socket = new NullSocket(request.remoteAddress);
  const incoming = incomingOf(request, socket);
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket as unknown as Socket);
  const captured = capture(outgoing);
  return new Promise((resolve) => {
    const abort = (): void => void socket.destroy();
    signal.addEventListener('abort', abort);
    outgoing.once('finish', () => {
      // For network connections, the HTTP server of Node emits this event.
      outgoing.emit('close');
    });
    outgoing.once('close', () => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      const isComplete = outgoing.writableFinished || captured.isCutOff();
      resolve(isComplete ? { status: outgoing.statusCode, ...captured.result() } : null);
    });
    dispatch(incoming, outgoing);
  });
}

function incomingOf({ method, url, headers, body }: InProcessRequest, socket: Duplex): IncomingMessage {
  const incoming = new IncomingMessage(socket as Socket);
  // Set on the object, because Express replaces its prototype.
  incoming._read = () => undefined;
  incoming.method = method;
  incoming.url = url;
  incoming.httpVersionMajor = 1;
  incoming.httpVersionMinor = 1;
  incoming.httpVersion = '1.1';
  incoming.headers = body ? { ...headers, 'content-length': String(body.length) } : headers;
  incoming.rawHeaders = Object.entries(incoming.headers).flat() as string[];
  incoming.complete = true;
  if (body) incoming.push(body);
  incoming.push(null);
  return incoming;
}

/** Captures headers and body of a response. */
function capture(outgoing: ServerResponse) {
  const chunks: Buffer[] = [];
  let headers: Record<string, string> = {};
  let cutOff = false;
  const { writeHead, write, end } = outgoing as unknown as Record<string, (...args: unknown[]) => unknown>;
  const keep = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, encoding as BufferEncoding | undefined));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const own = {
    writeHead(...args: unknown[]) {
      writeHead!.apply(outgoing, args);
      headers = headersOf(outgoing, args.at(-1));
      const type = headers['content-type'];
      cutOff = type !== undefined && !/^application\/json\b/.test(type);
      if (cutOff) outgoing.destroy();
      return outgoing;
    },
    write(chunk: unknown, ...rest: unknown[]) {
      keep(chunk, rest[0]);
      return write!.call(outgoing, chunk, ...rest);
    },
    end(chunk: unknown, ...rest: unknown[]) {
      keep(chunk, rest[0]);
      return end!.call(outgoing, chunk, ...rest);
    },
  };
  Object.assign(outgoing, own);
  return {
    isCutOff: () => cutOff,
    result: () => ({ headers, body: cutOff ? null : Buffer.concat(chunks) }),
  };
}

/** @param given the last argument of `writeHead`: a flat list, an object, or something else */
function headersOf(outgoing: ServerResponse, given: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  const put = (name: string, value: unknown): void => {
    headers[name.toLowerCase()] = String(value);
  };
  for (const [name, value] of Object.entries(outgoing.getHeaders())) put(name, value);
  if (Array.isArray(given)) for (let n = 0; n + 1 < given.length; n += 2) put(String(given[n]), given[n + 1]);
  else if (typeof given === 'object' && given !== null)
    for (const [name, value] of Object.entries(given)) put(name, value);
  return headers;
}
