import { TestApp, type TestUser } from '../support/app.ts';
import { definitionOf, ok, published, SIMPLE } from '../support/forms.ts';

/** Two processes of the service on one database. */
describe('concurrent submissions', () => {
  let app: TestApp;
  let second: TestApp;
  let people: TestUser[];

  beforeAll(async () => {
    app = await TestApp.start();
    second = await TestApp.start({}, app.databaseUrl);
    people = await app.tenant('acme', 'owner', ...Array.from({ length: 10 }, (_, n) => `user${n}`));
  });
  afterAll(async () => {
    await second?.stop();
    await app?.stop();
  });

  const owner = () => people[0] as TestUser;
  const open = async (settings: object, definition: object = SIMPLE) => {
    const form = await published(owner(), definition, { settings });
    const access = people.slice(1).map(({ id }) => ({ user_id: id, role: 'respondent' }));
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
      Array.from({ length: 200 }, (_, n) => submit(n, people[1 + (n % 10)] as TestUser, form)),
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
      Array.from({ length: 80 }, (_, n) => submit(n, people[1 + (n % 10)] as TestUser, form)),
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
      const user = people[1] as TestUser;
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
      const submitters = people.slice(1).map(async (person, n) => {
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
    const answers = Array.from({ length: 40 }, (_, n) => submit(n, people[1 + (n % 10)] as TestUser, form));
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
});
