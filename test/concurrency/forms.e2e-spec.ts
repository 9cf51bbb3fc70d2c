import { FormClock } from '../../src/modules/forms/definitions/form-clock.js';
import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { definitionOf, ok, published, SIMPLE } from '../support/domains/forms.ts';

/** Two processes of the service on one database. */
describe('concurrent submissions', () => {
  let app: TestApp;
  let second: TestApp;
  let users: TestUser[];

  beforeAll(async () => {
    app = await TestApp.start();
    second = await TestApp.start({}, app.databaseUrl);
    users = await app.tenant('acme', 'owner', ...Array.from({ length: 10 }, (_, n) => `user${n}`));
  });
  afterAll(async () => {
    await second?.stop();
    await app?.stop();
  });

  const owner = () => users[0] as TestUser;
  const open = async (settings: object, definition: object = SIMPLE) => {
    const form = await published(owner(), definition, { settings });
    const access = users.slice(1).map(({ id }) => ({ user_id: id, role: 'respondent' }));
    ok(await owner().api.put(`/forms/${form.id}/access`, { access }));
    return form;
  };
  /** The user's client of one of the two processes. */
  const at = (n: number, person: TestUser) => (n % 2 === 0 ? person.api : second.as(person.token));
  const submit = (n: number, person: TestUser, form: any, more: object = {}) =>
    at(n, person).post(`/forms/${form.id}/submit`, { answers: { name: `n${n}` }, ...more });
  const countOf = async (form: any) =>
    (await app.sql(`SELECT count(*)::int AS n FROM form_responses WHERE form_id = $1`, [form.id]))[0].n;

  test('200 submitters: exactly as many responses as the quota', async () => {
    const form = await open({ max_responses: 37 });
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, n) => submit(n, users[1 + (n % 10)] as TestUser, form)),
    );
    const statuses = responses.map(({ status, body }) => (status === 201 ? 'stored' : body.reason));
    expect([
      statuses.filter((s) => s === 'stored').length,
      statuses.filter((s) => s === 'full').length,
    ]).toEqual([37, 163]);
    expect(await countOf(form)).toBe(37);
    expect(ok(await owner().api.get(`/forms/${form.id}`)).form.response_count).toBe(37);
  });

  test.each([[false], [true]])('one response of each user (anonymous: %s)', async (anonymous) => {
    const form = await open({ one_per_user: true, anonymous });
    const responses = await Promise.all(
      Array.from({ length: 80 }, (_, n) => submit(n, users[1 + (n % 10)] as TestUser, form)),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(new Set(responses.filter(({ status }) => status !== 201).map(({ body }) => body.error))).toEqual(
      new Set(['already_submitted']),
    );
    expect(await countOf(form)).toBe(10);
  });

  test.each([[{}], [{ one_per_user: true }], [{ max_responses: 1 }]])(
    'one response of each client_response_id (%j)',
    async (settings) => {
      const form = await open(settings);
      const client_response_id = crypto.randomUUID();
      const user = users[1] as TestUser;
      const responses = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          at(n, user).post(`/forms/${form.id}/submit`, { answers: { name: 'same' }, client_response_id }),
        ),
      );
      const ids = responses.map(({ body }) => body.response?.id);
      expect([new Set(ids).size, responses.filter(({ status }) => status === 201).length]).toEqual([1, 1]);
      expect(await countOf(form)).toBe(1);
    },
  );

  test('no response is stored after the reply to a closure', async () => {
    for (let round = 0; round < 10; round += 1) {
      const form = await open({});
      let closed = false;
      const late: number[] = [];
      const submitters = users.slice(1).map(async (person, n) => {
        for (let k = 0; k < 6; k += 1) {
          const startedLate = closed;
          const { status } = await submit(n, person, form);
          if (startedLate) late.push(status);
        }
      });
      ok(await at(round, owner()).post(`/forms/${form.id}/accepting`, { accepting: false }));
      const atClosure = await countOf(form);
      closed = true;
      await Promise.all(submitters);
      expect(late.filter((status) => status !== 403)).toEqual([]);
      expect(await countOf(form)).toBe(atClosure);
    }
  });

  test('publications during submissions: each response has a version that its answers fit', async () => {
    const form = await open({});
    const answers = Array.from({ length: 40 }, (_, n) => submit(n, users[1 + (n % 10)] as TestUser, form));
    for (let n = 2; n <= 6; n += 1) {
      const definition = definitionOf([
        { id: 'name', type: 'short_text', title: `Name ${n}`, required: true },
      ]);
      ok(await owner().api.patch(`/forms/${form.id}`, { definition }));
      ok(await owner().api.post(`/forms/${form.id}/publish`));
    }
    for (const { status } of await Promise.all(answers)) expect(status).toBe(201);
    expect(await countOf(form)).toBe(40);
  });

  describe('closures that no user causes', () => {
    const both = <T>(run: (each: TestApp) => Promise<T>) => Promise.all([app, second].map(run));
    const tick = () => both((each) => each.get<FormClock>(FormClock).tick());
    /** Types of the notifications of a user about a form. */
    const notified = async (person: TestUser, form: any): Promise<string[]> => {
      await both((each) => each.get<OutboxWorker>(OutboxWorker).drain());
      const { notifications } = ok(await person.api.get('/notifications?limit=200'));
      return notifications
        .filter(({ type, subject }: any) => type !== 'form.response' && subject?.id === form.id)
        .map(({ type }: any) => type);
    };
    const settings = (form: any, values: object) =>
      owner().api.patch(`/forms/${form.id}`, { settings: values });
    const endWindow = (form: any) => settings(form, { closes_at: '2001-01-01T00:00:00Z' });

    test('the end of the window is reported once, to owner and editors', async () => {
      const form = await open({ closes_at: '2999-01-01T00:00:00Z' });
      const closed = await open({});
      ok(await endWindow(closed));
      ok(await owner().api.post(`/forms/${closed.id}/accepting`, { accepting: false }));
      await tick();
      expect(await notified(owner(), form)).toEqual([]);
      ok(await endWindow(form));
      for (let n = 0; n < 3; n += 1) await tick();
      // Other settings change nothing.
      ok(await settings(form, { confirmation: 'Thanks' }));
      await tick();
      expect(await notified(owner(), form)).toEqual(['form.window_ended']);
      expect(await notified(users[1] as TestUser, form)).toEqual([]);
      expect(await notified(owner(), closed)).toEqual([]);
      // A new window has a new end.
      ok(await settings(form, { closes_at: '2002-01-01T00:00:00Z' }));
      await tick();
      expect(await notified(owner(), form)).toEqual(['form.window_ended', 'form.window_ended']);
    });

    test('many windows that end at once are each reported once', async () => {
      const forms = await Promise.all(Array.from({ length: 12 }, () => open({})));
      for (const form of forms) ok(await endWindow(form));
      const counts = await Promise.all([tick(), tick(), tick()]);
      expect(counts.flat().reduce((sum, count) => sum + count, 0)).toBe(forms.length);
      for (const form of forms) expect(await notified(owner(), form)).toEqual(['form.window_ended']);
    });

    test('a reached quota is reported once, also when the window ends later', async () => {
      const form = await open({ max_responses: 5 });
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => submit(n, users[1 + (n % 10)] as TestUser, form)),
      );
      expect(await countOf(form)).toBe(5);
      expect(await notified(owner(), form)).toEqual(['form.quota_reached']);
      ok(await endWindow(form));
      await tick();
      expect(await notified(owner(), form)).toEqual(['form.quota_reached']);
    });

    test('a quota that an edit lowers to the number of responses is reported once, to the other editors', async () => {
      const editor = users[1] as TestUser;
      const form = await open({});
      const access = [{ user_id: editor.id, role: 'editor' }];
      ok(await owner().api.put(`/forms/${form.id}/access`, { access }));
      for (let n = 0; n < 3; n += 1) expect((await submit(n, owner(), form)).status).toBe(201);
      ok(await settings(form, { max_responses: 4 }));
      expect(await notified(editor, form)).toEqual([]);
      ok(await settings(form, { max_responses: 3 }));
      ok(await settings(form, { max_responses: 2 }));
      expect(await notified(editor, form)).toEqual(['form.quota_reached']);
      expect(await notified(owner(), form)).toEqual([]);
      // A form that is closed already does not become full.
      ok(await settings(form, { max_responses: null }));
      ok(await owner().api.post(`/forms/${form.id}/accepting`, { accepting: false }));
      ok(await settings(form, { max_responses: 1 }));
      expect((await notified(editor, form)).toSorted()).toEqual(['form.closed', 'form.quota_reached']);
    });
  });
});
