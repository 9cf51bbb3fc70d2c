import { TestApp, type Person } from '../../support/app.ts';
import { DRAFTS, WildDuck } from '../../support/wild-duck.ts';

describe('addresses extracted from mail', () => {
  let duck: WildDuck;
  let app: TestApp;
  let alice: Person;
  let bob: Person;
  let ids = 100;

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
    [alice, bob] = (await app.tenant('acme', 'alice', 'bob')) as [Person, Person];
    duck.script = ({ url, method }) => {
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
});
