import { NotificationMails } from '../../../src/modules/notifications/mails/notification-mails.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../app.ts';
import { OtherServer } from '../mail/smtp.ts';

/** Text of objects that a recipient must not see. */
export const MARKER = 'zanzibar-4711';

/** Two processes of the application, a relay, and a workspace whose users notify one another. */
export class NotificationTest {
  relay!: OtherServer;
  app!: TestApp;
  second!: TestApp;
  alice!: TestUser;
  bob!: TestUser;
  carol!: TestUser;
  /** The user with sockets: an active user gets no e-mail. */
  dave!: TestUser;
  /** A user of another workspace. */
  olaf!: TestUser;

  /** Registers the hooks of a test file. */
  static use(): NotificationTest {
    const at = new NotificationTest();
    beforeAll(() => at.start());
    afterAll(() => at.stop());
    beforeEach(async () => {
      await at.drain();
      await at.app.sql('DELETE FROM notifications');
      at.relay.received.length = 0;
    });
    return at;
  }

  /** Waits for all events. */
  drain(of = this.app): Promise<number> {
    return of.get<OutboxWorker>(OutboxWorker).drain();
  }

  /** The first page of a user's notifications, after all events. */
  async listOf(user = this.bob, query = ''): Promise<any> {
    await this.drain();
    const { status, body } = await user.api.get(`/notifications${query}`);
    expect(status).toBe(200);
    return body;
  }

  /** The one notification of a user. */
  async only(user = this.bob): Promise<any> {
    const { notifications } = await this.listOf(user);
    expect(notifications).toHaveLength(1);
    return notifications[0];
  }

  /** A task of Alice for another user. */
  async task(title = 'Book the venue', assignee = this.bob): Promise<any> {
    return (await this.alice.api.post('/tasks', { title, assignees: [assignee.id] })).body.task;
  }

  /** A note of Alice. */
  async note(title: string): Promise<any> {
    return (await this.alice.api.post('/notes', { title })).body.note;
  }

  invite(id: string, users: TestUser[]): Promise<unknown> {
    const invited = users.map((user) => ({ id: user.id, role: 'viewer' }));
    return this.alice.api.put(`/notes/${id}/invited`, { invited });
  }

  settings = (user: TestUser, preferences: object): Promise<unknown> =>
    user.api.put('/settings/notifications', preferences);

  /** Sends the e-mails of notifications whose time has not come. */
  async mailDue(of = this.app): Promise<void> {
    await this.app.sql(
      'UPDATE notifications SET email_due_at = now() - make_interval(secs => 1) WHERE email_due_at IS NOT NULL',
    );
    await of.get<NotificationMails>(NotificationMails).run();
    await this.drain(of);
  }

  private async start(): Promise<void> {
    this.relay = await OtherServer.start();
    const settings = { SMTP_URL: this.relay.url, PUBLIC_URL: 'https://work.example' };
    this.app = await TestApp.start(settings);
    this.second = await TestApp.start(settings, this.app.databaseUrl);
    [this.alice, this.bob, this.carol, this.dave] = await this.app.tenant(
      'acme',
      'alice',
      'bob',
      'carol',
      'dave',
    );
    [this.olaf] = await this.app.tenant('other', 'olaf');
  }

  private async stop(): Promise<void> {
    await this.second?.stop();
    await this.app?.stop();
    await this.relay?.stop();
  }
}
