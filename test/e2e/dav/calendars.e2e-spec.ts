import { TestApp, type TestUser } from '../../support/app.ts';
import { DAV, DavClient, goneOf, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';

const ICS = { 'content-type': 'text/calendar' };
const calendarOf = (...events: string[]): string =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n${events.join('')}END:VCALENDAR\r\n`;
const vevent = (uid: string, ...lines: string[]): string =>
  `BEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20260301T000000Z\r\n${lines.map((line) => `${line}\r\n`).join('')}END:VEVENT\r\n`;
const simple = (uid: string, ...more: string[]): string =>
  calendarOf(vevent(uid, 'SUMMARY:Simple', 'DTSTART:20260302T090000Z', 'DTEND:20260302T100000Z', ...more));

describe('CalDAV', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let client: DavClient;
  let bobs: DavClient;
  let path: string;
  let id: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    client = await DavClient.of(app, alice);
    bobs = await DavClient.of(app, bob);
    ({ path, id } = await calendar('Work'));
  });
  afterAll(() => app?.stop());

  const calendar = async (name: string, fields: object = {}) => {
    const { body } = await alice.api.post('/calendar', { name, ...fields });
    return { id: body.calendar.id as string, path: `${client.home('calendars')}${body.calendar.id}/` };
  };
  const put = (to: string, text: string, headers: Record<string, string> = {}, by = client) =>
    by.send('PUT', to, text, { ...ICS, ...headers });
  const events = async (by = alice, calendarId = id) => {
    const { body } = await by.api.post(`/calendar/${calendarId}/sync`, { limit: 500 });
    return body.changes
      .filter(({ op }: any) => op === 'upsert')
      .map(({ event, overrides }: any) => ({ ...event, overrides }));
  };
  const eventOf = async (uid: string, by = alice, calendarId = id) =>
    (await events(by, calendarId)).find((event: any) => event.uid === uid);
  const sync = async (on: string, token = '', by = client) => {
    const { status, text } = await by.report(
      on,
      'D:sync-collection',
      `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>`,
    );
    return { status, text, token: valuesOf(text, 'D:sync-token')[0] as string };
  };

  test('the home lists calendars with colour, order, components and rights', async () => {
    await alice.api.put(`/calendar/${id}`, { order: 2 });
    const { status, text } = await client.propfind(
      client.home('calendars'),
      '<D:resourcetype/><I:calendar-color/><I:calendar-order/><C:supported-calendar-component-set/><S:getctag/><D:current-user-privilege-set/>',
      '1',
    );
    expect(status).toBe(207);
    const part = text.split('<D:response>').find((each) => each.includes(path)) as string;
    expect(part).toContain('<I:calendar-color>#2f80ed</I:calendar-color>');
    expect(part).toContain('<I:calendar-order>2</I:calendar-order>');
    expect(part).toContain('<C:comp name="VEVENT"/>');
    expect(part).toContain('<D:write-content/>');
  });

  test('an event is created, read, replaced and deleted; an old ETag changes nothing', async () => {
    const to = `${path}one.ics`;
    const made = await put(to, simple('one', 'X-UNKNOWN;A=b:c'), { 'if-none-match': '*' });
    expect([made.status, made.headers.get('etag')]).toEqual([201, null]);
    const read = await client.send('GET', to);
    expect(read.text).toContain('X-UNKNOWN;A=b:c\r\n');
    const etag = read.headers.get('etag') as string;
    expect((await put(to, read.text, { 'if-match': etag })).status).toBe(204);
    expect(await client.etag(to)).toBe(etag);
    // If-None-Match compares weakly, If-Match strongly.
    const weak = `W/${etag}`;
    expect((await client.send('GET', to, undefined, { 'if-none-match': weak })).status).toBe(304);
    for (const match of [weak, '"a", W/"b"'])
      expect((await client.send('GET', to, undefined, { 'if-match': match })).status).toBe(412);
    for (const match of [etag, `"a", ${etag}`, '*'])
      expect((await client.send('GET', to, undefined, { 'if-match': match })).status).toBe(200);
    expect((await put(to, read.text, { 'if-none-match': weak })).status).toBe(412);
    expect((await put(to, read.text, { 'if-match': weak })).status).toBe(412);
    expect((await put(to, read.text.replace('Simple', 'Changed'), { 'if-match': etag })).status).toBe(204);
    expect(await eventOf('one')).toMatchObject({ title: 'Changed' });
    const stale = await put(to, read.text, { 'if-match': etag });
    expect([stale.status, (await eventOf('one')).title]).toEqual([412, 'Changed']);
    expect((await put(to, read.text, { 'if-none-match': '*' })).status).toBe(412);
    expect((await client.send('DELETE', to, undefined, { 'if-match': etag })).status).toBe(412);
    expect((await client.send('DELETE', to, undefined, { 'if-match': await client.etag(to) })).status).toBe(
      204,
    );
    expect((await client.send('GET', to)).status).toBe(404);
    expect(await eventOf('one')).toBeUndefined();
  });

  test('of concurrent writes one takes effect, the others get 412', async () => {
    const to = `${path}race.ics`;
    const outcome = async (headers: Record<string, string>) => {
      const writes = Array.from({ length: 6 }, (_, n) =>
        put(to, simple('race', `LOCATION:Room ${n}`), headers),
      );
      return (await Promise.all(writes)).map(({ status }) => status).toSorted();
    };
    expect(await outcome({ 'if-none-match': '*' })).toEqual([201, 412, 412, 412, 412, 412]);
    const etag = await client.etag(to);
    const texts = Array.from({ length: 6 }, (_, n) =>
      put(to, simple('race', `LOCATION:New ${n}`), { 'if-match': etag }),
    );
    expect((await Promise.all(texts)).map(({ status }) => status).toSorted()).toEqual([
      204, 412, 412, 412, 412, 412,
    ]);
  });

  test('a series with exceptions is one resource; an edit of the HTTP API keeps what the program stored', async () => {
    const to = `${path}series.ics`;
    const text = calendarOf(
      vevent(
        'series',
        'SUMMARY:Series',
        'DTSTART;TZID=Europe/Berlin:20260302T090000',
        'DTEND;TZID=Europe/Berlin:20260302T100000',
        'RRULE:FREQ=WEEKLY;COUNT=5',
        'EXDATE;TZID=Europe/Berlin:20260316T090000',
        'X-OWN:kept',
      ),
      vevent(
        'series',
        'RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000',
        'SUMMARY:Moved',
        'DTSTART;TZID=Europe/Berlin:20260309T110000',
        'DTEND;TZID=Europe/Berlin:20260309T120000',
      ),
    );
    expect((await put(to, text)).status).toBe(201);
    const event = await eventOf('series');
    expect(event.overrides).toHaveLength(1);
    await alice.api.put(`/calendar/${id}/events/${event.id}`, { location: 'Room 1', scope: 'all' });
    const read = await client.send('GET', to);
    for (const line of ['X-OWN:kept', 'LOCATION:Room 1', 'SUMMARY:Moved', 'BEGIN:VTIMEZONE'])
      expect(read.text).toContain(line);
    expect(read.text.match(/BEGIN:VEVENT/g)).toHaveLength(2);
    const etag = read.headers.get('etag') as string;
    await put(to, read.text);
    expect(await client.etag(to)).toBe(etag);
  });

  test('alarms of a program become reminders, and its own alarm properties stay', async () => {
    const to = `${path}alarm.ics`;
    const alarm = 'BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Reminder\r\nTRIGGER:-PT15M\r\nEND:VALARM';
    await put(to, simple('alarm', alarm));
    expect((await eventOf('alarm')).reminders.overrides).toEqual([{ method: 'popup', minutes: 15 }]);
    const { text, headers } = await client.send('GET', to);
    await put(to, text);
    expect(await client.etag(to)).toBe(headers.get('etag'));
    await put(to, text.replace('-PT15M', '-PT30M'));
    expect((await eventOf('alarm')).reminders.overrides).toEqual([{ method: 'popup', minutes: 30 }]);
    expect(await client.etag(to)).not.toBe(headers.get('etag'));
  });

  test('a name that a program chose stays the path of its event', async () => {
    const to = `${path}chosen-name.ics`;
    expect((await put(to, simple('uid-of-chosen@example.com'))).status).toBe(201);
    const { text } = await client.propfind(path, '<D:getetag/>', '1');
    expect(hrefsOf(text)).toContain(to);
    const usual = `${path}uid-of-chosen%40example.com.ics`;
    expect((await client.send('GET', usual)).status).toBe(404);
    expect((await client.send('DELETE', usual)).status).toBe(404);
    expect((await put(usual, simple('uid-of-chosen@example.com'))).status).toBe(409);
    const conflict = await put(`${path}other.ics`, simple('uid-of-chosen@example.com'));
    expect([conflict.status, conflict.text]).toEqual([
      409,
      expect.stringContaining(`<C:no-uid-conflict><D:href>${to}</D:href></C:no-uid-conflict>`),
    ]);
    const { token } = await sync(path);
    await client.send('DELETE', to);
    expect(goneOf((await sync(path, token)).text)).toEqual([to]);
    expect((await put(to, simple('another-uid'))).status).toBe(201);
    expect(hrefsOf((await sync(path, token)).text)).toEqual([to]);
  });

  test('a text that is too large gets the condition of the RFC', async () => {
    const large = await put(`${path}bad.ics`, 'x'.repeat(4 * 1024 * 1024 + 1));
    expect([large.status, large.text]).toEqual([413, expect.stringContaining('max-resource-size')]);
  });

  test('queries by time find instances, and expand them', async () => {
    const own = await calendar('Queries');
    await put(
      `${own.path}weekly.ics`,
      calendarOf(
        vevent(
          'weekly',
          'SUMMARY:Weekly',
          'DTSTART;TZID=Europe/Berlin:20260302T090000',
          'DURATION:PT1H',
          'RRULE:FREQ=WEEKLY',
        ),
      ),
    );
    await put(`${own.path}single.ics`, simple('single', 'CATEGORIES:Blue'));
    const query = async (filter: string, data = '') => {
      const { text } = await client.report(
        own.path,
        'C:calendar-query',
        `<D:prop><D:getetag/>${data}</D:prop><C:filter><C:comp-filter name="VCALENDAR">${filter}</C:comp-filter></C:filter>`,
      );
      return {
        names: hrefsOf(text)
          .map((href) => href.split('/').at(-1))
          .toSorted(),
        text,
      };
    };
    const range = (start: string, end: string) =>
      `<C:comp-filter name="VEVENT"><C:time-range start="${start}" end="${end}"/></C:comp-filter>`;
    expect((await query('')).names).toEqual(['single.ics', 'weekly.ics']);
    expect((await query(range('20260303T000000Z', '20260304T000000Z'))).names).toEqual([]);
    expect((await query(range('20260309T000000Z', '20260310T000000Z'))).names).toEqual(['weekly.ics']);
    expect((await query('<C:comp-filter name="VTODO"/>')).names).toEqual([]);
    const category = '<C:prop-filter name="CATEGORIES"><C:text-match>blue</C:text-match></C:prop-filter>';
    const inText = `<C:comp-filter name="VEVENT">${category}</C:comp-filter>`;
    expect((await query(inText, '<C:calendar-data/>')).names).toEqual(['single.ics']);
    const expand =
      '<C:calendar-data><C:expand start="20260301T000000Z" end="20260401T000000Z"/></C:calendar-data>';
    const { text } = await query(range('20260301T000000Z', '20260401T000000Z'), expand);
    const weekly = valuesOf(text, 'C:calendar-data').find((each) => each.includes('UID:weekly')) as string;
    expect([...weekly.matchAll(/DTSTART:(.*)\r/g)].map(([, start]) => start)).toEqual([
      '20260302T080000Z',
      '20260309T080000Z',
      '20260316T080000Z',
      '20260323T080000Z',
      '20260330T070000Z',
    ]);
    expect(weekly).not.toContain('RRULE');
    for (const start of ['yesterday', '20261301T000000Z', '20260230T000000Z']) {
      const invalid = await client.report(
        own.path,
        'C:calendar-query',
        `<D:prop/><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="${start}"/></C:comp-filter></C:comp-filter></C:filter>`,
      );
      expect([invalid.status, invalid.text]).toEqual([400, expect.stringContaining('<C:valid-filter/>')]);
    }
  });

  test('multiget and GET return texts without VTIMEZONE for programs that know the zones', async () => {
    const to = `${path}zoned.ics`;
    await put(to, calendarOf(vevent('zoned', 'DTSTART;TZID=Europe/Paris:20260302T090000', 'DURATION:PT1H')));
    const body = `<C:calendar-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data/></D:prop><D:href>${to}</D:href><D:href>${path}none.ics</D:href></C:calendar-multiget>`;
    const full = await client.send('REPORT', path, body);
    const short = await client.send('REPORT', path, body, { 'CalDAV-Timezones': 'F' });
    expect([full.text.includes('VTIMEZONE'), short.text.includes('VTIMEZONE')]).toEqual([true, false]);
    const [own, named] = [
      await client.send('GET', to),
      await client.send('GET', to, undefined, { 'CalDAV-Timezones': 'F' }),
    ];
    expect([own.text.includes('VTIMEZONE'), named.text.includes('VTIMEZONE')]).toEqual([true, false]);
    expect(named.text).toContain('DTSTART;TZID=Europe/Paris:20260302T090000');
    expect(named.headers.get('dav')).toContain('calendar-no-timezone');
    expect(goneOf(full.text)).toEqual([`${path}none.ics`]);
  });

  test('a query reads days in the zone that it names; the home names no other service of zones', async () => {
    await put(`${path}day.ics`, calendarOf(vevent('day', 'DTSTART;VALUE=DATE:20260710', 'DURATION:P1D')));
    const query = (zone: string) =>
      client.send(
        'REPORT',
        path,
        `<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="20260709T120000Z" end="20260709T130000Z"/></C:comp-filter></C:comp-filter></C:filter><C:timezone-id>${zone}</C:timezone-id></C:calendar-query>`,
      );
    const found = async (zone: string) => (await query(zone)).text.includes('day.ics');
    expect([await found('Pacific/Kiritimati'), await found('Pacific/Honolulu')]).toEqual([true, false]);
    const unknown = await query('Nowhere/None');
    expect([unknown.status, unknown.text]).toEqual([403, expect.stringContaining('<C:valid-timezone/>')]);
    const home = await client.propfind(client.home('calendars'), '<C:timezone-service-set/>');
    expect(home.text).toContain('<C:timezone-service-set/></D:prop><D:status>HTTP/1.1 200 OK');
    await client.send('DELETE', `${path}day.ics`);
  });

  test('a calendar that is shared appears in the home of the member with the rights of the role', async () => {
    const shared = await calendar('Shared', { shares: [{ user_id: bob.id, role: 'reader' }] });
    await put(`${shared.path}open.ics`, simple('open'));
    await put(`${shared.path}secret.ics`, simple('secret', 'CLASS:PRIVATE'));
    const own = `${bobs.home('calendars')}${shared.id}/`;
    const { text } = await bobs.propfind(bobs.home('calendars'), '<D:current-user-privilege-set/>', '1');
    const part = text.split('<D:response>').find((each) => each.includes(own)) as string;
    expect(part).not.toContain('<D:write/>');
    expect((await bobs.send('GET', `${own}secret.ics`)).text).toContain('SUMMARY:Busy');
    expect((await put(`${own}new.ics`, simple('new'), {}, bobs)).status).toBe(403);
    expect((await bobs.send('DELETE', `${own}open.ics`)).status).toBe(403);
    expect((await bobs.propfind(shared.path, '<D:displayname/>')).status).toBe(404);
    const { token } = await sync(own, '', bobs);
    await alice.api.put(`/calendar/${shared.id}`, { shares: [{ user_id: bob.id, role: 'free_busy' }] });
    expect((await sync(own, token, bobs)).status).toBe(403);
    expect((await bobs.send('GET', `${own}open.ics`)).text).toContain('SUMMARY:Busy');
  });

  test('sync-collection follows changes of the HTTP API', async () => {
    const own = await calendar('Feed');
    await put(`${own.path}a.ics`, simple('a'));
    await put(`${own.path}b.ics`, simple('b'));
    const first = await sync(own.path);
    expect(hrefsOf(first.text).toSorted()).toEqual([`${own.path}a.ics`, `${own.path}b.ics`]);
    const shown = valuesOf((await client.propfind(own.path, '<D:sync-token/>')).text, 'D:sync-token')[0];
    const b = await eventOf('b', alice, own.id);
    await alice.api.delete(`/calendar/${own.id}/events/${b.id}`);
    await alice.api.post(`/calendar/${own.id}/events`, {
      title: 'New',
      uid: 'c',
      start: { date_time: '2026-03-02T09:00:00Z' },
      end: { date_time: '2026-03-02T10:00:00Z' },
    });
    for (const token of [first.token, shown]) {
      const next = await sync(own.path, token);
      expect([hrefsOf(next.text), goneOf(next.text)]).toEqual([[`${own.path}c.ics`], [`${own.path}b.ics`]]);
    }
    const next = await sync(own.path, first.token);
    expect(hrefsOf((await sync(own.path, next.token)).text)).toEqual([]);
    expect((await sync(own.path, 'data:,c1.x.y')).status).toBe(403);
  });

  test('calendars are created, patched and deleted by programs', async () => {
    const to = `${client.home('calendars')}holiday-plans/`;
    const body = `<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:I="http://apple.com/ns/ical/"><D:set><D:prop><D:displayname>Plans</D:displayname><I:calendar-color>#FF0000FF</I:calendar-color></D:prop></D:set></C:mkcalendar>`;
    expect((await client.send('MKCALENDAR', to, body)).status).toBe(201);
    expect((await client.send('MKCALENDAR', to, body)).status).toBe(405);
    expect((await put(`${to}x.ics`, simple('x'))).status).toBe(201);
    const { text } = await client.propfind(to, '<D:displayname/><I:calendar-color/>', '1');
    expect(hrefsOf(text)).toEqual([to, `${to}x.ics`]);
    expect(valuesOf(text, 'I:calendar-color')).toEqual(['#ff0000']);
    const patch = (prop: string) =>
      client.send(
        'PROPPATCH',
        to,
        `<D:propertyupdate xmlns:D="DAV:" xmlns:I="http://apple.com/ns/ical/"><D:set><D:prop>${prop}</D:prop></D:set></D:propertyupdate>`,
      );
    expect((await patch('<I:calendar-order>3</I:calendar-order>')).text).toContain('200 OK');
    // The zone as Apple's programs state it (RFC 4791, 5.2.2).
    const observance = (name: string, from: string, to: string, month: number) =>
      `BEGIN:${name}\nTZOFFSETFROM:${from}\nTZOFFSETTO:${to}\nDTSTART:19700329T020000\nRRULE:FREQ=YEARLY;BYMONTH=${month};BYDAY=-1SU\nEND:${name}\n`;
    const zone = `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Apple//EN\nBEGIN:VTIMEZONE\nTZID:Europe/Paris\n${observance('DAYLIGHT', '+0100', '+0200', 3)}${observance('STANDARD', '+0200', '+0100', 10)}END:VTIMEZONE\nEND:VCALENDAR\n`;
    const timeZone = (value: string) =>
      `<C:calendar-timezone xmlns:C="urn:ietf:params:xml:ns:caldav">${value}</C:calendar-timezone>`;
    expect((await patch(timeZone(zone))).text).toContain('200 OK');
    expect((await patch(timeZone('no calendar'))).text).toContain('403');
    const zoned = await client.propfind(to, '<C:calendar-timezone-id/>');
    expect(valuesOf(zoned.text, 'C:calendar-timezone-id')).toEqual(['Europe/Paris']);
    const mixed = await patch('<D:displayname>No</D:displayname><D:getetag>x</D:getetag>');
    expect([mixed.text.includes('424'), mixed.text.includes('403'), mixed.text.includes('200 OK')]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await client.send('DELETE', to)).status).toBe(204);
    expect((await client.send('DELETE', client.home('calendars'))).status).toBe(403);
    const journal = `<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop><C:supported-calendar-component-set><C:comp name="VJOURNAL"/></C:supported-calendar-component-set></D:prop></D:set></C:mkcalendar>`;
    expect((await client.send('MKCALENDAR', to, journal)).text).toContain(
      '<C:supported-calendar-component/>',
    );
    expect((await client.send('MKCOL', to)).text).toContain('<D:valid-resourcetype/>');
  });

  test('a calendar of another member is answered like an unknown one', async () => {
    await put(`${path}private.ics`, simple('private'));
    const home = bobs.home('calendars');
    const answers = async (calendarId: string, name: string) => {
      const base = `${home}${calendarId}/`;
      const range = '<C:time-range start="20260302T000000Z" end="20260303T000000Z"/>';
      const all = [
        await bobs.send('DELETE', base + name),
        await bobs.report(base, 'C:free-busy-query', range),
      ];
      return all.map(({ status, text }) => [status, text]);
    };
    const unknown = await answers('00000000-0000-4000-8000-000000000000', 'private.ics');
    expect(unknown.map(([status]) => status)).toEqual([404, 404]);
    expect(await answers(id, 'private.ics')).toEqual(unknown);
    expect(await answers(id, 'none.ics')).toEqual(unknown);
  });

  test('an id of another workspace is answered like an unknown one', async () => {
    const [carol] = await app.tenant('other', 'carol');
    const { body } = await carol.api.post('/calendar', { name: 'Hers' });
    const hers = await DavClient.of(app, carol);
    await put(`${hers.home('calendars')}${body.calendar.id}/h.ics`, simple('h'), {}, hers);
    const unknown = '00000000-0000-4000-8000-000000000000';
    const answers = async (calendarId: string, userId: string) => {
      const base = `${DAV}/calendars/${userId}/${calendarId}/`;
      const all = await Promise.all([
        client.propfind(base, '<D:displayname/>'),
        client.send('GET', `${base}h.ics`),
        put(`${base}h.ics`, simple('h')),
        client.send('DELETE', `${base}h.ics`),
        client.report(base, 'D:sync-collection', '<D:sync-token/><D:prop/>'),
        client.propfind(`${DAV}/principals/${userId}/`, '<D:displayname/>'),
      ]);
      return all.map(({ status, text }) => [status, text]);
    };
    expect(await answers(body.calendar.id, alice.id)).toEqual(await answers(unknown, alice.id));
    expect(await answers(body.calendar.id, carol.id)).toEqual(await answers(unknown, unknown));
  });
});
