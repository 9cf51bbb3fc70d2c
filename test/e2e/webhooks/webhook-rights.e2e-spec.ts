import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../../support/app.ts';
import { definitionOf, ok, published } from '../../support/domains/forms.ts';
import { PushTest } from '../../support/domains/push.ts';
import { WebhookTest } from '../../support/domains/webhooks.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { PushService, respond } from '../../support/network/push-service.ts';
import { answer, WebhookReceiver } from '../../support/network/webhook-receiver.ts';

/** An object that Bob sees through Alice. */
interface Case {
  kind: string;
  type: string;
  make: () => Promise<string>;
  /** Makes an event of the type. */
  change: (id: string) => Promise<unknown>;
  /** Makes a notification of Bob about the object; the default is `make`. Null: no notification is about such objects. */
  notify?: ((id: string) => Promise<unknown>) | null;
  /** Bob loses access. */
  revoke: (id: string) => Promise<{ status: number }>;
}

const TIMES = { start: '2027-03-01T09:00:00Z', end: '2027-03-01T10:00:00Z' };

describe('a member who loses access', () => {
  let livekit: LiveKit;
  let app: TestApp;
  let at: WebhookTest;
  let push: PushTest;
  let service: PushService;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    livekit = await LiveKit.start();
    app = await TestApp.start(livekit.settings);
    livekit.webhooks.targets.push(app.base);
    at = new WebhookTest(app, await WebhookReceiver.start());
    service = await PushService.start();
    push = new PushTest(app, service);
    [alice, bob] = await app.tenant('rights', 'alice', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    await at?.receiver.stop();
    await service?.stop();
    await livekit?.stop();
  });

  const bobAs = (role: string) => [{ user_id: bob.id, role }];
  const cases: Case[] = [
    {
      kind: 'note',
      type: 'note.updated',
      make: async () => {
        const { id } = ok(await alice.api.post('/notes', { title: 'Note', content: '' }), 201).note;
        ok(await alice.api.put(`/notes/${id}/invited`, { invited: bobAs('viewer') }));
        return id;
      },
      change: async (id) => {
        const { revision } = ok(await alice.api.get(`/notes/${id}`)).note;
        ok(await alice.api.patch(`/notes/${id}`, { title: randomUUID(), base_revision: revision }));
      },
      revoke: (id) => alice.api.put(`/notes/${id}/invited`, { invited: [] }),
    },
    {
      kind: 'task',
      type: 'task.updated',
      make: async () => (await at.task(alice, 'Task', { assignees: [bob.id] })).id,
      change: async (id) => {
        const { revision } = ok(await alice.api.get(`/tasks/${id}`)).task;
        ok(await alice.api.patch(`/tasks/${id}`, { title: randomUUID(), base_revision: revision }));
      },
      revoke: async (id) => {
        const { revision } = ok(await alice.api.get(`/tasks/${id}`)).task;
        return alice.api.patch(`/tasks/${id}`, { assignees: [], base_revision: revision });
      },
    },
    {
      kind: 'calendar event',
      type: 'calendar.event.created',
      make: async () => {
        const { id } = ok(await alice.api.post('/calendar', { name: 'Shared' }), 201).calendar;
        ok(await alice.api.put(`/calendar/${id}`, { shares: bobAs('reader') }));
        return id;
      },
      change: async (id) =>
        ok(await alice.api.post(`/calendar/${id}/events`, { title: 'Offsite', ...TIMES }), 201),
      notify: null,
      revoke: (id) => alice.api.put(`/calendar/${id}`, { shares: [] }),
    },
    {
      kind: 'chat message',
      type: 'chat.message.sent',
      make: async () => {
        const room = { type: 'group', name: 'Room', member_ids: [bob.id] };
        return ok(await alice.api.post('/chat/rooms', room), 201).room.id;
      },
      change: async (id) =>
        ok(
          await alice.api.post(`/chat/rooms/${id}/messages`, { client_msg_id: randomUUID(), body: 'Hi' }),
          201,
        ),
      revoke: (id) => alice.api.delete(`/chat/rooms/${id}/members/${bob.id}`),
    },
    {
      kind: 'contact',
      type: 'contact.created',
      make: async () => {
        const book = { name: 'Customers', shares: [bob.email] };
        return ok(await alice.api.post('/contact/addressbooks', book), 201).addressbook.id;
      },
      change: async (id) =>
        ok(
          await alice.api.post(`/contact/addressbooks/${id}/contacts`, {
            external_id: randomUUID(),
            full_name: 'Maria Silva',
          }),
          201,
        ),
      notify: null,
      revoke: (id) => alice.api.put(`/contact/addressbooks/${id}`, { shares: [] }),
    },
    {
      kind: 'form',
      type: 'form.published',
      make: sharedForm,
      change: async (id) => {
        const title = randomUUID();
        ok(
          await alice.api.patch(`/forms/${id}`, {
            definition: definitionOf([{ id: 'name', type: 'short_text', title }]),
          }),
        );
        ok(await alice.api.post(`/forms/${id}/publish`));
      },
      notify: null,
      revoke: (id) => alice.api.put(`/forms/${id}/access`, { access: [] }),
    },
    {
      kind: 'response to a form',
      type: 'form.response_submitted',
      make: sharedForm,
      change: (id) => submit(id),
      notify: (id) => submit(id),
      revoke: (id) => alice.api.put(`/forms/${id}/access`, { access: [] }),
    },
    {
      kind: 'call of a chat room',
      type: 'call.started',
      make: sharedRoom,
      change: (id) => startCall({ room_id: id }),
      notify: (id) => startCall({ room_id: id }),
      revoke: (id) => alice.api.delete(`/chat/rooms/${id}/members/${bob.id}`),
    },
  ];

  /** A form whose responses Bob sees. */
  async function sharedForm(): Promise<string> {
    const { id } = await published(alice);
    ok(await alice.api.put(`/forms/${id}/access`, { access: bobAs('editor') }));
    return id;
  }
  const submit = async (form: string): Promise<unknown> =>
    ok(await alice.api.post(`/forms/${form}/submit`, { answers: { name: 'Gus' } }), 201);
  async function sharedRoom(): Promise<string> {
    const input = { type: 'group', name: 'Room', member_ids: [bob.id] };
    return ok(await alice.api.post('/chat/rooms', input), 201).room.id;
  }
  let running: string | undefined;
  /** Starts a call, and ends the one before. @returns its id */
  async function startCall(fields: object): Promise<string> {
    if (running) ok(await alice.api.post(`/call/${running}/end`));
    running = ok(await alice.api.post('/call/rooms', { title: 'Budget', ...fields }), 201).room.id;
    return running as string;
  }

  test.each(cases)('of a $kind gets no hook for what waits and for what follows', async (each) => {
    const id = await each.make();
    // What made it is delivered before the subscription exists.
    await at.deliver();
    const hook = await at.hook(bob, [each.type]);
    await each.change(id);
    await at.deliver();
    expect(at.receiver.of(hook.path)).toHaveLength(1);
    at.receiver.on(hook.path, answer(503));
    await each.change(id);
    await at.deliver();
    expect(at.receiver.of(hook.path)).toHaveLength(2);
    at.receiver.on(hook.path, answer(204));
    expect((await each.revoke(id)).status).toBe(200);
    await each.change(id);
    await at.deliver();
    await at.retry();
    expect(at.receiver.of(hook.path)).toHaveLength(2);
    expect(await at.deliveries(bob, hook.id, '?state=pending')).toEqual([]);
  });

  test.each(cases.filter(({ notify }) => notify !== null))(
    'of a $kind gets no push message for what waits',
    async ({ make, notify, revoke }) => {
      const { device } = await push.subscribe(bob);
      service.on(device, respond(503));
      const id = await make();
      await notify?.(id);
      await push.deliver();
      const sent = service.of(device).length;
      expect(sent).toBeGreaterThan(0);
      service.on(device, respond(201));
      expect((await revoke(id)).status).toBe(200);
      await push.later();
      expect(service.of(device)).toHaveLength(sent);
    },
  );
});
