import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { PushDispatcher } from '../../../src/modules/push/sending/push-dispatcher.js';
import type { TestApp, TestUser } from '../app.ts';
import type { PushDevice, PushService } from '../network/push-service.ts';
import { until } from '../until.ts';
import { ok } from './forms.ts';

/** An application with a push service. */
export class PushTest {
  constructor(
    readonly app: TestApp,
    readonly service: PushService,
  ) {}

  /** A device of the user, subscribed to push messages. @returns the device and the id of its subscription */
  async subscribe(user: TestUser, fields: object = {}): Promise<{ device: PushDevice; id: string }> {
    const device = this.service.device();
    const input = { ...device.subscription, ...fields };
    const { push_subscription } = ok(await user.api.post('/notifications/push-subscriptions', input), 201);
    return { device, id: push_subscription.id };
  }

  /** Delivers all events, and sends everything that is due. */
  async deliver(): Promise<void> {
    await this.app.get<OutboxWorker>(OutboxWorker).drain();
    await this.app.get<PushDispatcher>(PushDispatcher).drain();
  }

  /** The time of all repetitions and examinations has come. */
  async later(): Promise<void> {
    await this.app.sql(
      `UPDATE push_deliveries SET due_at = now() - make_interval(secs => 1) WHERE due_at > now() AND due_at < 'infinity'`,
    );
    await this.app.get<PushDispatcher>(PushDispatcher).drain();
  }

  /** What a device has got, decrypted. */
  messages(device: PushDevice): any[] {
    return this.service.of(device).map((message) => device.read(message));
  }

  /** Waits until a device has got so many messages. A withdrawal is queued after the response to its cause. */
  async got(device: PushDevice, count: number): Promise<any[]> {
    await until(`${count} push messages`, async () => {
      await this.app.get<PushDispatcher>(PushDispatcher).drain();
      return this.service.of(device).length >= count;
    });
    // Also what follows the response of the push service.
    await this.app.get<PushDispatcher>(PushDispatcher).drain();
    return this.messages(device);
  }

  /** Alice's task for another user: a notification `task.assigned`. */
  async assign(from: TestUser, to: TestUser, title: string): Promise<any> {
    return ok(await from.api.post('/tasks', { title, assignees: [to.id] }), 201).task;
  }

  async subscriptions(user: TestUser): Promise<any[]> {
    return ok(await user.api.get('/notifications/push-subscriptions')).push_subscriptions;
  }
}
