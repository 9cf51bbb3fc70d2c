import { FeedRetention } from '../../../src/platform/sync/feed-retention.js';
import { TestApp, type TestUser } from '../../support/app.ts';

const BOOKS = '/contact/addressbooks';

/** A client that keeps a copy of an address book by its feed. */
class Phone {
  readonly contacts = new Map<string, any>();
  cursor: string | undefined;

  constructor(
    private readonly person: TestUser,
    private readonly path: string,
  ) {}

  async pull(limit = 500): Promise<number> {
    let pages = 0;
    for (;;) {
      const query = `?limit=${limit}${this.cursor === undefined ? '' : `&cursor=${this.cursor}`}`;
      const { status, body } = await this.person.api.get(`${this.path}/sync${query}`);
      expect([status, body.error]).toEqual([200, undefined]);
      pages += 1;
      this.take(body);
      if (!body.has_more) return pages;
    }
  }

  async push(changes: unknown[], conflict = 'server'): Promise<any[]> {
    const { status, body } = await this.person.api.post(`${this.path}/sync`, {
      cursor: this.cursor,
      changes,
      conflict,
    });
    expect([status, body.error]).toEqual([200, undefined]);
    this.take(body);
    while (body.has_more && (await this.pull()) < 0);
    return body.results;
  }

  private take(body: any): void {
    for (const { op, contact, external_id } of body.changes) {
      if (op === 'upsert') this.contacts.set(contact.external_id, contact);
      else this.contacts.delete(external_id);
    }
    this.cursor = body.cursor;
  }
}

