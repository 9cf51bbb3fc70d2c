import { TestApp, type TestUser } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';

const BOOKS = '/contact/addressbooks';

describe('address books', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol] = await app.tenant('acme', 'alice', 'bob', 'carol');
  });
  afterAll(() => app?.stop());

  const book = async (fields: object = {}, by = alice): Promise<any> => {
    const { status, body } = await by.api.post(BOOKS, { name: 'Customers', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.addressbook;
  };
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];
  const namesOf = async (by: TestUser) =>
    (await by.api.get(BOOKS)).body.addressbooks.map(({ name }: any) => name);

  test('the first list creates the default book, once for concurrent requests', async () => {
    const [dora] = await app.tenant('first', 'dora');
    const lists = await Promise.all(Array.from({ length: 8 }, () => dora.api.get(BOOKS)));
    const ids = new Set(lists.flatMap(({ body }) => body.addressbooks.map(({ id }: any) => id)));
    expect(ids.size).toBe(1);
    const [made] = lists[0]!.body.addressbooks;
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Contacts',
      description: '',
      color: null,
      kind: 'personal',
      is_default: true,
      role: 'owner',
      owner: { id: dora.id, name: 'Dora', email: dora.email },
      shares: [],
      default_country: null,
      locked_fields: [],
      contacts_count: 0,
      revision: 1,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const deletion = await dora.api.delete(`${BOOKS}/${made.id}`);
    expect(outcome(deletion)).toEqual([409, 'default_addressbook']);
    const other = await book({ name: 'Other', is_default: true }, dora);
    expect(other.is_default).toBe(true);
    expect((await dora.api.get(`${BOOKS}/${made.id}`)).body.addressbook).toMatchObject({
      is_default: false,
      revision: 2,
    });
    expect((await dora.api.delete(`${BOOKS}/${made.id}`)).body).toMatchObject({ deleted: true });
    expect((await dora.api.get(`${BOOKS}/${made.id}`)).status).toBe(404);
    expect(await namesOf(dora)).toEqual(['Other']);
  });

  test('create, read, update with revisions', async () => {
    const made = await book({ name: 'Zákazníci', color: '#2f80ed', default_country: 'cz', description: 'x' });
    expect(made).toMatchObject({
      name: 'Zákazníci',
      color: '#2f80ed',
      default_country: 'CZ',
      description: 'x',
    });
    const path = `${BOOKS}/${made.id}`;
    const read = await alice.api.get(path);
    expect(read.headers.get('etag')).toBe(`"addressbook:${made.id}:r1"`);
    expect(read.body.addressbook).toEqual(made);
    const updated = await alice.api.put(path, { name: 'Customers', base_revision: 1 });
    expect(updated.body.addressbook).toMatchObject({ name: 'Customers', color: '#2f80ed', revision: 2 });
    const stale = await alice.api.put(path, { name: 'x', base_revision: 1 });
    expect(outcome(stale)).toEqual([409, 'conflict']);
    expect(stale.body.addressbook.name).toBe('Customers');
    expect((await alice.api.put(path, { name: 'Customers' })).body.addressbook.revision).toBe(2);
    expect((await alice.api.put(path, { color: null })).body.addressbook).toMatchObject({
      color: null,
      revision: 3,
    });
    expect(outcome(await bob.api.get(path))).toEqual([404, 'not_found']);
    expect(outcome(await bob.api.put(path, { name: 'x' }))).toEqual([404, 'not_found']);
    expect(outcome(await bob.api.delete(path))).toEqual([404, 'not_found']);
  });

  test('is shared with readers and writers, who may leave', async () => {
    const made = await book({ name: 'Shared', shares: [bob.email, { user_id: carol.id, role: 'writer' }] });
    const path = `${BOOKS}/${made.id}`;
    expect(made.shares).toEqual([
      { user_id: bob.id, name: 'Bob', email: bob.email, role: 'reader' },
      { user_id: carol.id, name: 'Carol', email: carol.email, role: 'writer' },
    ]);
    const seen = (await bob.api.get(path)).body.addressbook;
    expect(seen).toMatchObject({
      kind: 'shared',
      role: 'reader',
      owner: { id: alice.id },
      shares: [],
      is_default: false,
    });
    expect(await namesOf(bob)).toContain('Shared');
    expect((await carol.api.get(path)).body.addressbook.role).toBe('writer');
    expect(outcome(await carol.api.put(path, { name: 'x' }))).toEqual([403, 'forbidden']);

    const contact = { full_name: 'Ann', external_id: 'ann' };
    expect(outcome(await bob.api.post(`${path}/contacts`, contact))).toEqual([403, 'forbidden']);
    expect((await carol.api.post(`${path}/contacts`, contact)).status).toBe(201);
    const read = (await bob.api.get(`${path}/contacts/ann`)).body.contact;
    expect(read.permissions).toEqual({ edit: false, delete: false });
    expect(outcome(await bob.api.put(`${path}/contacts/ann`, { full_name: 'x' }))).toEqual([
      403,
      'forbidden',
    ]);
    expect(outcome(await bob.api.delete(`${path}/contacts/ann`))).toEqual([403, 'forbidden']);

    expect((await bob.api.delete(path)).body).toMatchObject({ deleted: true });
    expect((await bob.api.get(`${path}/contacts/ann`)).status).toBe(404);
    expect((await alice.api.get(path)).body.addressbook.shares).toHaveLength(1);
    await alice.api.put(path, { shares: [] });
    expect((await carol.api.get(path)).status).toBe(404);
    const unknown = await alice.api.put(path, { shares: ['unknown@acme.example'] });
    expect(outcome(unknown)).toEqual([422, 'unknown_user']);
    expect(unknown.body.details[0].field).toBe('shares.0');
  });

  test('a deactivated member is not added to a book, and stays where the book is shared already', async () => {
    const [owner, member] = await app.tenant('left', 'owner', 'member');
    const create = (name: string) => owner.api.post(BOOKS, { name, shares: [member.email] });
    const { id } = (await create('Before')).body.addressbook;
    expect((await owner.api.post(`/tenant/members/${member.id}/deactivate`)).status).toBe(200);
    expect(outcome(await create('After'))).toEqual([422, 'unknown_user']);
    const writer = { shares: [{ user_id: member.id, role: 'writer' }] };
    const kept = await owner.api.put(`${BOOKS}/${id}`, writer);
    expect([kept.status, kept.body.addressbook.shares]).toMatchObject([200, writer.shares]);
    expect((await owner.api.put(`${BOOKS}/${id}`, { shares: [] })).status).toBe(200);
    expect(outcome(await owner.api.put(`${BOOKS}/${id}`, writer))).toEqual([422, 'unknown_user']);
  });

  test('a book written back as it was read stays as it is', async () => {
    await book({ name: 'Own', shares: [carol.id] });
    const { addressbooks } = (await alice.api.get('/contact/useraddressbooks')).body;
    expect(new Set(addressbooks.map(({ kind }: any) => kind))).toEqual(new Set(['personal', 'global']));
    for (const each of addressbooks.filter(({ role }: any) => role !== 'reader')) {
      const { status, body } = await alice.api.put(`${BOOKS}/${each.id}`, each);
      expect([status, body.addressbook]).toEqual([200, each]);
    }
    const standard = addressbooks.find(({ is_default }: any) => is_default);
    const cleared = await alice.api.put(`${BOOKS}/${standard.id}`, { is_default: false });
    expect([cleared.status, cleared.body.details[0].field]).toEqual([422, 'is_default']);
  });

  test('deletion removes contacts, words and shares', async () => {
    const made = await book({ shares: [bob.id] });
    const path = `${BOOKS}/${made.id}`;
    for (const full_name of ['One', 'Two']) await alice.api.post(`${path}/contacts`, { full_name });
    expect((await alice.api.get(path)).body.addressbook.contacts_count).toBe(2);
    expect((await alice.api.delete(path)).status).toBe(200);
    for (const table of ['contacts', 'contact_words', 'addressbook_shares'])
      expect(await app.sql(`SELECT FROM ${table} WHERE addressbook_id = $1`, [made.id])).toEqual([]);
    expect(await namesOf(bob)).not.toContain('Customers');
  });

  test('all books that a user sees are in one list', async () => {
    const { body } = await bob.api.get('/contact/useraddressbooks');
    const global = body.addressbooks.find(({ kind }: any) => kind === 'global');
    expect(global).toMatchObject({ id: bob.tenantId, role: 'reader', owner: null, contacts_count: 3 });
    expect(body.next).toBeNull();
    expect((await alice.api.get(`${BOOKS}/${alice.tenantId}`)).body.addressbook.role).toBe('writer');
  });

  test('pages, and rejects foreign cursors', async () => {
    const [fay] = await app.tenant('pages', 'fay');
    for (let n = 0; n < 4; n += 1) await book({ name: `b${n}` }, fay);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: any = await fay.api.get(`${BOOKS}?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.addressbooks.map(({ name }: any) => name));
      cursor = body.next;
    }
    expect(seen.toSorted()).toEqual(['Contacts', 'b0', 'b1', 'b2', 'b3']);
    const { next } = (await fay.api.get(`${BOOKS}?limit=1`)).body;
    expect(outcome(await alice.api.get(`${BOOKS}?cursor=${next}`))).toEqual([422, 'invalid_cursor']);
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ name: ' \u200b ' }, 'name'],
    [{ name: 'x', color: 'red' }, 'color'],
    [{ name: 'x', default_country: 'Czechia' }, 'default_country'],
    [{ name: 'x', default_country: 'UK' }, 'default_country'],
    [{ name: 'x', default_country: 'eu' }, 'default_country'],
    [{ name: 'x', shares: 'all' }, 'shares'],
    [{ name: 'x', shares: [{ role: 'owner' }] }, 'shares.0.role'],
  ])('rejects %j', async (fields, field) => {
    const { status, body } = await alice.api.post(BOOKS, fields);
    expect([status, body.error, body.details?.[0].field]).toEqual([422, 'validation_failed', field]);
  });

  test('a repeated creation with an Idempotency-Key makes one book', async () => {
    const options = { headers: { 'idempotency-key': 'book-1' } };
    const [one, two] = [
      await alice.api.post(BOOKS, { name: 'Once' }, options),
      await alice.api.post(BOOKS, { name: 'Once' }, options),
    ];
    expect(two.body).toEqual(one.body);
  });

  test('the transfer of a member gives their address books to the other one, who keeps an own default book', async () => {
    const [owner, leaver, heir] = await app.tenant('heirs', 'owner', 'leaver', 'heir');
    const [heirBook] = (await heir.api.get('/contact/addressbooks')).body.addressbooks;
    const [first] = (await leaver.api.get('/contact/addressbooks')).body.addressbooks;
    const shares = [
      { user_id: heir.id, role: 'reader' },
      { user_id: owner.id, role: 'writer' },
    ];
    const second = (await leaver.api.post('/contact/addressbooks', { name: 'Shared', shares })).body
      .addressbook;
    const path = `/contact/addressbooks/${second.id}/contacts`;
    await leaver.api.post(path, { full_name: 'Ana' });
    const { cursor } = (await heir.api.get(`${path}/sync`)).body;
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    const moved = await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id });
    expect([moved.status, moved.body.transferred?.addressbooks ?? moved.body]).toEqual([200, 2]);
    const { addressbooks } = (await heir.api.get('/contact/addressbooks')).body;
    expect(addressbooks.map(({ id, role, is_default }: any) => [id, role, is_default])).toEqual(
      [heirBook.id, first.id, second.id].map((id) => [id, 'owner', id === heirBook.id]),
    );
    expect(addressbooks.at(-1).shares).toMatchObject([{ user_id: owner.id, role: 'writer' }]);
    // Cursors of readers stay valid.
    await heir.api.post(path, { full_name: 'Ben' });
    const { changes } = (await heir.api.get(`${path}/sync?cursor=${cursor}`)).body;
    expect(changes).toMatchObject([{ op: 'upsert', contact: { full_name: 'Ben' } }]);
    expect((await owner.api.post(path, { full_name: 'Cyd' })).status).toBe(201);
  });

  test('a deletion locks no contact before the counter of the book, as the deletion of old removals', async () => {
    const { id } = await book();
    const contact = `${BOOKS}/${id}/contacts/x`;
    await alice.api.post(`${BOOKS}/${id}/contacts`, { full_name: 'X', external_id: 'x' });
    expect((await alice.api.delete(contact)).status).toBe(200);
    const { status } = await afterChange(
      await app.databaseOf(alice.tenantId!),
      (client) => client.query('SELECT FROM sync_heads WHERE user_id = $1 FOR UPDATE', [id]),
      () => alice.api.delete(`${BOOKS}/${id}`),
      {
        meanwhile: (client) =>
          client.query('SELECT FROM contacts WHERE addressbook_id = $1 FOR UPDATE NOWAIT', [id]),
      },
    );
    expect(status).toBe(200);
    expect(await app.sql('SELECT FROM contacts WHERE addressbook_id = $1', [id])).toEqual([]);
  });

  describe('a write of a book waits for its lock without another lock', () => {
    const IMPORTS = '/contact/phone-sync/import';
    const cards = (by: TestUser, id: string) =>
      by.api.request('POST', `${IMPORTS}?addressbook_id=${id}`, {
        raw: 'BEGIN:VCARD\nVERSION:4.0\nFN:Ivo\nEND:VCARD\n',
        headers: { 'content-type': 'text/vcard' },
      });

    /** Locks the book, starts the write, and takes `other` while the write waits. */
    const whileLocked = async (id: string, write: () => Promise<{ status: number }>, other: string) => {
      const { status } = await afterChange(
        await app.databaseOf(alice.tenantId!),
        (client) => client.query('SELECT FROM addressbooks WHERE id = $1 FOR NO KEY UPDATE', [id]),
        write,
        {
          meanwhile: async (client) => {
            const { rowCount } = await client.query(`${other} FOR UPDATE NOWAIT`, [id]);
            expect(rowCount).toBeGreaterThan(0);
          },
        },
      );
      expect(status).toBe(200);
    };

    test('an import', async () => {
      const { id } = await book();
      await whileLocked(id, () => cards(alice, id), 'SELECT FROM addressbooks WHERE id = $1');
    });

    test('the undo of an import', async () => {
      const { id } = await book();
      const { body } = await cards(alice, id);
      const undo = () => alice.api.post(`/contact/phone-sync/imports/${body.import.id}/undo`);
      await whileLocked(id, undo, 'SELECT FROM contact_imports WHERE addressbook_id = $1');
    });

    test('the undo of a merge', async () => {
      const { id } = await book();
      for (const external_id of ['a', 'b'])
        await alice.api.post(`${BOOKS}/${id}/contacts`, { full_name: 'Ivo', external_id });
      const { body } = await alice.api.post('/contact/merges', {
        addressbook_id: id,
        external_ids: ['a', 'b'],
      });
      const undo = () => alice.api.post(`/contact/merges/${body.merge_id}/undo`);
      await whileLocked(id, undo, 'SELECT FROM contact_merges WHERE addressbook_id = $1');
    });
  });
});
