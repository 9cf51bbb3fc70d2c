import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { WebhookDispatcher } from '../../../src/modules/webhooks/sending/dispatcher.js';
import type { TestApp, TestUser } from '../app.ts';
import { WebhookReceiver } from '../network/webhook-receiver.ts';
import { ok } from './forms.ts';

/** An application with a receiver of webhooks. */
export class WebhookTest {
  private paths = 0;

  constructor(
    readonly app: TestApp,
    readonly receiver: WebhookReceiver,
  ) {}

  /** Creates a webhook with a path of its own. @returns the webhook with its path and secret */
  async hook(user: TestUser, types: string[], fields: object = {}): Promise<any> {
    this.paths += 1;
    const path = `/hook-${this.paths}`;
    const input = { scope: 'user', url: this.receiver.urlOf(path), event_types: types, ...fields };
    const { webhook } = ok(await user.api.post('/webhooks', input), 201);
    return { ...webhook, path };
  }

  /** Delivers all events, and sends everything that is ready. */
  async deliver(): Promise<void> {
    await this.app.get(OutboxWorker).drain();
    await this.app.get(WebhookDispatcher).drain();
    // A queue that a timer examined while the outbox had an older event rests for a moment.
    await this.app.sql(
      `UPDATE webhook_queues SET held_until = now(), ready_at = now()
        WHERE failures = 0 AND due_at <= now() AND held_until < now() + interval '1 second'`,
    );
    await this.app.get(WebhookDispatcher).drain();
  }

  /** The time of all repetitions has come. */
  async retry(): Promise<void> {
    await this.app.sql(
      `UPDATE webhook_deliveries SET due_at = now() - make_interval(secs => 1) WHERE state = 'pending' AND due_at > now()`,
    );
    await this.app.sql(
      `UPDATE webhook_queues SET due_at = now() - make_interval(secs => 1), held_until = now() - make_interval(secs => 1),
              ready_at = now() - make_interval(secs => 1)`,
    );
    await this.app.get(WebhookDispatcher).drain();
  }

  async deliveries(user: TestUser, id: string, query = ''): Promise<any[]> {
    return ok(await user.api.get(`/webhooks/${id}/deliveries${query}`)).deliveries;
  }

  async task(user: TestUser, title: string, fields: object = {}): Promise<any> {
    return ok(await user.api.post('/tasks', { title, ...fields }), 201).task;
  }
}
