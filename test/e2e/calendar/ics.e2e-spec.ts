import fc from 'fast-check';
import {
  parameterOf,
  parseCalendars,
  propertiesOf,
  propertyOf,
  textOf,
  ZoneRules,
} from '../../../src/lib/icalendar/index.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { icsFile, importFile, vevent } from '../../support/domains/calendars.ts';
import { runs } from '../../support/property-runs.ts';

const BERLIN = { time_zone: 'Europe/Berlin' };
const at = (date_time: string) => ({ date_time, ...BERLIN });

describe('iCalendar', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let mallory: TestUser;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    [mallory] = await app.tenant('evil', 'mallory');
    const made = await ann.api.post('/calendar', { name: 'Büro, Team', ...BERLIN });
    calendar = made.body.calendar.id;
  });
  afterAll(() => app?.stop());

  const create = async (fields: object) => {
    const { status, body } = await ann.api.post(`/calendar/${calendar}/events`, fields);
    expect([status, body.error]).toEqual([201, undefined]);
    return body.event;
  };
  const read = async (path: string, token: string | null) => {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${app.base}${path}`, { headers });
    return { response, text: await response.text() };
  };
  const exported = async (person: TestUser) => {
    const { response, text } = await read(`/apis/v1/calendar/${calendar}/export.ics`, person.token);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/calendar; charset=utf-8',
    ]);
    const [found] = parseCalendars(text);
    return {
      text,
      found: found!,
      named: (title: string) => found!.components.filter((each) => textOf(each, 'SUMMARY') === title),
    };
  };

  test('an export has all events, with zones, rules, exceptions, attendees and text as it is', async () => {
    await create({
      title: 'Trip; with, signs\\',
      description: 'Line 1\nLine 2',
      start: '2026-03-09',
      end: '2026-03-12',
      categories: ['a,b', 'c'],
    });
    const series = await create({
      title: 'Stand-up',
      start: at('2026-03-02T09:00:00'),
      duration: 'PT15M',
      recurrence: { rules: ['FREQ=DAILY;UNTIL=20260331'], excluded: [at('2026-03-04T09:00:00')] },
      attendees: [bob.email, 'out@side.example'],
      send_updates: 'none',
    });
    const change = { scope: 'this', recurrence_id: at('2026-03-05T09:00:00'), send_updates: 'none' };
    const path = `/calendar/${calendar}/events/${series.id}`;
    expect(
      (await ann.api.put(path, { ...change, title: 'Stand-up, moved', start: at('2026-03-05T11:00:00') }))
        .status,
    ).toBe(200);
    const gone = await ann.api.delete(path, { scope: 'this', recurrence_id: at('2026-03-06T09:00:00') });
    expect(gone.status).toBe(200);
    const { text, found, named } = await exported(ann);
    expect(textOf(found, 'X-WR-CALNAME')).toBe('Büro, Team');
    for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    const [trip] = named('Trip; with, signs\\');
    expect([
      textOf(trip!, 'DESCRIPTION'),
      propertyOf(trip!, 'DTSTART')?.value,
      propertyOf(trip!, 'DTEND')?.value,
    ]).toEqual(['Line 1\nLine 2', '20260309', '20260312']);
    expect(parameterOf(propertyOf(trip!, 'DTSTART')!, 'VALUE')).toBe('DATE');
    const [master] = named('Stand-up');
    expect(propertyOf(master!, 'DTSTART')).toMatchObject({ value: '20260302T090000' });
    expect(parameterOf(propertyOf(master!, 'DTSTART')!, 'TZID')).toBe('Europe/Berlin');
    // The end of 31 March in Berlin, in UTC.
    expect(propertyOf(master!, 'RRULE')?.value).toBe('FREQ=DAILY;UNTIL=20260331T215959Z');
    expect(propertyOf(master!, 'EXDATE')?.value).toContain('20260304T090000');
    expect(propertyOf(master!, 'EXDATE')?.value).toContain('20260306T090000');
    const attendees = propertiesOf(master!, 'ATTENDEE').map((each) => [
      each.value,
      parameterOf(each, 'PARTSTAT'),
    ]);
    expect(attendees).toContainEqual([`mailto:${bob.email}`, 'NEEDS-ACTION']);
    expect(attendees).toContainEqual(['mailto:out@side.example', 'NEEDS-ACTION']);
    const [moved] = named('Stand-up, moved');
    expect([propertyOf(moved!, 'RECURRENCE-ID')?.value, propertyOf(moved!, 'DTSTART')?.value]).toEqual([
      '20260305T090000',
      '20260305T110000',
    ]);
    expect(textOf(moved!, 'UID')).toBe(textOf(master!, 'UID'));
    const zone = found.components.find(({ name }) => name === 'VTIMEZONE')!;
    const rules = new ZoneRules(zone);
    for (const month of [0, 5, 11])
      expect(rules.offsetAt(Date.UTC(2027, month, 10) / 1000)).toBe(month === 5 ? 7200 : 3600);
  });

  test('UNTIL has the type of DTSTART', async () => {
    const start = { floating: { date_time: '2026-03-02T09:00:00', time_zone: null }, days: '2026-03-02' };
    const untilOf = async (title: keyof typeof start, until: string) => {
      await create({ title: `${title} ${until}`, start: start[title], rrule: `FREQ=DAILY;UNTIL=${until}` });
      const [event] = (await exported(ann)).named(`${title} ${until}`);
      return propertyOf(event!, 'RRULE')?.value;
    };
    expect(await untilOf('days', '20260305T235959Z')).toBe('FREQ=DAILY;UNTIL=20260305');
    expect(await untilOf('days', '20260305T000000')).toBe('FREQ=DAILY;UNTIL=20260305');
    expect(await untilOf('floating', '20260305T235959Z')).toBe('FREQ=DAILY;UNTIL=20260305T235959');
  });

  test('a reader sees private events as busy times', async () => {
    await create({
      title: 'Doctor',
      location: 'Clinic',
      start: at('2026-04-01T10:00:00'),
      visibility: 'private',
    });
    await ann.api.put(`/calendar/${calendar}`, { shares: [{ user_id: bob.id, role: 'reader' }] });
    expect((await exported(ann)).named('Doctor')).toHaveLength(1);
    const { text, named } = await exported(bob);
    expect(text).not.toMatch(/Doctor|Clinic/);
    expect(propertyOf(named('Busy')[0]!, 'DTSTART')?.value).toBe('20260401T100000');
  });

  test('the addresses of a feed and of a form are absolute too where the installation has a public one', async () => {
    const published = await TestApp.start({ PUBLIC_URL: 'https://work.example/' }, app.databaseUrl);
    try {
      for (const [{ api }, origin] of [
        [ann, null],
        [{ api: published.as(ann.token) }, 'https://work.example'],
      ] as const) {
        const { feed } = (await api.post(`/calendar/${calendar}/feeds`, {})).body;
        expect([feed.absolute_url, feed.url]).toEqual([
          origin && origin + feed.url,
          expect.stringMatching(/^\/apis\/v1\/calendar\/feeds\//),
        ]);
        expect((await api.delete(`/calendar/${calendar}/feeds/${feed.id}`)).status).toBe(200);
        const { form } = (await api.post('/forms', { title: 'Party' })).body;
        const { share } = (await api.post(`/forms/${form.id}/share`)).body.form;
        expect([share.absolute_url, share.url]).toEqual([
          origin && origin + share.url,
          expect.stringMatching(/^\/apis\/v1\/forms\//),
        ]);
        expect((await api.get(`/forms/${form.id}`)).body.form.share).not.toHaveProperty('absolute_url');
      }
    } finally {
      await published.stop();
    }
  });

  test('a feed is read at its secret address until it is revoked', async () => {
    const path = `/calendar/${calendar}/feeds`;

    const made = await bob.api.post(path, { details: 'busy' });
    expect([made.status, made.body.feed.details]).toEqual([201, 'busy']);
    const { url, id } = made.body.feed;
    const { response, text } = await read(url, null);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/calendar; charset=utf-8',
    ]);
    expect(text).toContain('SUMMARY:Busy');
    expect(text).not.toMatch(/Stand-up|ATTENDEE|Trip/);
    const etag = response.headers.get('etag')!;
    const again = await fetch(`${app.base}${url}`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    await create({ title: 'New', start: at('2026-05-01T10:00:00') });
    expect((await fetch(`${app.base}${url}`, { headers: { 'if-none-match': etag } })).status).toBe(200);
    const [stored] = await app.sql(
      `SELECT encode(token_hash, 'hex') AS hash FROM calendar_feeds WHERE id = $1`,
      [id],
    );
    expect(stored.hash).toHaveLength(64);
    const { url: _url, absolute_url: _absolute, ...listed } = made.body.feed;
    expect((await bob.api.get(path)).body).toEqual({ feeds: [listed], next: null });
    expect((await ann.api.get(path)).body.feeds).toEqual([]);
    expect((await mallory.api.delete(`${path}/${id}`)).status).toBe(404);
    expect((await ann.api.delete(`${path}/${id}`)).status).toBe(404);
    expect((await bob.api.delete(`${path}/${id}`)).body).toMatchObject({ deleted: true, feed: { id } });
    expect((await read(url, null)).response.status).toBe(404);
  });

  test('the ETag of a feed changes with the role of its creator and with the name of the calendar', async () => {
    const shared = async (role: string) =>
      expect(
        (await ann.api.put(`/calendar/${calendar}`, { shares: [{ user_id: bob.id, role }] })).status,
      ).toBe(200);
    await shared('free_busy');
    const { body } = await bob.api.post(`/calendar/${calendar}/feeds`, {});
    const get = (etag = '') => fetch(`${app.base}${body.feed.url}`, { headers: { 'if-none-match': etag } });
    const busy = (await get()).headers.get('etag')!;
    // Weakly equal, in a list, any.
    for (const known of [busy, busy.slice('W/'.length), `"a", ${busy}`, '*'])
      expect([known, (await get(known)).status]).toEqual([known, 304]);
    expect((await get('"a", W/"b"')).status).toBe(200);
    await shared('reader');
    const full = await get(busy);
    expect(full.status).toBe(200);
    const etag = full.headers.get('etag')!;
    expect((await get(etag)).status).toBe(304);
    expect((await ann.api.put(`/calendar/${calendar}`, { name: 'Other name' })).status).toBe(200);
    expect(await (await get(etag)).text()).toContain('X-WR-CALNAME:Other name');
    expect((await ann.api.put(`/calendar/${calendar}`, { name: 'Büro, Team' })).status).toBe(200);
  });

  test('a feed ends with the access of its creator', async () => {
    const { url } = (await bob.api.post(`/calendar/${calendar}/feeds`, {})).body.feed;
    expect((await read(url, null)).response.status).toBe(200);
    await ann.api.put(`/calendar/${calendar}`, { shares: [] });
    const { response, text } = await read(url, null);
    expect([response.status, JSON.parse(text).error]).toEqual([404, 'not_found']);
    expect((await bob.api.post(`/calendar/${calendar}/feeds`, {})).status).toBe(404);
  });

  test.each(['x', 'x.ics', `${'A'.repeat(54)}.ics`, '%00.ics', `${'é'.repeat(54)}.ics`])(
    'no feed has the address %s',
    async (file) => {
      const { response } = await read(`/apis/v1/calendar/feeds/${encodeURI(file)}`, null);
      expect(response.status).toBe(404);
    },
  );

  describe('import', () => {
    let target: string;
    beforeAll(async () => {
      target = (await ann.api.post('/calendar', { name: 'Import', ...BERLIN })).body.calendar.id;
    });

    const events = async (id: string) =>
      (await ann.api.get(`/calendar/${id}/events?limit=200&include=overrides`)).body.events as any[];
    const instances = async (id: string, from: string, to: string) =>
      ((await ann.api.get(`/calendar/${id}/instances?from=${from}&to=${to}`)).body.instances as any[]).map(
        ({ title, start_utc, end_utc }) => ({ title, start_utc, end_utc }),
      );

    test('an export that is imported into another calendar gives the same instances and the same export', async () => {
      const { text } = await exported(ann);
      const first = await importFile(ann, target, text);
      expect([first.status, first.body.failed]).toEqual([200, 0]);
      expect(new Set(first.body.results.map(({ status }: any) => status))).toEqual(new Set([201]));
      const [from, to] = ['2026-02-01T00:00:00Z', '2026-06-30T00:00:00Z'];
      expect(await instances(target, from, to)).toEqual(await instances(calendar, from, to));
      const response = await read(`/apis/v1/calendar/${target}/export.ics`, ann.token);
      const body = (ics: string): string[] =>
        ics
          .slice(ics.indexOf('BEGIN:VEVENT'))
          .split('BEGIN:VEVENT')
          .map((each) => each.replaceAll(/^(?:CREATED|LAST-MODIFIED):.*\r\n/gm, ''))
          .toSorted();
      expect(body(response.text)).toEqual(body(text));
      // Attendees of the workspace do not get a second copy of the event.
      const others = (await bob.api.get('/calendar')).body.calendars[0].id;
      const seen = (await bob.api.get(`/calendar/${others}/events?limit=200`)).body.events;
      expect(seen.filter(({ title }: any) => title === 'Stand-up')).toHaveLength(1);
      const again = await importFile(ann, target, text);
      expect(new Set(again.body.results.map(({ status }: any) => status))).toEqual(new Set([200]));
      expect((await events(target)).map(({ revision }) => revision)).toEqual(
        (await events(target)).map(() => 1),
      );
    });

    test('zones with Windows names, names in a path, a custom VTIMEZONE or none give the right instants', async () => {
      const made = (await ann.api.post('/calendar', { name: 'Zones', time_zone: 'Asia/Tokyo' })).body
        .calendar;
      const custom = [
        'BEGIN:VTIMEZONE',
        'TZID:Odd',
        'BEGIN:STANDARD',
        'DTSTART:19700101T000000',
        'TZOFFSETFROM:+0117',
        'TZOFFSETTO:+0117',
        'END:STANDARD',
        'END:VTIMEZONE',
      ];
      const at = (uid: string, tzid: string, ...more: string[]) =>
        vevent(
          `UID:${uid}`,
          `SUMMARY:${uid}`,
          `DTSTART;TZID=${tzid}:20260706T090000`,
          'DURATION:PT1H',
          ...more,
        );
      const { body } = await importFile(
        ann,
        made.id,
        icsFile(
          ...at('windows', 'W. Europe Standard Time'),
          ...at('path', '/mozilla.org/20050126_1/Europe/Berlin'),
          ...at('iana', 'America/New_York'),
          ...at('odd', 'Odd', 'RRULE:FREQ=DAILY;COUNT=3'),
          ...at('unknown', 'Nowhere/Land'),
          ...vevent('UID:floating', 'SUMMARY:floating', 'DTSTART:20260706T090000'),
          // After the events that use it.
          ...custom,
        ),
      );
      const outcome = Object.fromEntries(
        body.results.map(({ client_id, status, error }: any) => [
          client_id,
          [status, error?.details?.[0]?.code],
        ]),
      );
      expect(outcome).toEqual({
        windows: [201, undefined],
        path: [201, undefined],
        iana: [201, undefined],
        odd: [201, undefined],
        unknown: [201, undefined],
        floating: [201, undefined],
      });
      const found = await instances(made.id, '2026-07-05T00:00:00Z', '2026-07-10T00:00:00Z');
      expect(found.map(({ title, start_utc }) => `${title} ${start_utc}`).toSorted()).toEqual([
        'floating 2026-07-06T00:00:00Z',
        'iana 2026-07-06T13:00:00Z',
        'odd 2026-07-06T07:43:00Z',
        'odd 2026-07-07T07:43:00Z',
        'odd 2026-07-08T07:43:00Z',
        'path 2026-07-06T07:00:00Z',
        'unknown 2026-07-06T00:00:00Z',
        'windows 2026-07-06T07:00:00Z',
      ]);
    });

    test('zones are found by names as Exchange writes them', async () => {
      const made = (await ann.api.post('/calendar', { name: 'Exchange', time_zone: 'Asia/Tokyo' })).body
        .calendar;
      const observance = (name: string, month: number, start: string, from: string, to: string) => [
        `BEGIN:${name}`,
        `DTSTART:16010101T${start}`,
        `TZOFFSETFROM:${from}`,
        `TZOFFSETTO:${to}`,
        `RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=${month}`,
        `END:${name}`,
      ];
      const central = [
        'BEGIN:VTIMEZONE',
        // A TZID is text, in which commas are escaped; the parameter is not.
        'TZID:(UTC+01:00) Amsterdam\\, Berlin\\, Bern',
        ...observance('STANDARD', 10, '030000', '+0200', '+0100'),
        ...observance('DAYLIGHT', 3, '020000', '+0100', '+0200'),
        'END:VTIMEZONE',
      ];
      const names = {
        quoted: '"(UTC+01:00) Amsterdam, Berlin, Bern"',
        bare: '(UTC+01:00) Amsterdam, Berlin, Bern',
        escaped: '"(UTC+01:00) Amsterdam\\, Berlin\\, Bern"',
        utc: '"tzone://Microsoft/Utc"',
        'bare utc': 'tzone://Microsoft/Utc',
        coordinated: 'Coordinated Universal Time',
      };
      const written = Object.entries(names).flatMap(([uid, name]) =>
        vevent(`UID:${uid}`, `SUMMARY:${uid}`, `DTSTART;TZID=${name}:20260706T090000`, 'DURATION:PT1H'),
      );
      const { body } = await importFile(ann, made.id, icsFile(...central, ...written));
      expect(body).toMatchObject({ applied: 6, failed: 0 });
      const found = await instances(made.id, '2026-07-05T00:00:00Z', '2026-07-10T00:00:00Z');
      expect(Object.fromEntries(found.map(({ title, start_utc }) => [title, start_utc]))).toEqual({
        quoted: '2026-07-06T07:00:00Z',
        bare: '2026-07-06T07:00:00Z',
        escaped: '2026-07-06T07:00:00Z',
        utc: '2026-07-06T09:00:00Z',
        'bare utc': '2026-07-06T09:00:00Z',
        coordinated: '2026-07-06T09:00:00Z',
      });
    });

    test('exceptions of a series in a custom zone match in any form', async () => {
      const made = (await ann.api.post('/calendar', { name: 'Odd zone', ...BERLIN })).body.calendar;
      const { body } = await importFile(
        ann,
        made.id,
        icsFile(
          'BEGIN:VTIMEZONE',
          'TZID:Odd',
          'BEGIN:STANDARD',
          'DTSTART:19700101T000000',
          'TZOFFSETFROM:-0315',
          'TZOFFSETTO:-0315',
          'END:STANDARD',
          'END:VTIMEZONE',
          ...vevent(
            'UID:odd-series',
            'SUMMARY:odd',
            'DTSTART;TZID=Odd:20260706T220000',
            'RRULE:FREQ=DAILY;COUNT=6',
            'EXDATE:20260708T011500Z',
            'EXDATE;VALUE=DATE:20260708',
            'EXDATE;TZID=Europe/Berlin:20260710T031500',
            'EXDATE:',
            'RDATE:20260801T120000Z',
          ),
        ),
      );
      expect(body).toMatchObject({ applied: 1, failed: 0 });
      const found = await instances(made.id, '2026-07-05T00:00:00Z', '2026-08-10T00:00:00Z');
      expect(found.map(({ start_utc }) => start_utc)).toEqual([
        '2026-07-07T01:15:00Z',
        '2026-07-11T01:15:00Z',
        '2026-07-12T01:15:00Z',
        '2026-08-01T12:00:00Z',
      ]);
    });

    test('an instance with the range THISANDFUTURE changes the later ones, other instances keep their own', async () => {
      const made = (await ann.api.post('/calendar', { name: 'Range', ...BERLIN })).body.calendar;
      const part = (start: string, summary: string, ...more: string[]) =>
        vevent(
          'UID:range',
          `SUMMARY:${summary}`,
          `DTSTART;TZID=Europe/Berlin:${start}`,
          'DURATION:PT1H',
          ...more,
        );
      const id = (parameters: string, value: string) => `RECURRENCE-ID${parameters}:${value}`;
      const { body } = await importFile(
        ann,
        made.id,
        icsFile(
          ...part('20260304T140000', 'one', id(';TZID=Europe/Berlin', '20260304T090000')),
          ...part('20260303T110000', 'later', id(';RANGE=THISANDFUTURE', '20260303T080000Z')),
          ...part('20260302T090000', 'first', 'RRULE:FREQ=DAILY;COUNT=5'),
        ),
      );
      expect(body).toMatchObject({ applied: 1, failed: 0 });
      const found = await instances(made.id, '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z');
      expect(found.map(({ title, start_utc }) => `${title} ${start_utc}`)).toEqual([
        'first 2026-03-02T08:00:00Z',
        'later 2026-03-03T10:00:00Z',
        'one 2026-03-04T13:00:00Z',
        'later 2026-03-05T10:00:00Z',
        'later 2026-03-06T10:00:00Z',
      ]);
    });

    test('instances before their series, unknown properties, and a later update of one instance', async () => {
      const made = (await ann.api.post('/calendar', { name: 'Series', ...BERLIN })).body.calendar;
      const when = (value: string): string => `TZID=Europe/Berlin:${value}`;
      const master = vevent(
        'UID:series-1',
        'SUMMARY:Daily',
        `DTSTART;${when('20260302T090000')}`,
        `DTEND;${when('20260302T093000')}`,
        'RRULE:FREQ=DAILY;COUNT=5',
        'X-ODD;X-P="a:b":kept\\, as it is',
        'URL:https://example.com/a',
      );
      const moved = vevent(
        'UID:series-1',
        'SUMMARY:Daily',
        'RECURRENCE-ID:20260304T080000Z',
        `DTSTART;${when('20260304T150000')}`,
        `DTEND;${when('20260304T153000')}`,
      );
      const first = await importFile(ann, made.id, icsFile(...moved, ...master));
      expect(first.body.results.map(({ status }: any) => status)).toEqual([201]);
      const [from, to] = ['2026-03-01T00:00:00Z', '2026-03-10T00:00:00Z'];
      const starts = async () => (await instances(made.id, from, to)).map(({ start_utc }) => start_utc);
      expect(await starts()).toEqual([
        '2026-03-02T08:00:00Z',
        '2026-03-03T08:00:00Z',
        '2026-03-04T14:00:00Z',
        '2026-03-05T08:00:00Z',
        '2026-03-06T08:00:00Z',
      ]);
      const { text } = await read(`/apis/v1/calendar/${made.id}/export.ics`, ann.token);
      expect(text).toContain('X-ODD;X-P="a:b":kept\\, as it is\r\n');
      expect(text).toContain('URL:https://example.com/a\r\n');
      const cancelled = vevent(
        'UID:series-1',
        'SUMMARY:Daily',
        'STATUS:CANCELLED',
        `RECURRENCE-ID;${when('20260305T090000')}`,
        `DTSTART;${when('20260305T090000')}`,
        `DTEND;${when('20260305T093000')}`,
      );
      const second = await importFile(ann, made.id, icsFile(...cancelled));
      expect(second.body.results.map(({ status }: any) => status)).toEqual([200]);
      expect(await starts()).toHaveLength(4);
      expect(await events(made.id)).toEqual(
        expect.arrayContaining([expect.objectContaining({ uid: 'series-1', revision: 2 })]),
      );
    });

    test('of several events with one UID the newest version is taken, and the result of the others says so', async () => {
      const version = (uid: string, sequence: number, title: string): string[] =>
        vevent(`UID:${uid}`, 'DTSTART:20270301T090000Z', `SUMMARY:${title}`, `SEQUENCE:${sequence}`);
      const file = icsFile(
        ...version('twice', 5, 'newest'),
        ...version('twice', 2, 'overtaken'),
        ...version('once', 0, 'other'),
      );
      const { results } = (await importFile(ann, calendar, file)).body;
      expect(
        results.map(({ status, warnings }: any) => [status, ...warnings.map(({ code }: any) => code)]),
      ).toEqual([[201], [200, 'older_version'], [201]]);
      const titles = (await exported(ann)).found.components.map((each) => textOf(each, 'SUMMARY'));
      expect(titles).toEqual(expect.arrayContaining(['newest', 'other']));
      expect(titles).not.toContain('overtaken');
    });

    test('a file with tasks and journals has a warning that says how many were left out', async () => {
      const other = (kind: string, uid: string) => [
        `BEGIN:${kind}`,
        `UID:${uid}`,
        'SUMMARY:Other',
        `END:${kind}`,
      ];
      const tasks = [...other('VTODO', 'todo-1'), ...other('VTODO', 'todo-2')];
      const imported = async (...lines: string[]) => (await importFile(ann, target, icsFile(...lines))).body;
      const event = (uid: string) => vevent(`UID:${uid}`, 'DTSTART:20270301T090000Z');
      const left = (count: string) => ({ code: 'not_an_event', message: expect.stringContaining(count) });
      const mixed = await imported(...tasks, ...event('among-tasks'), ...other('VJOURNAL', 'journal-1'));
      expect(mixed).toMatchObject({ applied: 1, failed: 0, warnings: [left('2 VTODO'), left('1 VJOURNAL')] });
      const further = [...other('VAVAILABILITY', 'hours'), ...other('X-ROOM', 'room')];
      expect(await imported(...further, ...event('among-others'))).toMatchObject({
        applied: 1,
        warnings: [left('1 VAVAILABILITY'), left('1 X-ROOM')],
      });
      expect(await imported(...tasks)).toMatchObject({
        results: [],
        applied: 0,
        warnings: [left('2 VTODO')],
      });
      expect(await imported(...event('without-tasks'))).not.toHaveProperty('warnings');
    });

    test('an event of a file that loses something has a warning that names it', async () => {
      const event = vevent(
        'UID:loses',
        'DTSTART:20270301T090000Z',
        'SUMMARY:x',
        `X-ALT-DESC:${'x'.repeat(100_000)}`,
      );
      const { body } = await importFile(ann, calendar, icsFile(...event));
      expect(body.results).toMatchObject([
        {
          status: 201,
          warnings: [
            { code: 'value_too_large', message: 'These values are shortened or left out: X-ALT-DESC.' },
          ],
        },
      ]);
    });

    test('an event with a class of its own is private', async () => {
      const event = vevent('UID:secret', 'DTSTART:20270401T090000Z', 'SUMMARY:Secret plan', 'CLASS:X-SECRET');
      const { event_id: id } = (await importFile(ann, calendar, icsFile(...event))).body.results[0];
      const { body } = await ann.api.get(`/calendar/${calendar}/events/${id}`);
      expect(body.event).toMatchObject({ title: 'Secret plan', visibility: 'private' });
      expect((await exported(ann)).text).toContain('CLASS:X-SECRET');
    });

    test('an invitation of another organizer is one to respond to; a copy of a foreign meeting is an own event', async () => {
      const made = (await ann.api.post('/calendar', { name: 'Foreign', ...BERLIN })).body.calendar;
      const times = [
        'DTSTART:20260401T080000Z',
        'DTEND:20260401T090000Z',
        'ORGANIZER;CN=Otto:mailto:Otto@side.example',
      ];
      const { body } = await importFile(
        ann,
        made.id,
        icsFile(
          ...vevent(
            'UID:invited',
            'SUMMARY:Invited',
            ...times,
            `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:${ann.email}`,
          ),
          ...vevent('UID:copy', 'SUMMARY:Copy', ...times, 'ATTENDEE:mailto:eve@side.example'),
        ),
      );
      expect(body.failed).toBe(0);
      const found = new Map((await events(made.id)).map((event) => [event.uid, event]));
      expect(found.get('invited')).toMatchObject({
        organizer: { email: 'otto@side.example', id: null, self: false },
        my_response: 'needs_action',
        permissions: { edit: false, rsvp: true },
      });
      expect(found.get('copy')).toMatchObject({ attendees: [], permissions: { edit: true, rsvp: false } });
      const { text } = await read(`/apis/v1/calendar/${made.id}/export.ics`, ann.token);
      expect(text).toContain('ATTENDEE:mailto:eve@side.example');
    });

    test.each([
      ['no calendar', 'hello', 422, 'invalid_ics'],
      [
        'a text that ends inside an event',
        'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\n',
        422,
        'invalid_ics',
      ],
      [
        'a longer file than the limit',
        `BEGIN:VCALENDAR\r\n${'X-A:b\r\n'.repeat(1_600_000)}`,
        413,
        'file_too_large',
      ],
    ])('%s is rejected', async (_name, body, status, error) => {
      const result = await importFile(ann, target, body);
      expect([result.status, result.body.error]).toEqual([status, error]);
    });

    test('a file needs a calendar that the caller may write', async () => {
      const ics = icsFile(...vevent('UID:x', 'DTSTART:20260401'));
      expect((await importFile(bob, target, ics)).status).toBe(404);
      expect((await importFile(mallory, target, ics)).status).toBe(404);
      await ann.api.put(`/calendar/${target}`, { shares: [{ user_id: bob.id, role: 'reader' }] });
      expect((await importFile(bob, target, ics)).body.error).toBe('forbidden');
    });

    test('invalid events have errors of their own, and thousands of events are imported', async () => {
      const made = (await ann.api.post('/calendar', { name: 'Large', ...BERLIN })).body.calendar;
      const many = Array.from({ length: 1_200 }, (_, n) =>
        vevent(`UID:m${n}`, `SUMMARY:Event ${n}`, `DTSTART:20260401T${String(n % 24).padStart(2, '0')}0000Z`),
      ).flat();
      const { body } = await importFile(
        ann,
        made.id,
        icsFile(
          ...many,
          ...vevent('UID:no-start'),
          ...vevent('UID:rule', 'DTSTART:20260401', 'RRULE:FREQ=SECONDLY'),
          ...vevent('UID:none', 'DTSTART:20260401', 'RRULE:FREQ=DAILY;COUNT=1', 'EXDATE;VALUE=DATE:20260401'),
          ...vevent('UID:far', 'DTSTART:18000101'),
          ...vevent('SUMMARY:Without a UID', 'DTSTART:20260401'),
        ),
      );
      expect([body.applied, body.failed]).toEqual([1_201, 4]);
      expect(body.results.slice(1_200).map(({ error }: any) => error?.error ?? null)).toEqual([
        'invalid_ics',
        'frequency_unsupported',
        'no_instances',
        'invalid_ics',
        null,
      ]);
    });

    test('any bytes give a result or a typed error', async () => {
      const made = (await ann.api.post('/calendar', { name: 'Noise', ...BERLIN })).body.calendar;
      const value = fc.constantFrom(
        '20260101',
        '20260101T090000',
        '20260101T090000Z',
        '99990101',
        '20260230',
        'PT1H',
        '-P1W',
        'x',
        '',
        'FREQ=DAILY',
        'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
        'mailto:a@b.c',
        '\u0000\ud800',
        '1;2',
        'CANCELLED',
      );
      const name = fc.constantFrom(
        'UID',
        'DTSTART',
        'DTEND',
        'DURATION',
        'RRULE',
        'RDATE',
        'EXDATE',
        'RECURRENCE-ID',
        'SUMMARY',
        'GEO',
        'ATTENDEE',
        'ORGANIZER',
        'STATUS',
        'DTSTAMP',
        'SEQUENCE',
        'X-A',
        'CATEGORIES',
        'DTSTART;VALUE=DATE',
        'DTSTART;TZID=Europe/Berlin',
        'EXDATE;TZID=Odd',
        'ATTACH',
        'CONFERENCE',
        'X-APPLE-CALENDAR-COLOR',
      );
      const lines = fc.array(
        fc.tuple(name, value).map(([a, b]) => `${a}:${b}`),
        { maxLength: 12 },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(lines, { minLength: 1, maxLength: 4 }), async (all) => {
          const { status, body } = await importFile(
            ann,
            made.id,
            icsFile(...all.flatMap((each) => vevent(...each))),
          );
          expect([status, body.error]).toEqual([200, undefined]);
          expect(body.applied + body.failed).toBe(body.results.length);
          for (const { error, status: own } of body.results)
            expect([own < 500, error === null || typeof error.error === 'string']).toEqual([true, true]);
        }),
        { numRuns: runs(60) },
      );
      expect((await ann.api.get(`/calendar/${made.id}/events?limit=200`)).status).toBe(200);
      expect((await read(`/apis/v1/calendar/${made.id}/export.ics`, ann.token)).response.status).toBe(200);
    });
  });
});
