import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';

const ZOE = 'zoe@far.example';
const ICS = { 'content-type': 'text/calendar' };

/** RFC 6638, 3.2.10: the tag of an event with attendees, which the responses of others do not change. */
describe('schedule tags', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let anns: DavClient;
  let bobs: DavClient;
  let evas: DavClient;
  let emails: string[];
  const calendars = new Map<DavClient, string>();

  beforeAll(async () => {
    app = await TestApp.start();
    await app.get<OutboxWorker>(OutboxWorker).onModuleDestroy();
    let eva: TestUser;
    [ann, bob, eva] = await app.tenant('acme', 'ann', 'bob', 'eva');
    emails = [bob.email, eva.email];
    anns = await DavClient.of(app, ann);
    bobs = await DavClient.of(app, bob);
    evas = await DavClient.of(app, eva);
    for (const client of [anns, bobs, evas]) {
      const { calendars: all } = (await client.user.api.get('/calendar')).body;
      calendars.set(client, all.find(({ is_default }: any) => is_default).id);
    }
  });
  afterAll(() => app?.stop());

  const folder = (client: DavClient) => `${client.home('calendars')}${calendars.get(client)}/`;
  const unfolded = (text: string) => text.replaceAll('\r\n ', '');
  const event = (uid: string, attendees: string[]): string =>
    [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'BEGIN:VEVENT',
      `UID:${uid}`,
      'DTSTAMP:20270301T000000Z',
      'SUMMARY:Meeting',
      'DTSTART:20270302T090000Z',
      'DTEND:20270302T100000Z',
      ...(attendees.length > 0 ? [`ORGANIZER:mailto:${ann.email}`] : []),
      ...attendees.map((email) => `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${email}`),
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
  const put = (client: DavClient, uid: string, text: string, headers: Record<string, string> = {}) =>
    client.send('PUT', `${folder(client)}${uid}.ics`, text, { ...ICS, ...headers });
  const get = async (client: DavClient, uid: string) => {
    const { headers, text } = await client.send('GET', `${folder(client)}${uid}.ics`);
    return { tag: headers.get('schedule-tag'), etag: headers.get('etag'), text: unfolded(text) };
  };
  const tag = async (client: DavClient, uid: string) => (await get(client, uid)).tag;
  const answer = async (client: DavClient, uid: string, response: string) => {
    const { text } = await get(client, uid);
    const own = client.user.email;
    const answered = text.replace(new RegExp(`PARTSTAT=[A-Z-]+([^\\r]*${own})`), `PARTSTAT=${response}$1`);
    expect((await put(client, uid, answered)).status).toBe(204);
  };

  test('GET, PUT, PROPFIND and reports state the tag of events with attendees', async () => {
    const made = await put(anns, 'shown', event('shown', emails));
    const shown = await tag(anns, 'shown');
    expect(shown).toMatch(/^"[^"]+"$/);
    expect(made.headers.get('schedule-tag')).toBe(shown);
    await put(anns, 'alone', event('alone', []));
    expect(await tag(anns, 'alone')).toBeNull();

    const path = `${folder(anns)}shown.ics`;
    const asked = '<D:getetag/><C:schedule-tag/>';
    const reports = [
      await anns.propfind(path, asked),
      await anns.propfind(folder(anns), asked, '1'),
      await anns.report(
        folder(anns),
        'C:calendar-multiget',
        `<D:prop>${asked}</D:prop><D:href>${path}</D:href>`,
      ),
      await anns.report(
        folder(anns),
        'C:calendar-query',
        `<D:prop>${asked}</D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"/></C:comp-filter></C:filter>`,
      ),
      await anns.report(folder(anns), 'D:sync-collection', `<D:sync-token/><D:prop>${asked}</D:prop>`),
    ];
    for (const { text } of reports) {
      expect(hrefsOf(text)).toContain(path);
      expect(valuesOf(text, 'C:schedule-tag')).toEqual([shown]);
    }
  });

  test('responses of others change the ETag, and not the tag', async () => {
    await put(anns, 'replies', event('replies', [...emails, ZOE]));
    const before = await Promise.all([anns, bobs, evas].map((client) => get(client, 'replies')));
    await answer(bobs, 'replies', 'ACCEPTED');
    const after = await Promise.all([anns, bobs, evas].map((client) => get(client, 'replies')));
    for (const [n, { etag }] of after.entries()) expect(etag).not.toBe(before[n]!.etag);
    expect([after[0]!.tag, after[2]!.tag]).toEqual([before[0]!.tag, before[2]!.tag]);
    // The own response is a change of the own copy.
    expect(after[1]!.tag).not.toBe(before[1]!.tag);

    // The organizer writes a text from before the response, which stays.
    const headers = { 'if-schedule-tag-match': before[0]!.tag! };
    const moved = before[0]!.text
      .replace('T100000Z', 'T103000Z')
      .replace('SUMMARY:Meeting', 'SUMMARY:Longer');
    expect((await put(anns, 'replies', moved, headers)).status).toBe(204);
    for (const [n, client] of [anns, bobs, evas].entries())
      expect(await tag(client, 'replies')).not.toBe(after[n]!.tag);
  });

  test('If-Schedule-Tag-Match with another tag is 412, and changes nothing', async () => {
    await put(anns, 'match', event('match', emails));
    const { tag: first, text, etag } = await get(anns, 'match');
    const renamed = text.replace('SUMMARY:Meeting', 'SUMMARY:Renamed');
    for (const wrong of ['"wrong"', 'W/"wrong"', '*']) {
      const headers = { 'if-schedule-tag-match': wrong };
      expect((await put(anns, 'match', renamed, headers)).status).toBe(412);
      const path = `${folder(anns)}match.ics`;
      expect((await anns.send('DELETE', path, undefined, headers)).status).toBe(412);
    }
    expect((await get(anns, 'match')).etag).toBe(etag);
    const headers = { 'if-schedule-tag-match': first! };
    expect((await put(anns, 'match', renamed, headers)).status).toBe(204);
    expect((await put(anns, 'match', text, headers)).status).toBe(412);
    // An event without attendees, and a new one, have no tag.
    await put(anns, 'untagged', event('untagged', []));
    for (const uid of ['untagged', 'unknown'])
      expect((await put(anns, uid, event(uid, []), headers)).status).toBe(412);
    const current = (await tag(anns, 'match'))!;
    const path = `${folder(anns)}match.ics`;
    expect((await anns.send('DELETE', path, undefined, { 'if-schedule-tag-match': current })).status).toBe(
      204,
    );
  });

  test('changes by the API, own settings and a cancelled calendar are changes of the tag', async () => {
    const { calendar } = (await ann.api.post('/calendar', { name: 'Gone' })).body;
    const own = `${anns.home('calendars')}${calendar.id}/api.ics`;
    await anns.send('PUT', own, event('api', [bob.email]), ICS);
    const [{ id }] = (await ann.api.get(`/calendar/${calendar.id}/events?uid=api`)).body.events;
    const tags = [await tag(bobs, 'api')];
    await ann.api.put(`/calendar/${calendar.id}/events/${id}`, { location: 'Room' });
    tags.push(await tag(bobs, 'api'));
    await bob.api.put(`/calendar/${calendars.get(bobs)}/events/${id}`, {
      reminders: { use_default: false, overrides: [{ method: 'popup', minutes: 5 }] },
    });
    tags.push(await tag(bobs, 'api'));
    await ann.api.delete(`/calendar/${calendar.id}`);
    tags.push(await tag(bobs, 'api'));
    expect(new Set(tags).size).toBe(4);
  });
});
