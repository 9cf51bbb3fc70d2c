import { TestApp, type TestUser } from '../../support/app.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { ok } from '../../support/domains/forms.ts';
import { WebhookTest } from '../../support/domains/webhooks.ts';
import { verify, WebhookReceiver } from '../../support/network/webhook-receiver.ts';

const BOOKS = '/contact/addressbooks';
const TYPES = ['contact.created', 'contact.updated', 'contact.deleted'];

describe('webhooks of contacts', () => {
  let app: TestApp;
  let at: WebhookTest;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new WebhookTest(app, await WebhookReceiver.start());
    [alice, bob] = await app.tenant('contact-hooks', 'alice', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    await at?.receiver.stop();
  });

  const book = async (user: TestUser, fields: object = {}): Promise<string> =>
    ok(await user.api.post(BOOKS, { name: 'Customers', ...fields }), 201).addressbook.id;
  const add = async (bookId: string, external_id: string, fields: object = {}) =>
    ok(
      await alice.api.post(`${BOOKS}/${bookId}/contacts`, { full_name: external_id, external_id, ...fields }),
      201,
    ).contact;
  const appended = () =>
    app.sql(`SELECT type, payload FROM outbox WHERE type LIKE 'contact.%' ORDER BY occurred_at`);

  test('have the contact as its reader sees it, and only who sees the address book', async () => {
    const shared = await book(alice, { shares: [bob.email] });
    const own = await book(alice);
    const hooks = { alice: await at.hook(alice, TYPES), bob: await at.hook(bob, TYPES) };
    const contact = await add(shared, 'maria', { emails: [{ value: 'maria@example.com' }] });
    await at.deliver();
    const path = `${BOOKS}/${shared}/contacts/maria`;
    const [created] = at.receiver.of(hooks.bob.path);
    expect(verify(created!, hooks.bob.secret)).toMatchObject({
      type: 'contact.created',
      data: {
        contact_id: contact.id,
        addressbook_id: shared,
        external_id: 'maria',
        revision: 1,
        contact: ok(await bob.api.get(path)).contact,
      },
    });
    ok(await alice.api.put(path, { job_title: 'Head', base_revision: 1 }));
    await add(own, 'private');
    await at.deliver();
    ok(await alice.api.delete(path, { base_revision: 2 }));
    await at.deliver();
    const seen = (path: string) =>
      at.receiver.of(path).map(({ body: { type, data } }) => [type, data['external_id'], data['revision']]);
    const ofShared = [
      ['contact.created', 'maria', 1],
      ['contact.updated', 'maria', 2],
      ['contact.deleted', 'maria', 2],
    ];
    expect(seen(hooks.bob.path)).toEqual(ofShared);
    expect(seen(hooks.alice.path)).toEqual([
      ...ofShared.slice(0, 2),
      ['contact.created', 'private', 1],
      ...ofShared.slice(2),
    ]);
    expect(at.receiver.of(hooks.bob.path)[1]!.body.data['contact'].job_title).toBe('Head');
    expect(at.receiver.of(hooks.bob.path)[2]!.body.data['contact']).toBeNull();
    // Who loses access gets no event that waits.
    await add(shared, 'later');
    ok(await alice.api.put(`${BOOKS}/${shared}`, { shares: [] }));
    await at.deliver();
    expect(at.receiver.of(hooks.bob.path)).toHaveLength(3);
    for (const [user, { id }] of [
      [alice, hooks.alice],
      [bob, hooks.bob],
    ] as const)
      ok(await user.api.delete(`/webhooks/${id}`, { base_revision: 1 }));
  });

  test('a move is a deletion and a creation, in this order; a filter restricts them to one address book', async () => {
    const [from, to] = [await book(alice), await book(alice)];
    const all = await at.hook(alice, TYPES);
    const filtered = await at.hook(alice, TYPES, { filter: { addressbook_id: from } });
    const { id } = await add(from, 'ben');
    ok(await alice.api.post(`${BOOKS}/${from}/contacts/ben/move`, { target_addressbook_id: to }));
    await at.deliver();
    const seen = (path: string) =>
      at.receiver
        .of(path)
        .map(({ body: { type, data } }) => [type, data['addressbook_id'], data['contact_id']]);
    const inFrom = [
      ['contact.created', from, id],
      ['contact.deleted', from, id],
    ];
    expect(seen(filtered.path)).toEqual(inFrom);
    expect(seen(all.path)).toEqual([...inFrom, ['contact.created', to, id]]);
    expect(at.receiver.of(all.path).at(-1)!.body.data).toMatchObject({
      revision: 2,
      contact: { revision: 2, addressbook_id: to },
    });
    for (const hook of [all, filtered])
      ok(await alice.api.delete(`/webhooks/${hook.id}`, { base_revision: 1 }));
  });

  test('are appended in the transaction of the write, and only with a webhook for them', async () => {
    const shared = await book(alice);
    const release = await holdEvents(app);
    await add(shared, 'unseen');
    expect(await appended()).toEqual([]);
    const hook = await at.hook(alice, ['contact.created', 'contact.deleted']);
    const contact = await add(shared, 'seen');
    ok(await alice.api.put(`${BOOKS}/${shared}/contacts/seen`, { job_title: 'Head', base_revision: 1 }));
    // The cards of members have the events of members.
    ok(await alice.api.put('/contact/self', { notes: 'Mine' }));
    const facts = { addressbook_id: shared, contact_id: contact.id, external_id: 'seen' };
    expect(await appended()).toEqual([{ type: 'contact.created', payload: { ...facts, revision: 1 } }]);
    // A write that fails leaves no event.
    const taken = await alice.api.post(`${BOOKS}/${shared}/contacts`, {
      external_id: 'seen',
      full_name: 'x',
    });
    expect(taken.status).toBe(409);
    ok(await alice.api.delete(`${BOOKS}/${shared}/contacts/seen`, { base_revision: 2 }));
    expect((await appended()).map(({ type }) => type)).toEqual(['contact.created', 'contact.deleted']);
    await release();
    await at.deliver();
    expect(at.receiver.of(hook.path).map(({ body }) => [body.type, body.data['contact']])).toEqual([
      ['contact.created', null],
      ['contact.deleted', null],
    ]);
  });
});
