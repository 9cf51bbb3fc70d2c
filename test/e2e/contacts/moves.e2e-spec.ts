import { TestApp, type TestUser } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';

const BOOKS = '/contact/addressbooks';

describe('moves of contacts', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let from: string;
  let to: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    [from, to] = await Promise.all([book(), book()]);
  });

  const book = async (): Promise<string> =>
    (await alice.api.post(BOOKS, { name: 'Book' })).body.addressbook.id;
  const add = async (bookId: string, external_id: string, fields: object = {}) =>
    (await alice.api.post(`${BOOKS}/${bookId}/contacts`, { full_name: external_id, external_id, ...fields }))
      .body.contact;
  const list = async (bookId: string): Promise<any[]> =>
    (await alice.api.get(`${BOOKS}/${bookId}/contacts?limit=200`)).body.contacts;
  const move = (external_id: string, body: object, by = alice) =>
    by.api.post(`${BOOKS}/${from}/contacts/${external_id}/move`, { target_addressbook_id: to, ...body });
  const moveMany = (body: object) =>
    alice.api.post(`${BOOKS}/${from}/move_contacts`, { target_addressbook_id: to, ...body });
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];

  test('a taken external_id: rejected, renamed, merged or replaced', async () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      await add(from, id, { emails: [`${id}@from.example`] });
      await add(to, id, { emails: [`${id}@to.example`], job_title: 'there' });
    }
    const rejected = await move('a', {});
    expect(outcome(rejected)).toEqual([409, 'duplicate_external_id']);
    expect(rejected.body.contact).toMatchObject({ addressbook_id: to, external_id: 'a' });
    const renamed = (await move('b', { on_conflict: 'rename' })).body.contact;
    expect(renamed).toMatchObject({ addressbook_id: to, emails: [{ value: 'b@from.example' }] });
    expect(renamed.external_id).not.toBe('b');
    const merged = (await move('c', { on_conflict: 'merge' })).body.contact;
    expect(merged).toMatchObject({
      job_title: 'there',
      emails: [{ value: 'c@to.example' }, { value: 'c@from.example' }],
    });
    const replaced = (await move('d', { on_conflict: 'replace' })).body.contact;
    expect(replaced).toMatchObject({
      external_id: 'd',
      job_title: null,
      emails: [{ value: 'd@from.example' }],
    });
    expect((await list(from)).map(({ external_id }) => external_id)).toEqual(['a']);
    expect(await list(to)).toHaveLength(5);
  });

  test('the card of a member is not replaced, also where another contact has the external_id', async () => {
    const self = async () => (await bob.api.get('/contact/self')).body.contact;
    const before = await self();
    await add(from, 'taxi', { uid: before.uid });
    await add(alice.tenantId!, 'taxi');
    const replace = await move('taxi', { target_addressbook_id: alice.tenantId, on_conflict: 'replace' });
    expect(outcome(replace)).toEqual([409, 'duplicate_external_id']);
    expect(await self()).toEqual(before);
    expect(await list(from)).toHaveLength(1);
  });

  test('a merge takes in a change that came first', async () => {
    await add(from, 'a');
    await add(to, 'a', { notes: 'there' });
    const { body } = await afterChange(
      await app.databaseOf(alice.tenantId!),
      (writer) => writer.query('SELECT FROM addressbooks WHERE id = $1 FOR UPDATE', [from]),
      () => move('a', { on_conflict: 'merge' }),
      {
        meanwhile: (writer) =>
          writer.query(
            `UPDATE contacts SET revision = revision + 1, card = jsonb_set(card::jsonb, '{job_title}', '"Boss"')::json
              WHERE addressbook_id = $1 AND external_id = 'a'`,
            [from],
          ),
      },
    );
    expect(body.contact).toMatchObject({ job_title: 'Boss', notes: 'there' });
    expect(await list(from)).toEqual([]);
  });

  test('many at once, by name or all', async () => {
    for (let n = 0; n < 5; n += 1) await add(from, `n${n}`);
    await add(to, 'n0');
    const some = await moveMany({ contact_ids: ['n0', 'n1', 'unknown', 'n1'] });
    expect(some.body).toEqual({
      moved: 1,
      skipped: ['n0'],
      errors: [{ external_id: 'unknown', error: 'not_found' }],
      more: false,
    });
    expect((await moveMany({ all: true, on_conflict: 'merge' })).body).toEqual({
      moved: 4,
      skipped: [],
      errors: [],
      more: false,
    });
    expect(await list(from)).toEqual([]);
    expect(await list(to)).toHaveLength(5);
    expect((await alice.api.get(`${BOOKS}/${to}`)).body.addressbook.contacts_count).toBe(5);
    expect(outcome(await moveMany({}))).toEqual([422, 'validation_failed']);
    expect(outcome(await moveMany({ all: true, contact_ids: [] }))).toEqual([422, 'validation_failed']);
  });

  test('moves in both directions at once end without a loss', async () => {
    for (let n = 0; n < 6; n += 1) {
      await add(from, `f${n}`);
      await add(to, `t${n}`);
    }
    const results = await Promise.all([
      ...Array.from({ length: 6 }, (_, n) => move(`f${n}`, {})),
      ...Array.from({ length: 6 }, (_, n) =>
        alice.api.post(`${BOOKS}/${to}/contacts/t${n}/move`, { target_addressbook_id: from }),
      ),
    ]);
    expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect((await list(from)).map(({ external_id }) => external_id)).toEqual([
      't0',
      't1',
      't2',
      't3',
      't4',
      't5',
    ]);
    expect(await list(to)).toHaveLength(6);
  });

  test('needs write access to both address books', async () => {
    await add(from, 'x');
    expect(outcome(await move('x', {}, bob))).toEqual([404, 'not_found']);
    await alice.api.put(`${BOOKS}/${from}`, { shares: [{ user_id: bob.id, role: 'writer' }] });
    expect(outcome(await move('x', {}, bob))).toEqual([404, 'not_found']);
    await alice.api.put(`${BOOKS}/${to}`, { shares: [{ user_id: bob.id, role: 'reader' }] });
    expect(outcome(await move('x', {}, bob))).toEqual([403, 'forbidden']);
    expect(outcome(await move('x', { target_addressbook_id: 'x' }))).toEqual([422, 'validation_failed']);
    const same = await move('x', { target_addressbook_id: from });
    expect([same.status, same.body.contact.revision]).toEqual([200, 1]);
  });
});
