import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';
import { rememberETag } from './etags.js';
import { Downloads, type Download } from './files/download.js';
import { Uploads, type Upload } from './files/upload.js';
import type { paths } from './generated/api.js';
import { KEYED_OPERATIONS } from './generated/keyed-operations.js';
import { randomKey } from './random-key.js';
import { type RetryOptions, Sender, type TokenSource } from './sender.js';
import { transportOf } from './transport.js';

const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const;
const KEY_HEADER = 'Idempotency-Key';

/** How a client reaches the service. */
export interface WorkspaceClientOptions {
  /** Origin of the service, such as `https://workspace.example`. */
  url: string;
  /** Returns the access token of a request, such as `token` of a `SignIn`. Without it, requests are anonymous. */
  token?: TokenSource;
  retry?: Partial<RetryOptions>;
  /** Default: the `fetch` of the platform. */
  fetch?: (request: Request) => Promise<Response>;
}

type Calls = Pick<Client<paths>, (typeof METHODS)[number]>;

/**
 * Typed calls of the workspace API. Each returns `{ data, response }` or `{ error, response }`; `unwrap` throws the error instead.
 * A call rejects only if there is no response: the network fails, or its signal aborts it.
 */
export interface WorkspaceClient extends Calls {
  readonly url: string;
  /** Sends a file, as the only file of a form. */
  upload: Upload;
  /** Reads a response as a stream of bytes. */
  download: Download;
}

/** Creates a client. Nothing is sent until its first call. */
export function createClient(options: WorkspaceClientOptions): WorkspaceClient {
  const url = options.url.replace(/\/+$/, '');
  const send = transportOf(options.fetch);
  const sender = new Sender(send, options.token, options.retry);
  const inner = createFetchClient<paths>({
    baseUrl: `${url}/apis/v1`,
    fetch: (request) => sender.send(request),
  });
  inner.use(idempotencyKeys);
  const calls = Object.fromEntries(
    METHODS.map((method) => [method, remembering(inner[method] as unknown as AnyCall)]),
  );
  return {
    ...(calls as unknown as Calls),
    url,
    upload: new Uploads(inner, sender, send).upload,
    download: new Downloads(inner).download,
  };
}

/** One key for all attempts of a call. */
const idempotencyKeys: Middleware = {
  onRequest({ request, schemaPath }) {
    if (KEYED_OPERATIONS.has(`${request.method} ${schemaPath}`) && !request.headers.has(KEY_HEADER))
      request.headers.set(KEY_HEADER, randomKey());
  },
};

type AnyCall = (path: string, init?: object) => Promise<{ data?: unknown; response: Response }>;

const remembering =
  (call: AnyCall): AnyCall =>
  async (path, init) => {
    const result = await call(path, init);
    rememberETag(result.data, result.response);
    return result;
  };
