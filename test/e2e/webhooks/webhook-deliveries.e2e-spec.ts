import { randomUUID } from 'node:crypto';
import { NotificationMails } from '../../../src/modules/notifications/mails/notification-mails.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { ok, published } from '../../support/domains/forms.ts';
import { WebhookTest } from '../../support/domains/webhooks.ts';
import { answer, verify, WebhookReceiver } from '../../support/network/webhook-receiver.ts';

describe('deliveries of webhooks', () => {
  let app: TestApp;
  let at: WebhookTest;
  let relay: OtherServer;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    relay = await OtherServer.start();
    app = await TestApp.start({ SMTP_URL: relay.url });
    at = new WebhookTest(app, await WebhookReceiver.start());
    [alice, bob] = await app.tenant('deliveries', 'alice', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    await at?.receiver.stop();
    await relay?.stop();
  });

  test('contain the facts and the object as its reader sees it, signed by Standard Webhooks', async () => {
    const hook = await at.hook(alice, ['note.created', 'note.updated', 'note.trashed']);
    const { note } = ok(await alice.api.post('/notes', { title: 'Plan', content: '<p>One</p>' }), 201);
    ok(await alice.api.patch(`/notes/${note.id}`, { title: 'Plan 2', base_revision: 1 }));
    await at.deliver();
    ok(await alice.api.delete(`/notes/${note.id}`, { base_revision: 2 }));
    await at.deliver();
    const messages = await at.receiver.received(hook.path, 3);
    for (const message of messages) expect(verify(message, hook.secret)).toEqual(message.body);
    expect(messages.map(({ body }) => [body.type, body.data['revision']])).toEqual([
      ['note.created', 1],
      ['note.updated', 2],
      ['note.trashed', 2],
    ]);
    expect(messages[2]!.body.data).toEqual({
      note_id: note.id,
      revision: 2,
      actor_id: alice.id,
      note: ok(await alice.api.get(`/notes/${note.id}`)).note,
    });
    const listed = await at.deliveries(alice, hook.id);
    expect(listed.map(({ id, state, status_code }) => [id, state, status_code])).toEqual(
      messages.toReversed().map(({ id }) => [id, 'delivered', 204]),
    );
  });

  test('report a next task that goes as its task is opened again, without it', async () => {
    const { folder } = ok(await alice.api.post('/task_folders', { name: 'Series' }), 201);
    const types = ['task.deleted'];
    const hook = await at.hook(alice, types);
    const filtered = await at.hook(alice, types, { filter: { folder_id: folder.id } });
    const series = { title: 'Water', date: '2027-03-01', recurrence: 'FREQ=DAILY', folder_id: folder.id };
    const { task } = ok(await alice.api.post('/tasks', series), 201);
    const { next_task_id: next } = ok(await alice.api.patch(`/tasks/${task.id}`, { done: true })).task;
    ok(await alice.api.patch(`/tasks/${task.id}`, { done: false }));
    await at.deliver();
    for (const { path } of [hook, filtered])
      expect(at.receiver.of(path).map(({ body }) => body.data)).toEqual([
        { task_id: next, revision: 1, actor_id: alice.id, task: null },
      ]);
  });

  test('reach each domain: tasks, events, forms, members', async () => {
    const [owner, guest] = await app.tenant('domains', 'owner', 'guest');
    const { event_types: types } = ok(await owner.api.get('/webhooks/event-types'));
    const hook = await at.hook(
      owner,
      types.map(({ type }: any) => type),
    );
    // Nothing is sent before the event is deleted.
    const release = await holdEvents(app);
    const task = await at.task(owner, 'Book the venue');
    ok(await owner.api.post(`/tasks/${task.id}/comments`, { body: 'Soon' }), 201);
    const { calendar } = ok(await owner.api.post('/calendar', { name: 'Trips' }), 201);
    const { event } = ok(
      await owner.api.post(`/calendar/${calendar.id}/events`, {
        title: 'Offsite',
        start: '2027-03-01T09:00:00Z',
        end: '2027-03-01T10:00:00Z',
      }),
      201,
    );
    ok(
      await owner.api.delete(`/calendar/${calendar.id}/events/${event.id}`, {
        base_revision: event.revision,
      }),
    );
    const form = await published(owner);
    const response = ok(
      await owner.api.post(`/forms/${form.id}/submit`, { answers: { name: 'Gus', color: 'red' } }),
      201,
    ).response;
    ok(await owner.api.post(`/tenant/members/${guest.id}/deactivate`));
    await release();
    await at.deliver();
    const data = (type: string) =>
      at.receiver.of(hook.path).find(({ body }) => body.type === type)?.body.data ?? null;
    expect(data('task.created')).toMatchObject({ task_id: task.id, task: { title: 'Book the venue' } });
    expect(data('task.commented')).toMatchObject({ comment_id: expect.any(String) });
    // The event was deleted before its first delivery.
    expect(data('calendar.event.created')).toMatchObject({ event_id: event.id, event: null });
    expect(data('calendar.event.deleted')).toMatchObject({ event_id: event.id, event: null });
    expect(data('form.published')).toMatchObject({ form_id: form.id, form: { title: 'Survey' } });
    expect(data('form.response_submitted')).toMatchObject({
      response_id: response.id,
      response: { answers: { name: 'Gus', color: 'red' } },
    });
    expect(data('member.deactivated')).toMatchObject({
      user_id: guest.id,
      member: { status: 'deactivated' },
    });
  });

  test('are dropped once the owner has lost access, and in another workspace', async () => {
    const [stranger] = await app.tenant('elsewhere', 'stranger');
    const shared = await at.hook(bob, ['note.updated']);
    const other = await at.hook(stranger, ['note.updated']);
    const { note } = ok(await alice.api.post('/notes', { title: 'Shared', content: '' }), 201);
    ok(await alice.api.put(`/notes/${note.id}/invited`, { invited: [{ user_id: bob.id, role: 'viewer' }] }));
    await at.deliver();
    ok(await alice.api.patch(`/notes/${note.id}`, { title: 'Seen', base_revision: 1 }));
    await at.deliver();
    expect(at.receiver.of(shared.path)).toHaveLength(1);
    at.receiver.on(shared.path, answer(503));
    ok(await alice.api.patch(`/notes/${note.id}`, { title: 'Secret', base_revision: 2 }));
    await at.deliver();
    expect(at.receiver.of(shared.path)).toHaveLength(2);
    at.receiver.on(shared.path, answer(204));
    ok(await alice.api.put(`/notes/${note.id}/invited`, { invited: [] }));
    await at.retry();
    expect(at.receiver.of(shared.path)).toHaveLength(2);
    expect(await at.deliveries(bob, shared.id)).toMatchObject([{ state: 'delivered' }]);
    expect(at.receiver.of(other.path)).toEqual([]);
  });

  test('of messages reach members of the room only; without a webhook they are not appended', async () => {
    const { room } = ok(
      await alice.api.post('/chat/rooms', { type: 'group', name: 'Trip', member_ids: [bob.id] }),
      201,
    );
    const path = `/chat/rooms/${room.id}/messages`;
    const send = async (body: string) =>
      ok(await alice.api.post(path, { client_msg_id: randomUUID(), body }), 201).message;
    const release = await holdEvents(app);
    await send('Before');
    expect(await app.sql(`SELECT FROM outbox WHERE type LIKE 'chat.message.%'`)).toEqual([]);
    await release();
    const types = ['chat.message.sent', 'chat.message.edited', 'chat.message.deleted'];
    const hook = await at.hook(bob, types, { filter: { room_id: room.id } });
    const message = await send('Hello');
    ok(await alice.api.patch(`${path}/${message.id}`, { body: 'Hello all' }));
    await at.deliver();
    ok(await alice.api.delete(`${path}/${message.id}`));
    await at.deliver();
    const messages = await at.receiver.received(hook.path, 3);
    expect(messages.map(({ body }) => [body.type, body.data['actor_id'], body.data['message'].id])).toEqual(
      types.map((type) => [type, alice.id, message.id]),
    );
    expect(messages.at(-1)!.body.data['message']).toMatchObject({ body: '', deleted_by: alice.id });
    ok(await alice.api.delete(`/chat/rooms/${room.id}/members/${bob.id}`));
    await send('Secret');
    await at.deliver();
    expect(at.receiver.of(hook.path)).toHaveLength(3);
    ok(await bob.api.delete(`/webhooks/${hook.id}`, { base_revision: 1 }));
    expect(await app.sql('SELECT FROM event_interests WHERE holder = $1', [hook.id])).toEqual([]);
  });

  test('are filtered by form, folder and calendar', async () => {
    const [one, two] = [await published(alice), await published(alice)];
    const { folder } = ok(await alice.api.post('/task_folders', { name: 'Trip' }), 201);
    const { calendar } = ok(await alice.api.post('/calendar', { name: 'Trips' }), 201);
    const hook = await at.hook(alice, ['form.response_submitted', 'task.created', 'calendar.event.created'], {
      filter: { form_id: one.id, folder_id: folder.id, calendar_id: calendar.id },
    });
    for (const { id } of [two, one])
      ok(await alice.api.post(`/forms/${id}/submit`, { answers: { name: 'Bob' } }), 201);
    await at.task(alice, 'Elsewhere');
    const task = await at.task(alice, 'Inside', { folder_id: folder.id });
    const { calendars } = ok(await alice.api.get('/calendar'));
    const placed = [];
    for (const { id } of calendars) {
      const times = { start: '2027-03-01T09:00:00Z', end: '2027-03-01T10:00:00Z' };
      const { event } = ok(await alice.api.post(`/calendar/${id}/events`, { title: id, ...times }), 201);
      if (id === calendar.id) placed.push(event.id);
    }
    await at.deliver();
    const data = at.receiver.of(hook.path).map(({ body }) => body.data);
    expect(data).toMatchObject([{ form_id: one.id }, { task_id: task.id }, { event_id: placed[0] }]);
  });

  test('are repeated after failures, under the same id, and do not hold up later events', async () => {
    const hook = await at.hook(alice, ['task.created']);
    at.receiver.on(hook.path, (response, { body }) =>
      answer(body.data['task'].title === 'Poison' ? 500 : 200, 'x'.repeat(3_000_000))(
        response,
        null as never,
      ),
    );
    await at.task(alice, 'Poison');
    await at.deliver();
    await at.task(alice, 'Fine');
    await at.deliver();
    await at.app.sql(`UPDATE webhook_queues SET ready_at = now(), held_until = now() WHERE webhook_id = $1`, [
      hook.id,
    ]);
    await at.deliver();
    const sent = at.receiver.of(hook.path).map(({ body }) => body.data['task'].title);
    expect(sent).toEqual(['Poison', 'Fine']);
    const [fine, poison] = await at.deliveries(alice, hook.id);
    expect(fine).toMatchObject({ state: 'delivered', attempts: 1, response: 'x'.repeat(1_024) });
    expect(poison).toMatchObject({ state: 'pending', attempts: 1, status_code: 500, error: null });
    await at.retry();
    const again = at.receiver.of(hook.path).at(-1)!;
    expect([again.id, again.body.data['task'].title]).toEqual([poison.id, 'Poison']);
    for (let attempt = 3; attempt <= 11; attempt += 1) await at.retry();
    expect((await at.deliveries(alice, hook.id, '?state=failed'))[0]).toMatchObject({
      id: poison.id,
      attempts: 11,
    });
    await at.retry();
    expect(at.receiver.of(hook.path)).toHaveLength(12);
    expect(ok(await alice.api.get(`/webhooks/${hook.id}`)).webhook.active).toBe(true);
    // By hand, from the start.
    at.receiver.on(hook.path, answer(200));
    ok(await alice.api.post(`/webhooks/${hook.id}/deliveries/${poison.id}/redeliver`));
    await at.deliver();
    expect((await at.deliveries(alice, hook.id, '?state=delivered')).map(({ attempts }) => attempts)).toEqual(
      [1, 1],
    );
  });

  test('a receiver that hangs, and one without a server, delay no other webhook', async () => {
    const silent = await at.hook(alice, ['task.created']);
    const refused = await at.hook(alice, ['task.created'], { url: 'http://127.0.0.1:9/x' });
    const lively = await at.hook(alice, ['task.created']);
    let release = (): void => undefined;
    at.receiver.on(silent.path, (response) => void (release = () => response.writeHead(204).end()));
    for (const title of ['A', 'B', 'C']) await at.task(alice, title);
    const messages = await at.receiver.received(lively.path, 3);
    expect(messages.map(({ body }) => body.data['task'].title)).toEqual(['A', 'B', 'C']);
    expect(await at.receiver.received(silent.path, 1)).toHaveLength(1);
    at.receiver.on(silent.path, answer(204));
    release();
    await at.receiver.received(silent.path, 3);
    await at.deliver();
    expect(await at.deliveries(alice, refused.id, '?state=pending')).toHaveLength(3);
    const last = (await at.deliveries(alice, refused.id)).at(-1);
    expect(last).toMatchObject({ status_code: null, error: expect.stringContaining('does not respond') });
  });

  test('a redirect is a failure, and is not followed', async () => {
    const hook = await at.hook(alice, ['task.created']);
    const target = await at.hook(alice, ['note.created']);
    at.receiver.on(hook.path, answer(307, '', { location: at.receiver.urlOf(target.path) }));
    await at.task(alice, 'Elsewhere');
    await at.deliver();
    at.receiver.on(hook.path, answer(302, '', { location: 'http://10.0.0.1/' }));
    await at.retry();
    expect(at.receiver.of(hook.path)).toHaveLength(2);
    expect(at.receiver.of(target.path)).toEqual([]);
    const [delivery] = await at.deliveries(alice, hook.id);
    expect(delivery).toMatchObject({ state: 'pending', attempts: 2, status_code: 302, error: null });
  });

  /** Fails unless the owner gets one notification and one mail about the deactivation. */
  async function expectTold(id: string, description: string): Promise<void> {
    await at.deliver();
    const { notifications } = ok(await alice.api.get('/notifications?type=webhook.disabled'));
    const about = notifications.filter(({ subject }: any) => subject.id === id);
    expect(about).toMatchObject([
      { title: expect.stringContaining(`“${description}”`), subject: { kind: 'webhook', id } },
    ]);
    await app.sql(
      'UPDATE notifications SET email_due_at = now() - make_interval(secs => 1) WHERE email_due_at IS NOT NULL',
    );
    await app.inCells(() => app.get(NotificationMails).run());
    await at.deliver();
    const mails = relay.received.filter(
      ({ to, raw }) => to.includes(alice.email) && raw.includes(description),
    );
    expect(mails).toHaveLength(1);
  }

  test('410 deactivates the webhook at once, with a notification and a mail', async () => {
    const hook = await at.hook(alice, ['task.created'], { description: 'Old partner' });
    at.receiver.on(hook.path, answer(410));
    await at.task(alice, 'Gone');
    await at.deliver();
    const { webhook } = ok(await alice.api.get(`/webhooks/${hook.id}`));
    expect(webhook).toMatchObject({ active: false, disabled_reason: 'gone', revision: 2 });
    await expectTold(hook.id, 'Old partner');
    await at.task(alice, 'Unseen');
    await at.deliver();
    expect(at.receiver.of(hook.path)).toHaveLength(1);
    // What is pending is sent after an activation.
    at.receiver.on(hook.path, answer(200));
    ok(await alice.api.patch(`/webhooks/${hook.id}`, { active: true, base_revision: 2 }));
    await at.deliver();
    expect(at.receiver.of(hook.path).map(({ body }) => body.data['task'].title)).toEqual(['Gone', 'Gone']);
  });

  test('are those of events that happened while the webhook existed and was active, whenever the outbox delivers them', async () => {
    const types = ['task.created'];
    const [hook, waiting] = [await at.hook(alice, types), await at.hook(alice, types)];
    const patch = async ({ id }: { id: string }, active: boolean) => {
      const { revision } = ok(await alice.api.get(`/webhooks/${id}`)).webhook;
      ok(await alice.api.patch(`/webhooks/${id}`, { active, base_revision: revision }));
    };
    const sentTo = ({ path }: { path: string }) =>
      at.receiver.of(path).map(({ body }) => body.data['task'].title);
    const release = await holdEvents(app);
    await at.task(alice, 'Before');
    for (const each of [hook, waiting]) await patch(each, false);
    await at.task(alice, 'While they were inactive');
    await patch(hook, true);
    await at.task(alice, 'After');
    const later = await at.hook(alice, types);
    await release();
    await at.deliver();
    expect([sentTo(hook), sentTo(waiting), sentTo(later)]).toEqual([['Before', 'After'], [], []]);
    expect(await at.deliveries(alice, waiting.id)).toMatchObject([
      { state: 'pending', attempts: 0, next_attempt_at: null },
    ]);
    await patch(waiting, true);
    await at.deliver();
    expect(sentTo(waiting)).toEqual(['Before']);
  });

  test('failures for three days deactivate the webhook, with a notification and a mail', async () => {
    const hook = await at.hook(alice, ['task.created'], { description: 'Silent partner' });
    at.receiver.on(hook.path, answer(500));
    await at.task(alice, 'Lost');
    await at.deliver();
    const failFor = async (hours: number): Promise<any> => {
      await app.sql(
        `UPDATE webhook_queues SET failing_since = now() - make_interval(hours => $2) WHERE webhook_id = $1`,
        [hook.id, hours],
      );
      await at.retry();
      return ok(await alice.api.get(`/webhooks/${hook.id}`)).webhook;
    };
    expect(await failFor(70)).toMatchObject({ active: true, disabled_reason: null });
    expect(await failFor(72)).toMatchObject({ active: false, disabled_reason: 'failing' });
    await expectTold(hook.id, 'Silent partner');
  });

  test('the next attempt is not before the rest of a receiver that fails', async () => {
    const hook = await at.hook(alice, ['task.created']);
    at.receiver.on(hook.path, answer(500));
    await at.task(alice, 'First');
    await at.deliver();
    const rest = new Date(Date.now() + 3_600_000);
    await app.sql('UPDATE webhook_queues SET held_until = $2, ready_at = $2 WHERE webhook_id = $1', [
      hook.id,
      rest,
    ]);
    const [{ next_attempt_at }] = (await at.deliveries(alice, hook.id)) as [any];
    expect(next_attempt_at).toBe(rest.toISOString());
  });

  test('after a rotation both secrets verify; after the overlap only the new one', async () => {
    const hook = await at.hook(alice, ['task.created']);
    const { webhook } = ok(await alice.api.post(`/webhooks/${hook.id}/rotate-secret`));
    await at.task(alice, 'Both');
    await at.deliver();
    const [both] = at.receiver.of(hook.path);
    for (const secret of [hook.secret, webhook.secret]) expect(verify(both!, secret)).toEqual(both!.body);
    await app.sql('UPDATE webhooks SET previous_until = now() WHERE id = $1', [hook.id]);
    await at.task(alice, 'One');
    await at.deliver();
    const [, one] = at.receiver.of(hook.path);
    expect(verify(one!, webhook.secret)).toEqual(one!.body);
    expect(() => verify(one!, hook.secret)).toThrow('No matching signature');
  });

  test('have the order of the events, also of those that the outbox delivers in another one', async () => {
    const hook = await at.hook(alice, ['task.updated', 'task.created']);
    const release = await holdEvents(app);
    const { id } = await at.task(alice, 'One');
    for (let revision = 1; revision <= 5; revision += 1)
      ok(await alice.api.patch(`/tasks/${id}`, { title: `T${revision}`, base_revision: revision }));
    // The newest event comes first: it waits for those that are still in the outbox.
    await app.sql(
      `UPDATE outbox SET due_at = now() - make_interval(secs => 1)
        WHERE payload->>'task_id' = $1 AND (payload->>'revision')::int >= 5`,
      [id],
    );
    await at.deliver();
    expect(at.receiver.of(hook.path)).toEqual([]);
    await release();
    await at.deliver();
    const messages = await at.receiver.received(hook.path, 6);
    expect(messages.map(({ body }) => body.data['revision'])).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('are repeated from a time on, in their order', async () => {
    const hook = await at.hook(alice, ['task.created']);
    for (const title of ['One', 'Two', 'Three']) await at.task(alice, title);
    await at.deliver();
    const [, two] = (await at.deliveries(alice, hook.id)).toReversed();
    const since = new Date(new Date(two.occurred_at).getTime()).toISOString();
    const { redelivered } = ok(await alice.api.post(`/webhooks/${hook.id}/redeliver`, { since }));
    expect(redelivered).toBe(2);
    await at.deliver();
    const titles = at.receiver.of(hook.path).map(({ body }) => body.data['task'].title);
    expect(titles).toEqual(['One', 'Two', 'Three', 'Two', 'Three']);
    const unknown = await alice.api.post(`/webhooks/${hook.id}/deliveries/${randomUUID()}/redeliver`);
    expect(unknown.status).toBe(404);
  });

  test('are listed for 30 days', async () => {
    const hook = await at.hook(alice, ['task.created']);
    for (const title of ['Old', 'New']) await at.task(alice, title);
    await at.deliver();
    const [kept, old] = await at.deliveries(alice, hook.id);
    await app.sql(`UPDATE webhook_deliveries SET occurred_at = now() - interval '31 days' WHERE id = $1`, [
      old.id,
    ]);
    await app.sql(`DELETE FROM job_runs WHERE name = 'webhooks.forget-deliveries'`);
    await app.get(PeriodicJobs).runDue();
    expect((await at.deliveries(alice, hook.id)).map(({ id }) => id)).toEqual([kept.id]);
  });

  test('end when the owner leaves, or loses the permission for webhooks of the workspace', async () => {
    const [boss, leaver, admin] = await app.tenant('leavers', 'boss', 'leaver', 'admin');
    const { group } = ok(
      await boss.api.post('/rbac/groups', { name: 'Integrators', permissions: ['webhooks.manage'] }),
      201,
    );
    ok(await boss.api.post(`/rbac/groups/${group.id}/members`, { user_ids: [admin.id] }), 201);
    const own = await at.hook(leaver, ['task.created']);
    const ofTenant = await at.hook(admin, ['task.created'], { scope: 'tenant' });
    await at.task(leaver, 'Last');
    await at.task(admin, 'Last');
    await at.deliver();
    expect(at.receiver.of(own.path)).toHaveLength(1);
    expect(at.receiver.of(ofTenant.path)).toHaveLength(1);
    await app.sql(
      `INSERT INTO webhook_deliveries (tenant_id, webhook_id, id, event_type, facts, occurred_at, due_at)
       SELECT tenant_id, webhook_id, gen_random_uuid(), event_type, facts, now(), now() FROM webhook_deliveries
        WHERE webhook_id = ANY ($1)`,
      [[own.id, ofTenant.id]],
    );
    ok(await boss.api.post(`/tenant/members/${leaver.id}/deactivate`));
    ok(await boss.api.delete(`/rbac/groups/${group.id}/members/${admin.id}`));
    await at.retry();
    expect(at.receiver.of(own.path)).toHaveLength(1);
    expect(at.receiver.of(ofTenant.path)).toHaveLength(1);
    const reasons = await app.sql(
      'SELECT disabled_reason FROM webhooks WHERE id = ANY ($1) ORDER BY scope DESC',
      [[own.id, ofTenant.id]],
    );
    expect(reasons.map(({ disabled_reason }) => disabled_reason)).toEqual([
      'owner_inactive',
      'permission_lost',
    ]);
  });
});
