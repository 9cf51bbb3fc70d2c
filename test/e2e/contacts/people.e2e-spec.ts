import { jest } from '@jest/globals';
import { ContactsRepository } from '../../../src/modules/contacts/contacts.repository.js';
import { TestApp, type TestUser } from '../../support/app.ts';

describe('members in the address book of the workspace', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());
  let round = 0;
  beforeEach(async () => {
    round += 1;
    [alice, bob] = await app.tenant(`acme${round}`, 'alice', 'bob');
  });

  const self = async (by = alice) => (await by.api.get('/contact/self')).body.contact;
  const global = async (by = alice, query = ''): Promise<any[]> =>
    (await by.api.get(`/contact/addressbooks/${by.tenantId}/global${query}`)).body.contacts;
  const names = async (by = alice) => (await global(by)).map(({ full_name }) => full_name);
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];

  test('the card of a member follows the membership and the profile', async () => {
    await alice.api.put('/settings/profile', {
      title: 'Chief',
      phone: '+49 30 901820',
      timezone: 'Europe/Berlin',
      locale: 'de-DE',
    });
    const card = await self();
    expect(card).toMatchObject({
      full_name: 'Alice',
      job_title: 'Chief',
      emails: [{ value: alice.email, primary: true }],
      phones: [{ value: '+49 30 901820', e164: '+4930901820' }],
      time_zone: 'Europe/Berlin',
      language: 'de-DE',
      linked_user_id: alice.id,
      source: 'directory',
      permissions: { edit: true, delete: false },
    });
    await alice.api.put('/settings/profile', {
      display_name: 'Alice Martin',
      family_name: 'Martin',
      phone: '030 901821',
    });
    expect(await self()).toMatchObject({
      full_name: 'Alice Martin',
      name: { family: 'Martin' },
      phones: [{ value: '030 901821', e164: '+4930901821' }],
      revision: 2,
    });
    await alice.api.put('/settings/profile', { phone: '' });
    expect((await self()).phones).toEqual([]);
    expect(await names(bob)).toEqual(['Alice Martin', 'Bob']);
    await app.tenant(`acme${round}`, 'alice', 'bob', 'carol');
    expect(await names(bob)).toEqual(['Alice', 'Bob', 'Carol']);
    await alice.api.post(`/tenant/members/${bob.id}/deactivate`);
    expect(await names()).toEqual(['Alice', 'Carol']);
    await alice.api.post(`/tenant/members/${bob.id}/activate`);
    expect(await names()).toEqual(['Alice', 'Bob', 'Carol']);
  });

  test('the first read of the address book of a large workspace makes the cards in several statements', async () => {
    await app.sql(
      `INSERT INTO tenant_members
       SELECT copy.* FROM tenant_members member, generate_series(1, 2498) n,
         LATERAL jsonb_populate_record(member, jsonb_build_object('user_id', gen_random_uuid(), 'display_name', 'Member ' || n)) copy
        WHERE member.tenant_id = $1 AND member.user_id = $2`,
      [alice.tenantId, bob.id],
    );
    const insert = jest.spyOn(app.get(ContactsRepository), 'insert');
    expect(await global(bob, '?limit=1')).toHaveLength(1);
    const cards = insert.mock.calls.map(([, , , contacts]) => contacts.length).filter((count) => count > 0);
    insert.mockRestore();
    expect(cards).toEqual([1_000, 1_000, 500]);
  });

  test('a member writes their card, and the profile follows', async () => {
    const before = await self();
    const fields = {
      full_name: 'Alice M.',
      name: { given: 'Alice', family: 'Martin' },
      nicknames: ['Al'],
      organization: { name: 'Acme', units: ['Research'] },
      emails: ['private@home.example'],
      phones: [{ value: '+420 601 123 456', types: ['cell'] }, '+420 601 123 457'],
      time_zone: 'Europe/Prague',
      language: 'cs',
      notes: 'About me',
    };
    const { status, headers, body } = await alice.api.put('/contact/self', {
      ...fields,
      base_revision: before.revision,
    });
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe(`"contact:${before.id}:r${body.contact.revision}"`);
    expect(body.contact).toMatchObject({
      full_name: 'Alice M.',
      nicknames: ['Al'],
      emails: [
        { value: alice.email, primary: true },
        { value: 'private@home.example', primary: false },
      ],
      phones: [{ e164: '+420601123456', types: ['cell'] }, { e164: '+420601123457' }],
      notes: 'About me',
    });
    expect((await alice.api.get('/settings/profile')).body.profile).toMatchObject({
      display_name: 'Alice M.',
      given_name: 'Alice',
      family_name: 'Martin',
      phone: '+420 601 123 456',
      timezone: 'Europe/Prague',
      locale: 'cs',
    });
    expect(await self()).toEqual(body.contact);
    expect((await global(bob, '?q=al')).map(({ permissions }) => permissions)).toEqual([
      { edit: false, delete: false },
    ]);
    const again = await alice.api.put('/contact/self', body.contact);
    expect(again.body.contact).toEqual(body.contact);
    expect(outcome(await alice.api.put('/contact/self', { notes: 'x', base_revision: 1 }))).toEqual([
      409,
      'conflict',
    ]);
    const invalid = await alice.api.put('/contact/self', { time_zone: 'Mars/Olympus' });
    expect([...outcome(invalid), invalid.body.details[0].field]).toEqual([
      422,
      'validation_failed',
      'time_zone',
    ]);
    expect((await self()).revision).toBe(body.contact.revision);
  });

  test('a member who returns has a card, also where a contact has their id', async () => {
    const [root, dan] = await app.tenant('returns', 'root', 'dan');
    const book = `/contact/addressbooks/${root.tenantId}/contacts`;
    const self = async () => (await dan.api.get('/contact/self')).body.contact;
    const { uid, external_id } = await self();
    await root.api.post(`/tenant/members/${dan.id}/deactivate`);
    expect((await root.api.post(book, { full_name: 'Dan', uid, external_id })).status).toBe(201);
    expect((await root.api.post(`/tenant/members/${dan.id}/activate`)).status).toBe(200);
    const { contacts } = (await root.api.get(`${book}?q=dan`)).body;
    expect(new Set(contacts.map(({ linked_user_id }: any) => linked_user_id))).toEqual(
      new Set([dan.id, null]),
    );
    const { users } = (await root.api.get('/contact/directory?q=dan')).body;
    expect(users.map(({ id }: any) => id)).toEqual([dan.id]);
  });

  test('the workspace locks fields, and only its managers change the address book', async () => {
    const path = `/contact/addressbooks/${alice.tenantId}`;
    expect(outcome(await bob.api.put(path, { locked_fields: ['job_title'] }))).toEqual([403, 'forbidden']);
    expect(
      (await alice.api.put(path, { name: 'Acme', locked_fields: ['job_title'] })).body.addressbook,
    ).toMatchObject({
      name: 'Acme',
      kind: 'global',
      locked_fields: ['job_title'],
    });
    const locked = await bob.api.put('/contact/self', { job_title: 'Boss', notes: 'x' });
    expect([...outcome(locked), locked.body.details[0].field]).toEqual([422, 'field_locked', 'job_title']);
    const { profile } = (await bob.api.get('/settings/profile')).body;
    const bypass = await bob.api.put('/settings/profile', { ...profile, title: 'Boss' });
    expect([...outcome(bypass), bypass.body.details[0].field]).toEqual([422, 'field_locked', 'title']);
    expect((await bob.api.put('/settings/profile', profile)).status).toBe(200);
    expect((await bob.api.put('/contact/self', { job_title: null, notes: 'x' })).body.contact.notes).toBe(
      'x',
    );
    expect(outcome(await bob.api.post(`${path}/contacts`, { full_name: 'Taxi' }))).toEqual([
      403,
      'forbidden',
    ]);
    const taxi = (await alice.api.post(`${path}/contacts`, { full_name: 'Taxi', external_id: 'taxi' })).body
      .contact;
    expect(taxi.permissions.edit).toBe(true);
    expect((await bob.api.get(`${path}/contacts/taxi`)).body.contact.permissions.edit).toBe(false);
    expect(await names(bob)).toEqual(['Alice', 'Bob', 'Taxi']);
    expect(outcome(await alice.api.put(`${path}/contacts/${bob.id}`, { notes: 'x' }))).toEqual([
      403,
      'forbidden',
    ]);
    expect(outcome(await alice.api.delete(`${path}/contacts/${bob.id}`))).toEqual([403, 'forbidden']);
    expect(outcome(await alice.api.delete(path))).toEqual([403, 'forbidden']);
    expect(outcome(await alice.api.put(path, { shares: [bob.id] }))).toEqual([422, 'validation_failed']);
    const feed = (await bob.api.get(`${path}/contacts/sync`)).body.changes;
    expect(feed.map(({ contact }: any) => contact.full_name).toSorted()).toEqual(['Alice', 'Bob', 'Taxi']);
  });

  test('a creation is not merged into the card of a member', async () => {
    const path = `/contact/addressbooks/${alice.tenantId}/contacts`;
    await self(bob);
    const contact = { full_name: 'Robert', emails: [bob.email], notes: 'x', on_duplicate: 'merge' };
    const rejected = await alice.api.post(path, contact);
    expect([...outcome(rejected), rejected.body.contact.external_id]).toEqual([
      409,
      'duplicate_contact',
      bob.id,
    ]);
    expect((await self(bob)).notes).toBeNull();
    expect((await alice.api.post(path, { ...contact, on_duplicate: 'create' })).status).toBe(201);
    // Of two contacts with the address, the one that may change is merged.
    const merged = await alice.api.post(path, contact);
    expect([merged.status, merged.body.contact.linked_user_id]).toEqual([200, null]);
  });

  test('the directory lists members with their departments', async () => {
    await bob.api.put('/contact/self', {
      organization: { units: ['Výzkum'] },
      phones: ['+420601123456'],
      job_title: 'Dev',
    });
    await alice.api.post(`/contact/addressbooks/${alice.tenantId}/contacts`, { full_name: 'Taxi' });
    const directory = async (query = '') => (await alice.api.get(`/contact/directory${query}`)).body.users;
    expect(await directory()).toEqual([
      {
        id: alice.id,
        name: 'Alice',
        email: alice.email,
        job_title: null,
        department: null,
        phones: [],
        photo_url: null,
        presence: { status: 'offline', text: '' },
      },
      {
        id: bob.id,
        name: 'Bob',
        email: bob.email,
        job_title: 'Dev',
        department: 'Výzkum',
        phones: [expect.objectContaining({ e164: '+420601123456' })],
        photo_url: null,
        presence: { status: 'offline', text: '' },
      },
    ]);
    for (const query of ['?q=bo', '?q=601123', '?department=vyzkum', '?q=dev'])
      expect([query, (await directory(query)).map(({ name }: any) => name)]).toEqual([query, ['Bob']]);
    const first = (await alice.api.get('/contact/directory?limit=1')).body;
    expect((await alice.api.get(`/contact/directory?limit=1&cursor=${first.next}`)).body.users[0].name).toBe(
      'Bob',
    );
  });

  test('members who join while the book is made are in it', async () => {
    const slug = `race${round}`;
    const [owner] = await app.tenant(slug, 'owner');
    await Promise.all([
      global(owner),
      app.tenant(slug, 'owner', 'one'),
      global(owner),
      app.tenant(slug, 'owner', 'one', 'two'),
    ]);
    expect((await names(owner)).toSorted()).toEqual(['One', 'Owner', 'Two']);
  });
});
