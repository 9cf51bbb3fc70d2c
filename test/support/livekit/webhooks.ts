import { createHash } from 'node:crypto';
import type { WebhookEvent } from '@livekit/protocol';
import { AccessToken } from 'livekit-server-sdk';

/** How an event is delivered: `hold` keeps it for `release`. */
export type Delivery = 'deliver' | 'drop' | 'double' | 'hold';

/**
 * Sends events as LiveKit does: a token over the hash of the body in `Authorization`, without a scheme. Deliveries may be lost,
 * repeated, late and reordered.
 */
export class Webhooks {
  /** Addresses of applications, used in turn, as behind a load balancer. */
  readonly targets: string[] = [];
  /** Statuses of responses; 0: no connection. */
  readonly statuses: number[] = [];
  readonly held: WebhookEvent[] = [];
  private decide: (event: WebhookEvent) => Delivery = () => 'deliver';
  private readonly running = new Set<Promise<void>>();
  private turn = 0;

  constructor(
    private readonly key: string,
    private readonly secret: string,
  ) {}

  /** Chooses the delivery of each further event. */
  deliverBy(decide: (event: WebhookEvent) => Delivery): void {
    this.decide = decide;
  }

  /** Starts the delivery: LiveKit does not wait for it. */
  async send(event: WebhookEvent): Promise<void> {
    const copy = event.clone();
    const delivery = this.decide(copy);
    if (delivery === 'hold') this.held.push(copy);
    if (delivery === 'deliver' || delivery === 'double') this.begin(copy);
    if (delivery === 'double') this.begin(copy);
  }

  /** Sends the held events one after the other, in this order. */
  async release(order: (events: WebhookEvent[]) => WebhookEvent[] = (events) => events): Promise<void> {
    for (const event of order(this.held.splice(0))) await this.post(event);
  }

  /** Waits for all deliveries that have begun. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  /** @param overrides headers that differ from those of LiveKit. @returns the status */
  async post(
    event: WebhookEvent,
    overrides: Record<string, string> = {},
    body = event.toJsonString(),
  ): Promise<number> {
    const target = this.targets[this.turn++ % this.targets.length];
    if (target === undefined) return 0;
    const headers = {
      'content-type': 'application/webhook+json',
      authorization: await this.signature(event.toJsonString()),
      ...overrides,
    };
    const url = `${target}/apis/v1/call/livekit/webhook`;
    const status = await fetch(url, { method: 'POST', headers, body }).then(
      (response) => response.status,
      () => 0,
    );
    this.statuses.push(status);
    return status;
  }

  async signature(body: string, secret = this.secret): Promise<string> {
    const token = new AccessToken(this.key, secret, { ttl: 300 });
    token.sha256 = createHash('sha256').update(body).digest('base64');
    return token.toJwt();
  }

  private begin(event: WebhookEvent): void {
    const delivery = this.post(event).then(() => void this.running.delete(delivery));
    this.running.add(delivery);
  }
}
