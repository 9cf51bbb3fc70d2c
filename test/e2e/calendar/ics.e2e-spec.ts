import {
  parameterOf,
  parseCalendars,
  propertiesOf,
  propertyOf,
  textOf,
  ZoneRules,
} from '../../../src/lib/icalendar/index.js';
import { type Person, TestApp } from '../../support/app.ts';

const BERLIN = { time_zone: 'Europe/Berlin' };
const at = (date_time: string) => ({ date_time, ...BERLIN });

describe('iCalendar', () => {
  let app: TestApp;
  let ann: Person;
  let bob: Person;
  let mallory: Person;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = (await app.tenant('acme', 'ann', 'bob')) as [Person, Person];
    [mallory] = (await app.tenant('evil', 'mallory')) as [Person];
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
  const exported = async (person: Person) => {
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
    const { url: _url, ...listed } = made.body.feed;
    expect((await bob.api.get(path)).body).toEqual({ feeds: [listed], next: null });
    expect((await ann.api.get(path)).body.feeds).toEqual([]);
    expect((await mallory.api.delete(`${path}/${id}`)).status).toBe(404);
    expect((await ann.api.delete(`${path}/${id}`)).status).toBe(404);
    expect((await bob.api.delete(`${path}/${id}`)).body).toMatchObject({ deleted: true, feed: { id } });
    expect((await read(url, null)).response.status).toBe(404);
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
});
