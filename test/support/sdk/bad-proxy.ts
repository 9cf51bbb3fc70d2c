import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { BatchPart } from './device.ts';

/**
 * `lose-request`: the service does not get it. `lose-response`: the service executes it. `cut`: the connection ends in the middle of the
 * response. `hold`: there is no response until the client ends the connection.
 */
export type Fault = 'none' | 'lose-request' | 'lose-response' | 'cut' | 'hold';

/** A proxy between devices and the service with a bad network behind it. It knows which writes of batches were executed. */
export class BadProxy {
  readonly executed: BatchPart[] = [];
  private server: Server | undefined;

  private constructor(
    private readonly target: string,
    private readonly faultOf: (path: string, body: string) => { fault: Fault; delayMs?: number },
  ) {}

  /** @param faultOf called for each request */
  static async start(target: string, faultOf: BadProxy['faultOf']): Promise<BadProxy> {
    const proxy = new BadProxy(target, faultOf);
    const server = createServer((request, response) => {
      proxy.pass(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy.server = server;
    return proxy;
  }

  get base(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  /** The executed writes of objects with this path: repeated requests with one key are one write. */
  writes(method: string, path: string): BatchPart[] {
    const some = this.executed.filter(
      (part) => part.method === method && part.path.startsWith(`/apis/v1${path}`),
    );
    return [...new Map(some.map((part) => [part.headers!['Idempotency-Key'], part])).values()];
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server!.close(resolve));
    this.server!.closeAllConnections();
    await closed;
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!;
    const body = Buffer.concat(await request.toArray());
    const { fault, delayMs = 0 } = this.faultOf(path, body.toString());
    await delay(delayMs);
    if (fault === 'lose-request') return void response.destroy();
    const { authorization, 'content-type': type } = request.headers;
    const answer = await fetch(this.target + path, {
      method: request.method!,
      headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
      ...(body.length > 0 && { body }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (path.endsWith('/batch') && answer.ok) this.record(body, bytes);
    await delay(delayMs);
    if (fault === 'lose-response') return void response.destroy();
    if (fault === 'hold') return;
    const headers = {
      'content-type': answer.headers.get('content-type') ?? 'text/plain',
      'content-length': bytes.length,
    };
    response.writeHead(answer.status, headers);
    if (fault === 'none') return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  }

  private record(body: Buffer, answer: Buffer): void {
    const { requests } = JSON.parse(body.toString()) as { requests: BatchPart[] };
    const { responses } = JSON.parse(answer.toString()) as { responses: { status: number }[] };
    for (const [n, { status }] of responses.entries())
      if (status < 300 && requests[n]!.method !== 'GET') this.executed.push({ ...requests[n]!, status });
  }
}
