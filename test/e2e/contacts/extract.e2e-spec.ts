import { jest } from '@jest/globals';
import { AddressCollector, CollectedBook } from '../../../src/modules/contacts/collected/collected-book.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DRAFTS, INBOX, WildDuck } from '../../support/mail/wild-duck.ts';

describe('addresses extracted from mail', () => {
  let duck: WildDuck;
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let ids = 100;
  /** Messages of the inbox of every user, newest first. */
  let inbox: object[] | null = [];

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    duck.script = ({ url, method }) => {
      if (method === 'GET' && url.includes(`/mailboxes/${INBOX}/messages?`))
        return inbox
          ? { status: 200, json: { success: true, results: inbox, nextCursor: false } }
          : { status: 500, json: { error: 'out of order' } };
      if (method !== 'POST' || !url.includes('/messages')) return undefined;
      ids += 1;
      return { status: 200, json: { success: true, message: { id: ids, mailbox: DRAFTS, size: 9 } } };
    };
    for (const to of [
      ['Maria Silva', 'maria@x.example'],
      ['', 'ben@x.example'],
      ['Maria Silva', 'Maria@X.example'],
    ])
      await alice.api.post('/mail/draft', {
        mailbox: DRAFTS,
        subject: 's',
        to: [{ name: to[0], address: to[1] }],
      });
  });
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
  });

  const extracted = async (query = '', by = alice) => (await by.api.get(`/contact/extract${query}`)).body;
  const addresses = async (query = '') =>
    (await extracted(query)).emails.map(({ email }: any) => email.toLowerCase());

  test('have a count, the last use and the contact', async () => {
    const { emails, next } = await extracted();
    expect(next).toBeNull();
    expect(emails[0]).toEqual({
      email: 'Maria@X.example',
      name: 'Maria Silva',
      count: 2,
      last_seen_at: expect.stringMatching(/Z$/),
      sources: ['sent'],
      contact_id: null,
      addressbook_id: null,
    });
    const [{ id: bookId }] = (await alice.api.get('/contact/addressbooks')).body.addressbooks;
    const made = await alice.api.post(`/contact/addressbooks/${bookId}/contacts`, {
      emails: ['maria@x.example'],
    });
    const [maria] = (await extracted()).emails;
    expect(maria).toMatchObject({ contact_id: made.body.contact.id, addressbook_id: bookId });
    expect(await addresses('?q=silv')).toEqual(['maria@x.example']);
    expect(await addresses('?since=2999-01-01T00:00:00Z')).toEqual([]);
    const page = await extracted('?limit=1');
    expect(await addresses(`?limit=1&cursor=${page.next}`)).toEqual(['ben@x.example']);
    expect((await extracted('', bob)).emails).toEqual([]);
  });

  test('stay removed when a later message uses them', async () => {
    const removal = await alice.api.delete('/contact/extract', { email: 'BEN@x.example' });
    expect([removal.status, removal.body]).toEqual([200, { email: 'BEN@x.example', deleted: true }]);
    expect(await addresses()).toEqual(['maria@x.example']);
    await alice.api.post('/mail/draft', {
      mailbox: DRAFTS,
      subject: 's',
      to: [{ address: 'ben@x.example' }],
    });
    expect(await addresses()).toEqual(['maria@x.example']);
    expect(await addresses('?q=ben')).toEqual([]);
    const { status, body } = await alice.api.delete('/contact/extract', { email: 'none' });
    expect([status, body.error]).toEqual([422, 'validation_failed']);
  });

  describe('of received messages and events', () => {
    const message = (id: number, address: string, name = '') => ({
      id,
      mailbox: INBOX,
      from: { address, name },
      date: `2026-11-${10 + id}T08:00:00.000Z`,
    });
    const laterOn = () => app.sql(`UPDATE received_address_scans SET scanned_at = now() - interval '1 hour'`);
    const collect = async () => {
      await laterOn();
      await app.get(AddressCollector).run();
    };
    const of = async (email: string) =>
      (await extracted()).emails.find((each: any) => each.email.toLowerCase() === email);

    test('senders are counted once for each message, also by parallel jobs; a list reads no mail', async () => {
      inbox = [message(2, 'Shop@Y.example', 'Shop'), message(1, 'shop@y.example'), message(3, 'no address')];
      const requests = duck.requests.length;
      expect(await of('shop@y.example')).toBeUndefined();
      expect(duck.requests).toHaveLength(requests);
      await Promise.all(Array.from({ length: 4 }, () => app.get(AddressCollector).run()));
      expect(await of('shop@y.example')).toMatchObject({
        name: 'Shop',
        count: 2,
        sources: ['received'],
        last_seen_at: '2026-11-12T08:00:00.000Z',
      });
      inbox = [message(4, 'maria@x.example', 'M.'), message(5, 'shop@y.example'), ...inbox];
      // Within five minutes the inbox is not read again.
      await app.get(AddressCollector).run();
      expect(await of('shop@y.example')).toMatchObject({ count: 2 });
      await collect();
      expect(await of('shop@y.example')).toMatchObject({
        count: 3,
        last_seen_at: '2026-11-15T08:00:00.000Z',
      });
      expect(await of('maria@x.example')).toMatchObject({
        count: 3,
        name: 'Maria Silva',
        sources: ['sent', 'received'],
      });
      expect(await addresses('?q=sho')).toEqual(['shop@y.example']);
    });

    test('without the mail service the list has the known addresses', async () => {
      const before = await addresses();
      inbox = null;
      await collect();
      expect(await addresses()).toEqual(before);
      // A failed read loses no message and counts none twice.
      inbox = [message(6, 'shop@y.example'), message(5, 'shop@y.example'), message(4, 'maria@x.example')];
      await collect();
      expect(await of('shop@y.example')).toMatchObject({ count: 4 });
      inbox = [];
    });

    test('a removed sender stays removed when new messages arrive', async () => {
      await alice.api.delete('/contact/extract', { email: 'shop@y.example' });
      inbox = [message(9, 'shop@y.example')];
      await collect();
      expect(await of('shop@y.example')).toBeUndefined();
    });

    test('organizers and attendees of the own events are in the list, the user is not', async () => {
      const [calendar] = (await alice.api.get('/calendar')).body.calendars;
      const event = {
        title: 'Review',
        start: '2026-12-01T09:00:00Z',
        end: '2026-12-01T10:00:00Z',
        attendees: [{ email: 'ext@z.example', name: 'Ext TestUser' }, { email: bob.email }],
      };
      for (let n = 0; n < 2; n += 1)
        expect((await alice.api.post(`/calendar/${calendar.id}/events`, event)).status).toBe(201);
      expect(await of('ext@z.example')).toMatchObject({
        name: 'Ext TestUser',
        count: 2,
        sources: ['calendar'],
      });
      expect(await of(alice.email)).toBeUndefined();
      const { emails } = await extracted('', bob);
      expect(emails.map(({ email }: any) => email).toSorted()).toEqual([alice.email, 'ext@z.example']);
      await alice.api.delete('/contact/extract', { email: 'ext@z.example' });
      await alice.api.post(`/calendar/${calendar.id}/events`, event);
      expect(await of('ext@z.example')).toBeUndefined();
    });

    test('pages contain each address once', async () => {
      inbox = Array.from({ length: 30 }, (_, n) => message(1 + (n % 18), `list${n}@l.example`)).map(
        (each, n) => ({
          ...each,
          id: 100 - n,
        }),
      );
      await collect();
      const all = await addresses('?limit=200');
      const paged: string[] = [];
      for (let cursor = ''; ;) {
        const { emails, next } = await extracted(`?limit=7${cursor}`);
        paged.push(...emails.map(({ email }: any) => email.toLowerCase()));
        if (next === null) break;
        cursor = `&cursor=${encodeURIComponent(next)}`;
      }
      expect(paged).toEqual(all);
      expect(all.length).toBeGreaterThan(30);
    });
  });

  describe('the collected address book', () => {
    let carol: TestUser;
    let book: any;

    const collect = async () => {
      await app.sql(`UPDATE received_address_scans SET scanned_at = now() - interval '1 hour'`);
      await app.get(AddressCollector).run();
    };
    const writeTo = (address: string, name = '') =>
      carol.api.post('/mail/draft', { mailbox: DRAFTS, subject: 's', to: [{ name, address }] });
    const books = async (): Promise<any[]> =>
      (await carol.api.get('/contact/useraddressbooks')).body.addressbooks;
    const path = (more = '') => `/contact/addressbooks/${book.id}/contacts${more}`;
    const collected = async (): Promise<any[]> => (await carol.api.get(path())).body.contacts;
    const emails = async () =>
      (await collected()).map((contact) => contact.emails[0].value.toLowerCase()).toSorted();
    const listed = async () =>
      (await extracted('?limit=200', carol)).emails.map(({ email }: any) => email.toLowerCase()).toSorted();

    beforeAll(async () => {
      [carol] = await app.tenant('collectors', 'carol');
      await app.sql(
        `INSERT INTO received_addresses (tenant_id, user_id, address_key, address, name, count, last_seen_at)
         VALUES ($1, $2, 'list@news.example', 'list@news.example', '', 3, now())`,
        [carol.tenantId, carol.id],
      );
      for (const address of ['ann@c.example', 'Ben@C.example', 'cyd@c.example', 'dan@c.example'])
        await writeTo(address, address === 'Ben@C.example' ? 'Ben Lee' : '');
      const [calendar] = (await carol.api.get('/calendar')).body.calendars;
      const times = { start: '2026-12-01T09:00:00Z', end: '2026-12-01T10:00:00Z' };
      await carol.api.post(`/calendar/${calendar.id}/events`, {
        title: 'x',
        ...times,
        attendees: ['eve@c.example'],
      });
      const [own] = (await carol.api.get('/contact/addressbooks')).body.addressbooks;
      await carol.api.post(`/contact/addressbooks/${own.id}/contacts`, {
        full_name: 'Dan',
        emails: ['DAN@c.example'],
      });
      await collect();
      book = (await books()).find(({ kind }) => kind === 'collected');
    });

    test('has a contact for recipients and participants, in the shape of all contacts', async () => {
      expect(book).toMatchObject({ role: 'owner', is_default: false, contacts_count: 4 });
      expect(await emails()).toEqual(['ann@c.example', 'ben@c.example', 'cyd@c.example', 'eve@c.example']);
      expect(await listed()).toContain('list@news.example');
      const ben = (await collected()).find(({ full_name }) => full_name === 'Ben Lee');
      const [own] = (await carol.api.get('/contact/addressbooks')).body.addressbooks;
      const [dan] = (await carol.api.get(`/contact/addressbooks/${own.id}/contacts`)).body.contacts;
      expect(Object.keys(ben)).toEqual(Object.keys(dan));
      expect(ben).toMatchObject({ external_id: 'ben@c.example', source: 'extracted', revision: 1 });
      const { changes } = (await carol.api.get(path('/sync'))).body;
      expect(changes.map(({ contact }: any) => contact.source)).toEqual(Array(4).fill('extracted'));
    });

    test('parallel runs create one book and each contact once', async () => {
      const [dora] = await app.tenant('parallel', 'dora');
      for (const address of ['ann@c.example', 'ben@c.example'])
        await dora.api.post('/mail/draft', { mailbox: DRAFTS, subject: 's', to: [{ address }] });
      const owner = { tenantId: dora.tenantId as string, userId: dora.id };
      await Promise.all(Array.from({ length: 4 }, () => app.get(CollectedBook).update(owner)));
      const all = (await dora.api.get('/contact/useraddressbooks')).body.addressbooks;
      expect(all.filter(({ kind }: any) => kind === 'collected')).toMatchObject([{ contacts_count: 2 }]);
    });

    test('a deleted contact is not collected again, and leaves the list of addresses', async () => {
      expect((await carol.api.delete(path('/ann@c.example'))).status).toBe(200);
      expect(await listed()).not.toContain('ann@c.example');
      await app.sql('DELETE FROM contacts WHERE addressbook_id = $1 AND gone_at IS NOT NULL', [book.id]);
      await writeTo('ann@c.example');
      await collect();
      expect(await emails()).not.toContain('ann@c.example');
    });

    test('an address that is removed from the list leaves the book; a changed contact stays', async () => {
      await carol.api.put(path('/cyd@c.example'), { notes: 'mine' });
      for (const email of ['Eve@c.example', 'cyd@c.example'])
        expect((await carol.api.delete('/contact/extract', { email })).status).toBe(200);
      await collect();
      expect(await emails()).toEqual(['ben@c.example', 'cyd@c.example']);
    });

    test('a merged or moved contact keeps its address in the list', async () => {
      await writeTo('fay@c.example');
      await writeTo('gil@c.example');
      await collect();
      const ids = { addressbook_id: book.id, external_ids: ['ben@c.example', 'fay@c.example'] };
      expect((await carol.api.post('/contact/merges', ids)).status).toBe(200);
      const target = (await carol.api.post('/contact/addressbooks', { name: 'Friends' })).body.addressbook;
      const move = { target_addressbook_id: target.id };
      expect((await carol.api.post(path('/gil@c.example/move'), move)).status).toBe(200);
      await collect();
      expect(await emails()).toEqual(['ben@c.example', 'cyd@c.example']);
      expect(await listed()).toEqual(
        expect.arrayContaining(['ben@c.example', 'fay@c.example', 'gil@c.example']),
      );
    });

    test('an address that is removed leaves the book also when it had a contact before; a changed contact stays', async () => {
      const target = (await carol.api.post('/contact/addressbooks', { name: 'Former' })).body.addressbook;
      const addresses = ['hal@c.example', 'ira@c.example'];
      for (const address of addresses) await writeTo(address);
      await collect();
      for (const address of addresses) {
        await carol.api.post(path(`/${address}/move`), { target_addressbook_id: target.id });
        await carol.api.delete(`/contact/addressbooks/${target.id}/contacts/${address}`);
      }
      await collect();
      await carol.api.put(path('/ira@c.example'), { notes: 'mine' });
      const revisions = (await collected()).map(({ external_id, revision }) => [external_id, revision]);
      expect(revisions).toEqual(
        expect.arrayContaining([
          ['hal@c.example', 2],
          ['ira@c.example', 3],
        ]),
      );
      for (const email of addresses) await carol.api.delete('/contact/extract', { email });
      expect((await emails()).filter((email) => addresses.includes(email))).toEqual(['ira@c.example']);
    });

    test('none of the addresses of a deleted contact is collected again', async () => {
      for (const address of ['jan@c.example', 'jan@home.example', 'jan@work.example']) await writeTo(address);
      await collect();
      const ids = { addressbook_id: book.id, external_ids: ['jan@c.example', 'jan@home.example'] };
      await carol.api.post('/contact/merges', ids);
      await carol.api.delete(path('/jan@c.example'));
      await collect();
      const remaining = (await emails()).filter((address) => address.startsWith('jan@'));
      expect(remaining).toEqual(['jan@work.example']);
    });

    test('an address that the user replaced in its contact is not tried again', async () => {
      await writeTo('kim@old.example');
      await collect();
      await carol.api.put(path('/kim@old.example'), { emails: ['kim@new.example'] });
      const head = async () => (await carol.api.get(path('/sync'))).body.cursor;
      const before = await head();
      await collect();
      expect(await emails()).toContain('kim@new.example');
      expect(await emails()).not.toContain('kim@old.example');
      expect(await head()).toBe(before);
    });

    test('has at most 100,000 contacts', async () => {
      const [nina] = await app.tenant('full-books', 'nina');
      const write = (address: string) =>
        nina.api.post('/mail/draft', { mailbox: DRAFTS, subject: 's', to: [{ address }] });
      await write('one@c.example');
      await collect();
      await app.sql(
        `UPDATE addressbooks SET contacts_count = 99999 WHERE kind = 'collected' AND owner_id = $1`,
        [nina.id],
      );
      for (const address of ['two@c.example', 'three@c.example']) await write(address);
      await collect();
      const all = (await nina.api.get('/contact/useraddressbooks')).body.addressbooks;
      expect(all.find(({ kind }: any) => kind === 'collected').contacts_count).toBe(100_000);
    });

    test('the failure of one user does not hold up the others, and is reported after them', async () => {
      const users = await app.tenant('failures', ...Array.from({ length: 6 }, (_, n) => `user${n}`));
      for (const { api } of users)
        await api.post('/mail/draft', { mailbox: DRAFTS, subject: 's', to: [{ address: 'a@c.example' }] });
      const updates = app.get(CollectedBook);
      const update = updates.update.bind(updates);
      const updated: string[] = [];
      const spy = jest.spyOn(updates, 'update').mockImplementation(async (owner) => {
        if (owner.userId === users[0]?.id) throw new Error('unreadable');
        await update(owner);
        updated.push(owner.userId);
      });
      try {
        await expect(collect()).rejects.toThrow('failed for 1 items');
      } finally {
        spy.mockRestore();
      }
      expect(updated).toEqual(expect.arrayContaining(users.slice(1).map(({ id }) => id)));
    });

    test('is not deleted, shared or made the default one', async () => {
      const at = `/contact/addressbooks/${book.id}`;
      const [, other] = await app.tenant('collectors', 'carol', 'olga');
      const responses = [
        await carol.api.delete(at),
        await carol.api.put(at, { shares: [other.id] }),
        await carol.api.put(at, { is_default: true }),
      ];
      expect(responses.map(({ status, body }) => [status, body.error])).toEqual([
        [403, 'forbidden'],
        [422, 'validation_failed'],
        [422, 'validation_failed'],
      ]);
      expect((await carol.api.put(at, { name: 'Others' })).body.addressbook).toMatchObject({
        name: 'Others',
        kind: 'collected',
      });
    });

    test('a transfer makes it a personal address book of the new owner', async () => {
      const [owner, leaver] = await app.tenant('collected-heirs', 'owner', 'leaver');
      await leaver?.api.post('/mail/draft', {
        mailbox: DRAFTS,
        subject: 's',
        to: [{ address: 'ann@c.example' }],
      });
      for (const { tenantId, id: userId } of [leaver, owner] as TestUser[]) {
        await owner.api.post('/mail/draft', {
          mailbox: DRAFTS,
          subject: 's',
          to: [{ address: 'ben@c.example' }],
        });
        await app.get(CollectedBook).update({ tenantId: tenantId as string, userId });
      }
      await owner.api.post(`/tenant/members/${leaver?.id}/deactivate`);
      expect((await owner.api.post(`/tenant/members/${leaver?.id}/transfer`, { to: owner.id })).status).toBe(
        200,
      );
      const all = (await owner.api.get('/contact/addressbooks')).body.addressbooks;
      expect(all.map(({ kind, name }: any) => `${kind} ${name}`).toSorted()).toEqual([
        'collected Collected',
        'personal Collected',
        'personal Contacts',
      ]);
    });
  });
});
