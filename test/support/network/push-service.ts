import { createECDH, type ECDH, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import ece from 'http_ece';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { until } from '../until.ts';

/** A message that a push service got. */
export interface ReceivedPush {
  path: string;
  headers: Record<string, string>;
  /** Encrypted. */
  body: Buffer;
}

type Answer = (response: ServerResponse) => void;

export const respond =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end();

/** A device with its keys. */
export class PushDevice {
  private readonly ecdh: ECDH = createECDH('prime256v1');
  private readonly auth = randomBytes(16);
  readonly endpoint: string;

  constructor(endpoint: string) {
    this.endpoint = endpoint;
    this.ecdh.generateKeys();
  }

  /** The body of a subscription, as `PushSubscription.toJSON()` of a browser makes it. */
  get subscription() {
    const keys = { p256dh: this.ecdh.getPublicKey('base64url'), auth: this.auth.toString('base64url') };
    return { endpoint: this.endpoint, keys };
  }

  /** Decrypts a message by an implementation of others. @throws for a message to another device */
  read({ body }: ReceivedPush): any {
    const options = { version: 'aes128gcm', privateKey: this.ecdh, authSecret: this.auth } as const;
    return JSON.parse(ece.decrypt(body, options).toString());
  }
}

/** A push service: an HTTP server of a test. Each path is a device. */
export class PushService {
  readonly messages: ReceivedPush[] = [];
  private readonly answers = new Map<string, Answer>();
  private devices = 0;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
  }

  static async start(): Promise<PushService> {
    const server = createServer();
    const service = new PushService(server);
    server.on('request', (request, response) => void service.take(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url!;
    const headers = request.headers as Record<string, string>;
    this.messages.push({ path, headers, body: Buffer.concat(chunks) });
    (this.answers.get(path) ?? respond(201))(response);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** A device with a path of its own. */
  device(): PushDevice {
    this.devices += 1;
    return new PushDevice(`${this.origin}/device-${this.devices}`);
  }

  /** From now on, the push service answers messages for a device so. Default: 201. */
  on({ endpoint }: PushDevice, answer: Answer): void {
    this.answers.set(new URL(endpoint).pathname, answer);
  }

  of({ endpoint }: PushDevice): ReceivedPush[] {
    const { pathname } = new URL(endpoint);
    return this.messages.filter(({ path }) => path === pathname);
  }

  /** Waits for so many messages. */
  async received(device: PushDevice, count: number): Promise<ReceivedPush[]> {
    await until(`${count} push messages`, () => this.of(device).length >= count);
    return this.of(device);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Verifies the identification of the sender (RFC 8292, section 3). @returns the claims @throws for an invalid signature */
export async function verifySender({ headers }: ReceivedPush): Promise<{ key: string; claims: any }> {
  const [, token, key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(headers['authorization']!)!;
  const point = Buffer.from(key!, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const keys = createLocalJWKSet({ keys: [{ kty: 'EC', crv: 'P-256', x: x!, y: y! }] });
  const { payload } = await jwtVerify(token!, keys, { algorithms: ['ES256'] });
  return { key: key!, claims: payload };
}
