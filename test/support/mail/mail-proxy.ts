import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** An HTTP server in front of a mail service that hides or holds responses. */
export class MailProxy {
  /** Requests that the mail service does not get; the proxy responds 404, as WildDuck does for unknown routes. */
  hides: (method: string, path: string) => boolean = () => false;
  /** Requests that fail with 500, as they do when the database of WildDuck is down. The mail service does not get them. */
  fails: (method: string, path: string) => boolean = () => false;
  /** Responses that never arrive, although the mail service has handled the request. */
  holds: (method: string, path: string) => boolean = () => false;
  /** Changes JSON responses on their way back. */
  edits: (path: string, value: any) => unknown = (_path, value) => value;
  /** Number of held responses. */
  held = 0;
  private readonly server: http.Server;

  private constructor(private readonly target: string) {
    this.server = http.createServer((request, response) => {
      this.forward(request, response).catch(() => response.destroy());
    });
  }

  /** @param port 0 for any free port */
  static async start(target: string, port = 0): Promise<MailProxy> {
    const proxy = new MailProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(port, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async forward(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const body = await buffer(request);
    if (this.hides(method, url)) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: 'ResourceNotFound', message: `${url} does not exist` }));
      return;
    }
    if (this.fails(method, url)) {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'MongoDB Error', code: 'InternalDatabaseError' }));
      return;
    }
    const { host: _host, 'content-length': _length, connection: _connection, ...headers } = request.headers;
    const upstream = http.request(`${this.target}${url}`, {
      method,
      agent: false,
      headers: {
        ...headers,
        ...(body.length > 0 && { 'content-length': String(body.length) }),
      },
    });
    upstream.end(body);
    const upstreamResponse = await new Promise<http.IncomingMessage>((resolve, reject) => {
      upstream.once('response', resolve).once('error', reject);
    });
    const isJson = upstreamResponse.headers['content-type']?.startsWith('application/json');
    const received = await buffer(upstreamResponse);
    const bytes = isJson
      ? Buffer.from(JSON.stringify(this.edits(url, JSON.parse(received.toString()))))
      : received;
    if (this.holds(method, url)) {
      this.held += 1;
      return;
    }
    response.writeHead(upstreamResponse.statusCode ?? 500, {
      'content-type': upstreamResponse.headers['content-type'] ?? 'application/json',
      'content-length': bytes.length,
    });
    response.end(bytes);
  }
}
