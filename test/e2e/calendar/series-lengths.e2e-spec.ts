import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient } from '../../support/dav/dav-client.ts';
import { icsFile, importFile, instancesOf, newCalendar, vevent } from '../../support/domains/calendars.ts';

const BERLIN = ';TZID=Europe/Berlin:';

/** How long the instances of a series take where the clock changes: everything that states it says the same. */
describe('the length of the instances of a series', () => {
  let app: TestApp;
  let ann: TestUser;
  let workspaces = 0;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  beforeEach(async () => {
    [ann] = await app.tenant(`acme-${(workspaces += 1)}`, 'ann');
  });
  afterAll(() => app?.stop());

  const endsOf = async (calendar: string, from: string, to: string): Promise<string[]> =>
    (await instancesOf(ann, calendar, from, to)).map(({ end_utc }) => end_utc);
  const compact = (time: string) => time.replaceAll(/[-:]/g, '');

  test.each([
    [
      'DTEND in the zone of DTSTART, by the clock',
      [`DTSTART${BERLIN}20260327T220000`, `DTEND${BERLIN}20260328T060000`],
      ['2026-03-28T05:00:00Z', '2026-03-29T04:00:00Z', '2026-03-30T04:00:00Z'],
    ],
    [
      'DURATION in hours, exactly',
      [`DTSTART${BERLIN}20260327T220000`, 'DURATION:PT8H'],
      ['2026-03-28T05:00:00Z', '2026-03-29T05:00:00Z', '2026-03-30T04:00:00Z'],
    ],
    [
      'DURATION in days, by the clock',
      [`DTSTART${BERLIN}20260327T220000`, 'DURATION:P1D'],
      ['2026-03-28T21:00:00Z', '2026-03-29T20:00:00Z', '2026-03-30T20:00:00Z'],
    ],
    [
      'DURATION in days and hours, by the clock',
      [`DTSTART${BERLIN}20260327T220000`, 'DURATION:P1DT2H'],
      ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', '2026-03-30T22:00:00Z'],
    ],
    [
      'DTEND in UTC, exactly',
      [`DTSTART${BERLIN}20260327T220000`, 'DTEND:20260328T050000Z'],
      ['2026-03-28T05:00:00Z', '2026-03-29T05:00:00Z', '2026-03-30T04:00:00Z'],
    ],
    [
      'DTEND in a zone whose clock has changed before, exactly',
      [`DTSTART${BERLIN}20260327T220000`, 'DTEND;TZID=America/New_York:20260328T010000'],
      ['2026-03-28T05:00:00Z', '2026-03-29T05:00:00Z', '2026-03-30T04:00:00Z'],
    ],
  ])('%s', async (name, times, ends) => {
    const calendar = await newCalendar(ann, name);
    const file = icsFile(
      ...vevent('UID:night', 'DTSTAMP:20260101T000000Z', 'SUMMARY:x', ...times, 'RRULE:FREQ=DAILY;COUNT=3'),
      // An instance that differs in its title only has the usual times.
      ...vevent(
        'UID:night',
        'DTSTAMP:20260101T000000Z',
        `RECURRENCE-ID${BERLIN}20260329T220000`,
        'SUMMARY:y',
      ),
    );
    expect((await importFile(ann, calendar, file)).body.failed).toBe(0);
    const [from, to] = ['2026-03-01', '2026-04-10'];
    expect(await endsOf(calendar, from, to)).toEqual(ends);
    const { event: series } = (await ann.api.post(`/calendar/${calendar}/sync`, {})).body.changes[0];
    const [, , last] = await instancesOf(ann, calendar, from, to);
    const one = await ann.api.get(`/calendar/${calendar}/events/${last.id}`);
    expect(one.body.event).toEqual(last);
    // A request that repeats the times changes nothing.
    const { start, end } = last;
    const again = await ann.api.put(`/calendar/${calendar}/events/${last.id}`, { scope: 'this', start, end });
    expect(again.body.revision).toBe(series.revision);
    const window = { from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z`, attendees: [ann.email] };
    const busy = await ann.api.post('/calendar/scheduling/free_busy', window);
    const merged = name.includes('days') ? ends.slice(-1) : ends;
    expect(
      busy.body.free_busy[0].busy.map((each: any) => `${new Date(each.end).toISOString().slice(0, 19)}Z`),
    ).toEqual(merged);
    const dav = await DavClient.of(app, ann);
    const collection = `${dav.home('calendars')}${calendar}/`;
    const range = '<C:expand start="20260301T000000Z" end="20260410T000000Z"/>';
    const data = `<D:prop><C:calendar-data>${range}</C:calendar-data></D:prop><C:filter><C:comp-filter name="VCALENDAR"/></C:filter>`;
    const { text: expanded } = await dav.report(collection, 'C:calendar-query', data);
    expect([...expanded.matchAll(/DTEND:(\w+)/g)].map(([, value]) => value)).toEqual(ends.map(compact));
    const copy = await newCalendar(ann, 'Copy');
    const { text } = await ann.api.get(`/calendar/${calendar}/export.ics`);
    expect((await importFile(ann, copy, text)).body.failed).toBe(0);
    expect(await endsOf(copy, from, to)).toEqual(ends);
  });

  test('of an interval of a year, an end in UTC is as far from the start in summer as in winter', async () => {
    const calendar = await newCalendar(ann, 'UTC');
    const file = icsFile(
      ...vevent(
        'UID:utc',
        'DTSTAMP:20260101T000000Z',
        `DTSTART${BERLIN}20260112T090000`,
        'DTEND:20260112T090000Z',
        'RRULE:FREQ=MONTHLY;COUNT=8',
      ),
    );
    await importFile(ann, calendar, file);
    expect(await endsOf(calendar, '2026-06-01', '2026-09-01')).toEqual([
      '2026-06-12T08:00:00Z',
      '2026-07-12T08:00:00Z',
      '2026-08-12T08:00:00Z',
    ]);
  });
});