describe('synchronisation of an address book', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let path: string;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    const { body } = await alice.api.post(BOOKS, { name: 'Phone', shares: [bob.id] });
    bookId = body.addressbook.id;
    path = `${BOOKS}/${bookId}/contacts`;
  });

  const phone = (by = alice) => new Phone(by, path);
  const upsert = (external_id: string, contact: object, base_revision?: number) => ({
    op: 'upsert',
    external_id,
    contact,
    base_revision,
  });
  const listed = async () => (await alice.api.get(`${path}?limit=200`)).body.contacts;
  const byId = (contacts: Iterable<any>) =>
    new Map([...contacts].map((contact) => [contact.external_id, contact]));
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];

  test('an external_id that was deleted goes on with its revisions: older changes stay conflicts', async () => {
    const add = async (full_name: string, to = path) =>
      (await alice.api.post(to, { full_name, external_id: 'a' })).body.contact.revision;
    expect(await add('Ann')).toBe(1);
    await alice.api.put(`${path}/a`, { job_title: 'Chief' });
    await alice.api.delete(`${path}/a`);
    expect(await add('Amy')).toBe(3);
    for (const base_revision of [1, 2]) {
      const written = await alice.api.put(`${path}/a`, { full_name: 'Ann', base_revision });
      expect(outcome(written)).toEqual([409, 'conflict']);
    }
    const [merged] = await phone().push([upsert('a', { full_name: 'Ann', notes: 'n' }, 2)], 'merge');
    expect(merged).toMatchObject({ status: 200, conflicts: ['full_name', 'notes'] });
    expect((await listed())[0]).toMatchObject({ full_name: 'Amy', revision: 3 });
    // The same conflict, caused by a move to another address book and back.
    const other = (await alice.api.post(BOOKS, { name: 'Other' })).body.addressbook.id;
    const move = (from: string, target_addressbook_id: string) =>
      alice.api.post(`${BOOKS}/${from}/contacts/a/move`, { target_addressbook_id });
    expect((await move(bookId, other)).body.contact.revision).toBe(4);
    expect(await add('Eve')).toBe(4);
    await alice.api.put(`${path}/a`, { notes: 'one' });
    await alice.api.delete(`${path}/a`);
    expect((await move(other, bookId)).body.contact.revision).toBe(6);
  });

  test('both directions: a phone and the list of the server agree', async () => {
    const [one, two] = [phone(), phone(bob)];
    await alice.api.post(path, { full_name: 'Web', external_id: 'web' });
    const results = await one.push([
      upsert('a', { full_name: 'Ann', phones: ['+420601123456'] }),
      upsert('b', { full_name: 'Ben' }),
    ]);
    expect(results).toEqual([
      {
        index: 0,
        external_id: 'a',
        status: 201,
        contact: expect.objectContaining({ full_name: 'Ann', revision: 1 }),
      },
      { index: 1, external_id: 'b', status: 201, contact: expect.objectContaining({ full_name: 'Ben' }) },
    ]);
    expect([...one.contacts.keys()].toSorted()).toEqual(['a', 'b', 'web']);
    expect(await two.pull(1)).toBe(3);
    await one.push([
      upsert('a', { job_title: 'Chief' }, 1),
      { op: 'delete', external_id: 'b', base_revision: 1 },
    ]);
    await alice.api.put(`${path}/web`, { notes: 'n' });
    await two.pull();
    await one.pull();
    expect(one.contacts).toEqual(byId(await listed()));
    const asOwner = (contact: any) => ({ ...contact, permissions: { edit: true, delete: true } });
    expect(byId([...two.contacts.values()].map(asOwner))).toEqual(byId(await listed()));
    expect(two.contacts.get('a')).toMatchObject({ job_title: 'Chief', phones: [{ e164: '+420601123456' }] });
    // A repeated request changes nothing.
    const again = await one.push([
      upsert('a', { job_title: 'Chief' }, 1),
      { op: 'delete', external_id: 'b' },
    ]);
    expect(again.map(({ status, deleted }) => [status, deleted])).toEqual([
      [200, undefined],
      [200, true],
    ]);
    expect((await listed()).find(({ external_id }: any) => external_id === 'a').revision).toBe(2);
  });

  test('conflicts: the server wins, the client wins, or fields are merged', async () => {
    const client = phone();
    const start = { full_name: 'Ann', job_title: 'Old', notes: 'old', language: 'cs' };
    await client.push(['s', 'c', 'm', 'n'].map((id) => upsert(id, start)));
    for (const id of ['s', 'c', 'm'])
      await alice.api.put(`${path}/${id}`, { job_title: 'Server', notes: 'server' });
    const mine = { ...start, job_title: 'Client', language: 'de' };
    const [server] = await client.push([upsert('s', mine, 1)], 'server');
    expect(server).toMatchObject({
      status: 409,
      error: 'conflict',
      current: { job_title: 'Server', revision: 2 },
    });
    const [wins] = await client.push([upsert('c', mine, 1)], 'client');
    expect(wins).toMatchObject({
      status: 200,
      contact: { job_title: 'Client', notes: 'old', language: 'de', revision: 3 },
    });
    const [merged] = await client.push([upsert('m', mine, 1)], 'merge');
    expect(merged).toMatchObject({
      status: 200,
      conflicts: ['job_title', 'notes'],
      contact: { job_title: 'Server', notes: 'server', language: 'de', revision: 3 },
    });
    const [nothing] = await client.push([upsert('m', { ...mine, language: 'de' }, 1)], 'merge');
    expect(nothing).toMatchObject({
      status: 200,
      conflicts: ['job_title', 'notes'],
      contact: { revision: 3 },
    });
    const [created] = await client.push(
      [upsert('n', { full_name: 'Ann', emails: ['a@x.example'], notes: 'mine' })],
      'merge',
    );
    expect(created.contact).toMatchObject({
      job_title: 'Old',
      notes: 'old\n\nmine',
      emails: [{ value: 'a@x.example' }],
    });
    const [deletion] = await client.push([{ op: 'delete', external_id: 's', base_revision: 1 }], 'merge');
    expect(deletion).toMatchObject({ status: 409, error: 'conflict', current: { revision: 2 } });
    await alice.api.delete(`${path}/s`);
    const [deleted] = await client.push([upsert('s', mine, 2)], 'server');
    expect(deleted).toMatchObject({ status: 409, error: 'deleted' });
    for (const conflict of ['merge', 'client'] as const) {
      const [late] = await client.push([upsert('s', { language: 'de' }, 2)], conflict);
      expect(late).toMatchObject({ status: 409, error: 'deleted' });
    }
    const [back] = await client.push([upsert('s', mine)], 'merge');
    expect(back).toMatchObject({ status: 201, contact: { job_title: 'Client' } });
    await client.pull();
    expect(client.contacts).toEqual(byId(await listed()));
  });

  test('an invalid change does not affect the others', async () => {
    await alice.api.post(path, { full_name: 'Taken', external_id: 't', uid: 'taken-uid' });
    const results = await phone().push([
      upsert('ok', { full_name: 'Ok' }),
      upsert('ok', { full_name: 'Twice' }),
      upsert('bad', { full_name: 'x', emails: 5 }),
      upsert('empty', {}),
      { op: 'replace', external_id: 'x' },
      { op: 'upsert' },
      'text',
      { ...upsert('uid', { full_name: 'x' }), uid: 'taken-uid' },
      { op: 'delete', external_id: 'unknown' },
    ]);
    expect(results.map(({ status, error, external_id }) => [status, error, external_id])).toEqual([
      [201, undefined, 'ok'],
      [422, 'repeated_change', 'ok'],
      [422, 'validation_failed', null],
      [422, 'validation_failed', 'empty'],
      [422, 'validation_failed', null],
      [422, 'validation_failed', null],
      [422, 'validation_failed', null],
      [409, 'duplicate_uid', 'uid'],
      [200, undefined, 'unknown'],
    ]);
    expect(results[2].details[0].field).toBe('contact.emails');
    const many = Array.from({ length: 501 }, (_, n) => upsert(`n${n}`, { full_name: 'x' }));
    expect(outcome(await alice.api.post(`${path}/sync`, { changes: many }))).toEqual([
      422,
      'validation_failed',
    ]);
    expect(
      outcome(await bob.api.post(`${path}/sync`, { changes: [upsert('x', { full_name: 'x' })] })),
    ).toEqual([403, 'forbidden']);
    expect((await bob.api.post(`${path}/sync`, { changes: [] })).status).toBe(200);
  });

  test('a contact takes the uid of one that the same request deletes', async () => {
    await alice.api.post(path, { full_name: 'Before', external_id: 'before', uid: 'same-uid' });
    const results = await phone().push([
      { op: 'delete', external_id: 'before' },
      { ...upsert('after', { full_name: 'After' }), uid: 'same-uid' },
    ]);
    expect(results.map(({ status, error }) => [status, error])).toEqual([
      [200, undefined],
      [201, undefined],
    ]);
    expect((await listed()).map(({ external_id, uid }: any) => [external_id, uid])).toEqual([
      ['after', 'same-uid'],
    ]);
  });

  test('two phones that push at once lose nothing', async () => {
    const phones = [phone(), phone(), phone()];
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(
        phones.map((each, n) =>
          each.push(
            [
              upsert(`own${n}-${round}`, { full_name: `own ${n}` }),
              upsert(
                'shared',
                {
                  full_name: 'Shared',
                  [n === 0 ? 'notes' : n === 1 ? 'job_title' : 'language']: `v${round}`,
                },
                each.contacts.get('shared')?.revision,
              ),
            ],
            'merge',
          ),
        ),
      );
    }
    await Promise.all(phones.map((each) => each.pull()));
    const expected = byId(await listed());
    expect(expected.size).toBe(13);
    expect(expected.get('shared')).toMatchObject({ job_title: 'v3', language: 'v3' });
    for (const each of phones) expect(each.contacts).toEqual(expected);
  });

  test('a moved contact leaves one feed and enters the other', async () => {
    const { id: otherId } = (await alice.api.post(BOOKS, { name: 'Other' })).body.addressbook;
    const made = (await alice.api.post(path, { full_name: 'Ann', external_id: 'ann' })).body.contact;
    const [source, target] = [phone(), new Phone(alice, `${BOOKS}/${otherId}/contacts`)];
    await source.pull();
    await target.pull();
    const move = (from: string, to: string) =>
      alice.api.post(`${BOOKS}/${from}/contacts/ann/move`, { target_addressbook_id: to });
    const moved = (await move(bookId, otherId)).body.contact;
    expect(moved).toMatchObject({ id: made.id, uid: made.uid, addressbook_id: otherId, revision: 2 });
    await source.pull();
    await target.pull();
    expect([source.contacts.size, target.contacts.get('ann')]).toEqual([0, moved]);
    await move(otherId, bookId);
    await source.pull();
    await target.pull();
    expect([source.contacts.get('ann')?.revision, target.contacts.size]).toEqual([3, 0]);
    expect((await alice.api.get(`${BOOKS}/${bookId}`)).body.addressbook.contacts_count).toBe(1);
    expect((await alice.api.get(`${path}?q=ann`)).body.contacts).toHaveLength(1);
  });

  test('cursors of other books, and those older than deleted removals, expire', async () => {
    const client = phone();
    await client.push([upsert('a', { full_name: 'A' }), upsert('b', { full_name: 'B' })]);
    const { id: otherId } = (await alice.api.post(BOOKS, { name: 'Other' })).body.addressbook;
    const foreign = await alice.api.get(`${BOOKS}/${otherId}/contacts/sync?cursor=${client.cursor}`);
    expect(outcome(foreign)).toEqual([410, 'cursor_expired']);
    expect(foreign.body).toMatchObject({
      reset_required: true,
      hint: `GET /apis/v1${BOOKS}/${otherId}/contacts/sync`,
    });
    await alice.api.delete(`${path}/a`);
    await app.get<FeedRetention>(FeedRetention).forget(new Date(Date.now() + 60_000));
    expect(
      await app.sql('SELECT FROM contacts WHERE addressbook_id = $1 AND gone_at IS NOT NULL', [bookId]),
    ).toEqual([]);
    expect(outcome(await alice.api.get(`${path}/sync?cursor=${client.cursor}`))).toEqual([
      410,
      'cursor_expired',
    ]);
    const push = { cursor: client.cursor, changes: [upsert('late', { full_name: 'Late' })] };
    expect(outcome(await alice.api.post(`${path}/sync`, push))).toEqual([410, 'cursor_expired']);
    expect((await alice.api.get(`${path}/late`)).status).toBe(404);
    const fresh = phone();
    await fresh.pull();
    expect([...fresh.contacts.keys()]).toEqual(['b']);
  });

  test('a poll waits for a change', async () => {
    const client = phone();
    await client.pull();
    const waiting = alice.api.get(`${path}/sync?wait=20&cursor=${client.cursor}`);
    await alice.api.post(path, { full_name: 'New' });
    expect((await waiting).body.changes).toHaveLength(1);
  });

  test('large cards bound a page', async () => {
    const notes = 'x'.repeat(60_000);
    const custom = Array.from({ length: 3 }, () => ({ name: 'X-A', value: notes }));
    for (let n = 0; n < 24; n += 1) await alice.api.post(path, { full_name: `n${n}`, notes, custom });
    const { body } = await alice.api.get(`${path}/sync?limit=500`);
    expect(body.has_more).toBe(true);
    const client = phone();
    await client.pull();
    expect(client.contacts.size).toBe(24);
  });
});
