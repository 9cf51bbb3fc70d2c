import { QUOTAS } from '../../src/platform/quotas/quotas.js';
import { type TestUser, TestApp } from '../support/app.ts';
import { ok } from '../support/domains/forms.ts';

describe('quotas of rows', () => {
  let app: TestApp;
  let ann: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  const FREE = 2;
  const concurrent = (path: string, body: (n: number) => object) =>
    Promise.all(Array.from({ length: 6 }, (_, n) => ann.api.post(path, body(n))));
  const statuses = (replies: { status: number }[]) => replies.map(({ status }) => status).toSorted();

  test('concurrent creations do not pass the limit of forms', async () => {
    const { form } = ok(await ann.api.post('/forms', { title: 'First' }), 201);
    await app.sql(
      `INSERT INTO forms SELECT (jsonb_populate_record(form, jsonb_build_object('id', gen_random_uuid()))).*
         FROM forms form, generate_series(1, $2) WHERE form.id = $1`,
      [form.id, QUOTAS.user.forms - FREE - 1],
    );
    const replies = await concurrent('/forms', (n) => ({ title: `${n}` }));
    expect(statuses(replies)).toEqual([201, 201, 409, 409, 409, 409]);
    const { body } = replies.find(({ status }) => status === 409)!;
    expect(body).toMatchObject({
      error: 'quota_exceeded',
      quota: 'forms',
      scope: 'user',
      limit: QUOTAS.user.forms,
    });
    // A deletion makes room.
    ok(await ann.api.delete(`/forms/${form.id}`), 200);
    ok(await ann.api.post('/forms', { title: 'Again' }), 201);
  });

  test('concurrent creations do not pass the limit of open polls; a cancelled poll is not open', async () => {
    const poll = (n: number) => ({
      title: `${n}`,
      time_zone: 'UTC',
      options: [
        { start: '2030-05-01T09:00:00', end: '2030-05-01T10:00:00' },
        { start: '2030-05-02T09:00:00', end: '2030-05-02T10:00:00' },
      ],
    });
    const first = ok(await ann.api.post('/calendar/polls', poll(0)), 201).poll;
    await app.sql(
      `INSERT INTO polls SELECT (jsonb_populate_record(poll, jsonb_build_object('id', gen_random_uuid()))).*
         FROM polls poll, generate_series(1, $2) WHERE poll.id = $1`,
      [first.id, QUOTAS.user.open_polls - FREE - 1],
    );
    const replies = await concurrent('/calendar/polls', poll);
    expect(statuses(replies)).toEqual([201, 201, 409, 409, 409, 409]);
    ok(await ann.api.post(`/calendar/polls/${first.id}/cancel`, {}), 200);
    ok(await ann.api.post('/calendar/polls', poll(9)), 201);
  });

  test('GET /tenant shows the quotas', async () => {
    expect(ok(await ann.api.get('/tenant'), 200).tenant.quotas).toEqual(QUOTAS);
  });
});
