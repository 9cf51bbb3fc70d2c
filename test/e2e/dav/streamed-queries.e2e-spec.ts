import { jest } from '@jest/globals';
import { EventResources } from '../../../src/modules/calendar/index.js';
import { EventResourcesRepository } from '../../../src/modules/calendar/events/resources/event-resources.repository.js';
import { ContactPhotos } from '../../../src/modules/contacts/contact-photos.js';
import { ContactCards } from '../../../src/modules/contacts/index.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { importFile } from '../../support/domains/calendars.ts';
import { DavClient, hrefsOf, NAMESPACES } from '../../support/dav/dav-client.ts';

const calendarOf = (uids: readonly string[], ...lines: string[]): string => {
  const events = uids.map((uid) =>
    ['BEGIN:VEVENT', `UID:${uid}`, 'DTSTAMP:20270101T000000Z', 'SUMMARY:S', ...lines, 'END:VEVENT', ''].join(
      '\r\n',
    ),
  );
  return `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n${events.join('')}END:VCALENDAR\r\n`;
};

describe('queries of large collections', () => {
  let app: TestApp;
  let alice: TestUser;
  let client: DavClient;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    client = await DavClient.of(app, alice);
  });
  afterAll(() => app?.stop());
  afterEach(() => jest.restoreAllMocks());

  const calendar = async (uids: readonly string[], ...lines: string[]): Promise<string> => {
    const { body } = await alice.api.post('/calendar', { name: 'Large' });
    expect((await importFile(alice, body.calendar.id, calendarOf(uids, ...lines))).status).toBe(200);
    return body.calendar.id;
  };
  const uidsOf = (count: number) => Array.from({ length: count }, (_, index) => `event-${index}`);
  /** Sends a report, lets the server read its second page only when a part of the response has arrived, and returns the response. */
  const readInParts = async (path: string, report: string, open: () => void): Promise<string> => {
    const response = await fetch(app.base + path, {
      method: 'REPORT',
      headers: { authorization: client.authorization, depth: '1' },
      body: report,
    });
    const decoder = new TextDecoder();
    let text = '';
    for await (const part of response.body!) {
      text += decoder.decode(part, { stream: true });
      if (text.includes('</D:response>')) open();
    }
    return text;
  };

  test('a page of events is sent before the next one is read', async () => {
    const id = await calendar(uidsOf(450), 'DTSTART:20270302T090000Z', 'DTEND:20270302T100000Z');
    const gate = Promise.withResolvers<void>();
    const repository = app.get(EventResourcesRepository);
    const page = repository.page.bind(repository);
    const sizes: number[] = [];
    jest.spyOn(repository, 'page').mockImplementation(async (...args) => {
      if (sizes.length > 0) await gate.promise;
      const found = await page(...args);
      sizes.push(found.found.length);
      return found;
    });
    const report = `<C:calendar-query ${NAMESPACES}><D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="20270302T000000Z" end="20270303T000000Z"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`;
    const text = await readInParts(`${client.home('calendars')}${id}/`, report, gate.resolve);
    expect(hrefsOf(text)).toHaveLength(450);
    expect(sizes).toEqual([200, 200, 50]);
  });

  test('a synchronisation sends a page of events before it reads the next one', async () => {
    const id = await calendar(uidsOf(250), 'DTSTART:20270302T090000Z', 'DTEND:20270302T100000Z');
    const gate = Promise.withResolvers<void>();
    const repository = app.get(EventResourcesRepository);
    const ofUids = repository.ofUids.bind(repository);
    const sizes: number[] = [];
    jest.spyOn(repository, 'ofUids').mockImplementation(async (...args) => {
      if (sizes.length > 0) await gate.promise;
      const found = await ofUids(...args);
      sizes.push(found.found.length);
      return found;
    });
    const report = `<D:sync-collection ${NAMESPACES}><D:sync-token/><D:sync-level>1</D:sync-level><D:prop><C:calendar-data/></D:prop></D:sync-collection>`;
    const text = await readInParts(`${client.home('calendars')}${id}/`, report, gate.resolve);
    expect(hrefsOf(text)).toHaveLength(250);
    expect(sizes).toEqual([100, 100, 50]);
  });

  test('a page of contacts is sent before the next one is read', async () => {
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Large' });
    const path = `${client.home('addressbooks')}${body.addressbook.id}/`;
    for (let index = 0; index < 60; index += 1)
      await client.send(
        'PUT',
        `${path}c${index}.vcf`,
        `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:c${index}\r\nFN:C ${index}\r\nN:;C;;;\r\nEND:VCARD\r\n`,
      );
    const gate = Promise.withResolvers<void>();
    const cards = app.get(ContactCards);
    const ofIds = cards.ofIds.bind(cards);
    const sizes: number[] = [];
    jest.spyOn(cards, 'ofIds').mockImplementation(async function* (...args) {
      for await (const page of ofIds(...args)) {
        if (sizes.length > 0) await gate.promise;
        sizes.push(page.length);
        yield page;
      }
    });
    const report = `<A:addressbook-query ${NAMESPACES}><D:prop><A:address-data/></D:prop></A:addressbook-query>`;
    expect(hrefsOf(await readInParts(path, report, gate.resolve))).toHaveLength(60);
    expect(sizes).toEqual([50, 10]);
  });

  test('a page of contacts with photos ends at its bytes', async () => {
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Photos' });
    const path = `${client.home('addressbooks')}${body.addressbook.id}/`;
    const ids = ['p1', 'p2', 'p3', 'p4', 'p5'];
    for (const uid of ids) {
      const card = `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:P\r\nN:P;;;;\r\nEND:VCARD\r\n`;
      expect((await client.send('PUT', `${path}${uid}.vcf`, card)).status).toBe(201);
    }
    const photo = { media_type: 'image/jpeg', data: Buffer.alloc(2_000_000) };
    jest.spyOn(app.get(ContactPhotos), 'forCard').mockResolvedValue(photo);
    const ctx = { tenantId: alice.tenantId, userId: alice.id } as never;
    const sizes: number[] = [];
    const cards = app.get(ContactCards);
    for await (const page of cards.ofIds(ctx, body.addressbook.id, ids, '3.0')) sizes.push(page.length);
    expect(sizes).toEqual([2, 2, 1]);
  });

  test('a page of expanded series ends at its bytes', async () => {
    const id = await calendar(
      uidsOf(12),
      'DTSTART:20270101T090000Z',
      'DTEND:20270101T100000Z',
      'RRULE:FREQ=DAILY;COUNT=2000',
      `DESCRIPTION:${'x'.repeat(200)}`,
    );
    const range = { from: Date.UTC(2027, 0, 1) / 1000, to: Date.UTC(2034, 0, 1) / 1000 };
    const ctx = { tenantId: alice.tenantId, userId: alice.id } as never;
    const sizes: number[] = [];
    for await (const page of app
      .get(EventResources)
      .occurring(ctx, id, range, { zones: true, expand: range }))
      sizes.push(page.reduce((sum, { text }) => sum + text.length, 0));
    // 12 series of about 1 MB each.
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThan(6 * 1024 * 1024);
  });
});
