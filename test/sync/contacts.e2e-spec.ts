import { FeedRetention } from '../../src/platform/sync/feed-retention.js';
import { TestApp } from '../support/app.ts';
import { ContactReplica } from './contact-replica.ts';
import { Rng } from './rng.ts';

const ROUNDS = 3;
const STEPS = 25;

/** Each selects rows that violate it. $1 is the workspace. */
const NEVER: Record<string, string> = {
  'a word that is missing or too many in the index': `
    SELECT contact.id, word FROM contacts contact, unnest(contact.words) AS word WHERE contact.tenant_id = $1 AND contact.gone_at IS NULL
    EXCEPT SELECT contact_id, word FROM contact_words WHERE tenant_id = $1
    UNION ALL
    (SELECT contact_id, word FROM contact_words WHERE tenant_id = $1
    EXCEPT SELECT contact.id, word FROM contacts contact, unnest(contact.words) AS word WHERE contact.tenant_id = $1 AND contact.gone_at IS NULL)`,
  'a wrong count of contacts': `
    SELECT book.id FROM addressbooks book WHERE book.tenant_id = $1 AND book.contacts_count <> (
      SELECT count(*) FROM contacts contact
       WHERE contact.tenant_id = $1 AND contact.addressbook_id = book.id AND contact.gone_at IS NULL)`,
  'a number beyond the counter of its address book': `
    SELECT contact.id FROM contacts contact
      JOIN sync_heads counter ON counter.tenant_id = contact.tenant_id AND counter.user_id = contact.addressbook_id
     WHERE contact.tenant_id = $1 AND contact.seq > counter.head`,
};

describe('synchronisation of address books, at random', () => {
  let first: TestApp;
  let second: TestApp;
  let resets = 0;
  let compared = 0;

  beforeAll(async () => {
    first = await TestApp.start();
    second = await TestApp.start({}, first.databaseUrl);
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
  });

  test.each(['1', '2', '3', '4'])('seed %s: all devices agree with the server', async (seed) => {
    const [alice, bob] = await first.tenant(`books-${seed}`, 'alice', 'bob');
    const shares = [{ user_id: bob.id, role: 'writer' }];
    const made = await Promise.all(
      ['one', 'two'].map((name) => alice.api.post('/contact/addressbooks', { name, shares })),
    );
    const books: string[] = made.map(({ body }) => body.addressbook.id);
    let serial = 0;
    const unique = () => `w${(serial += 1)}`;
    const devices = [alice, alice, bob, bob].flatMap((user, n) =>
      books.map((bookId) => {
        const app = n % 2 === 0 ? first : second;
        const name = `${user.email} ${n} ${bookId}`;
        return new ContactReplica(name, bookId, app.as(user.token), new Rng(`${seed} ${name}`), unique);
      }),
    );
    const rng = new Rng(`${seed} rounds`);
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(
        devices.map(async (device, n) => {
          const own = new Rng(`${seed} ${round} ${n}`);
          // Some devices are offline in a round.
          if (own.chance(0.3)) return;
          for (let step = 0; step < STEPS; step += 1) {
            if (own.chance(0.6)) await device.exchange();
            else if (own.chance(0.5)) await device.read();
            else await device.write(own.pick(books));
          }
        }),
      );
      // Devices that did not read up to a forgotten removal start again.
      if (rng.chance(0.6)) await first.get(FeedRetention).forget(new Date(Date.now() + 1_000));
      for (const [name, violated] of Object.entries(NEVER))
        expect([name, await first.sql(violated, [alice.tenantId])]).toEqual([name, []]);
    }
    for (const device of devices) {
      while (await device.read());
      const stored: any[] = [];
      for (let cursor = ''; ;) {
        const path = `/contact/addressbooks/${device.bookId}/contacts?limit=200${cursor}`;
        const { contacts, next } = (await alice.api.get(path)).body;
        stored.push(...contacts);
        if (next === null) break;
        cursor = `&cursor=${next}`;
      }
      const byId = (contacts: Iterable<any>) => [...contacts].toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect([device.name, byId(device.contacts.values())]).toEqual([device.name, byId(stored)]);
      compared += stored.length;
      resets += device.resets;
    }
  });

  /** A run that does nothing would prove nothing. */
  test('there were contacts and expired cursors', () => {
    expect(compared).toBeGreaterThan(40);
    expect(resets).toBeGreaterThan(2);
  });
});
