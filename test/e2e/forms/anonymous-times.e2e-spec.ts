import { TestApp, type TestUser } from '../../support/app.ts';
import { definitionOf, ok, published } from '../../support/domains/forms.ts';
import { WebhookTest } from '../../support/domains/webhooks.ts';
import { answer, WebhookReceiver } from '../../support/network/webhook-receiver.ts';

const QUESTIONS = definitionOf([{ id: 'name', type: 'short_text', title: 'Name' }]);
const MINUTE = /:00\.000Z$/;
/** Ids of this version have no time. */
const WITHOUT_TIME = /^[0-9a-f]{8}-[0-9a-f]{4}-4/;

describe('the time of a response to an anonymous form', () => {
  let app: TestApp;
  let at: WebhookTest;
  let owner: TestUser;
  let ann: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new WebhookTest(app, await WebhookReceiver.start());
    [, owner, ann] = await app.tenant('acme', 'root', 'olga', 'ann');
  });
  afterAll(async () => {
    await app?.stop();
    await at?.receiver.stop();
  });

  /** The last response of a form with a quota, and what its owner learns of it. */
  const fill = async (anonymous: boolean, status = 204) => {
    const form = await published(owner, QUESTIONS, { settings: { anonymous, max_responses: 1 } });
    ok(
      await owner.api.put(`/forms/${form.id}/access`, { access: [{ user_id: ann.id, role: 'respondent' }] }),
    );
    const filter = { form_id: form.id };
    const hook = await at.hook(owner, ['form.response_submitted', 'form.closed'], { filter });
    at.receiver.on(hook.path, answer(status));
    const { response } = ok(await ann.api.post(`/forms/${form.id}/submit`, { answers: { name: 'x' } }), 201);
    await at.deliver();
    const { notifications } = ok(await owner.api.get('/notifications'));
    return {
      response,
      messages: at.receiver.of(hook.path),
      deliveries: await at.deliveries(owner, hook.id),
      notifications: notifications.filter(({ subject }: any) => subject.id === form.id),
    };
  };
  const typesOf = (messages: any[]): string[] => messages.map(({ body }) => body.type).toSorted();

  test('is to the minute in messages of webhooks, their list, and notifications', async () => {
    const { response, messages, deliveries, notifications } = await fill(true);
    expect(typesOf(messages)).toEqual(['form.closed', 'form.response_submitted']);
    for (const { id, body, headers } of messages) {
      expect(id).toMatch(WITHOUT_TIME);
      expect(headers['webhook-id']).toBe(id);
      expect(body.timestamp).toMatch(MINUTE);
    }
    const submitted = messages.find(({ body }) => body.type === 'form.response_submitted');
    expect(submitted!.body.data).toMatchObject({ response_id: response.id, response: { id: response.id } });
    expect(deliveries).toHaveLength(2);
    for (const { occurred_at, attempted_at } of deliveries)
      expect([occurred_at, attempted_at]).toEqual([
        expect.stringMatching(MINUTE),
        expect.stringMatching(MINUTE),
      ]);
    expect(notifications.map(({ type }: any) => type).toSorted()).toEqual([
      'form.quota_reached',
      'form.response',
    ]);
    for (const { id, created_at, updated_at } of notifications)
      expect([id, created_at, updated_at]).toEqual([
        expect.stringMatching(WITHOUT_TIME),
        expect.stringMatching(MINUTE),
        expect.stringMatching(MINUTE),
      ]);
  });

  test('is to the minute for a message that waits for its next attempt', async () => {
    const { deliveries } = await fill(true, 500);
    const waiting = deliveries.filter(({ state }) => state === 'pending');
    expect(waiting.length).toBeGreaterThan(0);
    for (const { next_attempt_at } of waiting) expect(next_attempt_at).toMatch(MINUTE);
  });

  test('is exact in another form', async () => {
    const { messages, deliveries, notifications } = await fill(false);
    const times = [
      ...messages.map(({ body }) => body.timestamp),
      ...deliveries.map(({ attempted_at }) => attempted_at),
      ...notifications.flatMap(({ created_at, updated_at }: any) => [created_at, updated_at]),
    ];
    expect(times.some((time) => !MINUTE.test(time))).toBe(true);
    for (const { id } of [...messages, ...notifications]) expect(id[14]).toBe('7');
  });
});
