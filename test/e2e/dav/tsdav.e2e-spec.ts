import { createDAVClient } from 'tsdav';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient } from '../../support/dav/dav-client.ts';

const event = (uid: string, title: string): string =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20270101T000000Z\r\nDTSTART:20270302T090000Z\r\nDTEND:20270302T100000Z\r\nSUMMARY:${title}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;

/** The library that web programs use: discovery, objects, multiget and synchronisation. */
describe('tsdav', () => {
  let app: TestApp;
  let alice: TestUser;
  let password: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    ({ password } = await DavClient.of(app, alice));
  });
  afterAll(() => app?.stop());

  const clientOf = (accountType: 'caldav' | 'carddav') =>
    createDAVClient({
      serverUrl: app.base,
      credentials: { username: alice.email, password },
      authMethod: 'Basic',
      defaultAccountType: accountType,
    });

  test('finds calendars, and synchronises objects', async () => {
    const client = await clientOf('caldav');
    const [calendar] = await client.fetchCalendars();
    if (!calendar) throw new Error('no calendar');
    expect(calendar).toMatchObject({ components: ['VEVENT'], displayName: 'Calendar' });
    const { ok } = await client.createCalendarObject({
      calendar,
      filename: 'a.ics',
      iCalString: event('a', 'One'),
    });
    expect(ok).toBe(true);
    const [object] = await client.fetchCalendarObjects({ calendar });
    if (!object) throw new Error('no object');
    expect(object.data).toContain('SUMMARY:One');
    const changed = await client.updateCalendarObject({
      calendarObject: { ...object, data: (object.data as string).replace('One', 'Two') },
    });
    expect(changed.status).toBe(204);
    const stale = await client.updateCalendarObject({ calendarObject: object });
    expect(stale.status).toBe(412);
    const inWindow = await client.fetchCalendarObjects({
      calendar,
      timeRange: { start: '2027-03-02T00:00:00Z', end: '2027-03-03T00:00:00Z' },
    });
    expect(inWindow).toHaveLength(1);
    const synced = await client.syncCollection({
      url: calendar.url,
      props: { 'd:getetag': {} },
      syncLevel: 1,
    });
    expect(synced.map(({ href }) => href)).toEqual([new URL(object.url).pathname]);
    const read = await client.calendarMultiGet({
      url: calendar.url,
      props: { 'd:getetag': {}, 'c:calendar-data': {} },
      objectUrls: synced.map(({ href }) => href as string),
      depth: '1',
    });
    expect(JSON.stringify(read[0]?.props)).toContain('SUMMARY:Two');
    const { status } = await client.deleteCalendarObject({ calendarObject: inWindow[0]! });
    expect(status).toBe(204);
  });

  test('finds address books, and reads contacts', async () => {
    const client = await clientOf('carddav');
    const books = await client.fetchAddressBooks();
    expect(books.map(({ displayName }) => displayName).toSorted()).toEqual(['Contacts', 'Workspace']);
    const addressBook = books.find(({ displayName }) => displayName === 'Contacts')!;
    await client.createVCard({
      addressBook,
      filename: 'm.vcf',
      vCardString: 'BEGIN:VCARD\r\nVERSION:3.0\r\nUID:m\r\nFN:Maria\r\nN:;Maria;;;\r\nEND:VCARD\r\n',
    });
    const [card] = await client.fetchVCards({ addressBook });
    expect(card?.data).toContain('FN:Maria');
    expect((await client.deleteVCard({ vCard: card! })).status).toBe(204);
  });
});
