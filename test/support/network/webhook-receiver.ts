import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { until } from '../until.ts';

/** A message that a receiver of webhooks got. */
export interface ReceivedMessage {
  path: string;
  id: string;
  headers: Record<string, string>;
  /** As sent. */
  text: string;
  body: { type: string; timestamp: string; data: Record<string, any> };
}

type Answer = (response: ServerResponse, message: ReceivedMessage) => void;

export const answer =
  (status: number, body = '', headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** A receiver of webhooks: an HTTP server of a test. Each path is a receiver of its own. */
export class WebhookReceiver {
  readonly messages: ReceivedMessage[] = [];
  private readonly answers = new Map<string, Answer>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => void receiver.take(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const path = request.url!;
    const headers = request.headers as Record<string, string>;
    const message = { path, id: headers['webhook-id']!, headers, text, body: JSON.parse(text) };
    this.messages.push(message);
    (this.answers.get(path) ?? answer(204))(response, message);
  }

  urlOf(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  /** From now on, a path answers so. Default: 204. */
  on(path: string, respond: Answer): void {
    this.answers.set(path, respond);
  }

  of(path: string): ReceivedMessage[] {
    return this.messages.filter((message) => message.path === path);
  }

  /** Waits for so many messages. */
  async received(path: string, count: number): Promise<ReceivedMessage[]> {
    await until(`${count} messages at ${path}`, () => this.of(path).length >= count);
    return this.of(path);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Verifies a message with the reference library. @throws for an invalid signature */
export const verify = ({ text, headers }: ReceivedMessage, secret: string): unknown =>
  new Webhook(secret).verify(text, headers);
