import fc from 'fast-check';
import { type TestUser, TestApp } from '../../support/app.ts';
import { eventPath, newCalendar, newEvent } from '../../support/domains/calendars.ts';
import { runs } from '../../support/property-runs.ts';

/** Values that have broken servers. */
const odd = fc.oneof(
  fc.constantFrom(
    null,
    true,
    -1,
    1e308,
    '',
    ' ',
    'x'.repeat(2_000),
    '\u0000',
    '\ud800',
    [],
    {},
    [[]],
    '9999-12-31',
    '0000-01-01',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const time = fc.oneof(
  fc.constantFrom(
    '2026-03-02',
    '2026-03-29T02:30:00',
    '2026-03-02T09:00:00Z',
    '2026-03-02T09:00:00+23:59',
    { date: '2026-02-29' },
    { date: '2028-02-29' },
    { date_time: '2026-10-25T02:30:00', time_zone: 'Europe/Berlin' },
    { date_time: '2026-03-02T09:00:00', time_zone: 'etc/gmt+12' },
    { date_time: '1900-01-01T00:00:00', time_zone: 'Asia/Kathmandu' },
    { date_time: '9989-12-31T23:59:59', time_zone: 'Pacific/Apia' },
    { date_time: '2011-12-30T10:00:00', time_zone: 'Pacific/Apia' },
  ),
  odd,
);
const rule = fc.oneof(
  fc.constantFrom(
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=HOURLY;BYMINUTE=0,1,2,3,4,5;BYSECOND=0,30',
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO',
    'FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU;INTERVAL=10000',
    'FREQ=DAILY;COUNT=10000;BYSETPOS=1;BYHOUR=1,2,3',
    'FREQ=WEEKLY;UNTIL=19000101',
    'FREQ=DAILY;UNTIL=99991231T235959Z',
    'FREQ=MONTHLY;BYDAY=5MO,-5SU;BYSETPOS=-1,1',
  ),
  fc
    .array(
      fc.tuple(
        fc.constantFrom(
          'FREQ',
          'COUNT',
          'UNTIL',
          'INTERVAL',
          'BYDAY',
          'BYMONTHDAY',
          'BYSETPOS',
          'BYHOUR',
          'WKST',
          'X',
        ),
        fc.constantFrom(
          'DAILY',
          'WEEKLY',
          'HOURLY',
          '1',
          '-1',
          '0',
          '53',
          '99999',
          'MO',
          '2MO,-1FR',
          '20260301',
          'x',
        ),
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.map((part) => part.join('=')).join(';')),
);
const event = fc.record(
  {
    start: time,
    end: time,
    duration: fc.oneof(fc.constantFrom('PT1H', 'P1D', 'P9999D', 'PT999999S'), odd),
    title: fc.oneof(fc.string(), odd),
    rrule: fc.oneof(rule, odd),
    recurrence: fc.oneof(
      fc.record(
        { rules: fc.array(rule, { maxLength: 3 }), added: fc.array(time), excluded: fc.array(time) },
        { requiredKeys: [] },
      ),
      odd,
    ),
    attendees: fc.oneof(fc.array(fc.oneof(fc.emailAddress(), odd), { maxLength: 3 }), odd),
    reminders: odd,
    locations: odd,
    links: odd,
    conference: odd,
    uid: odd,
    scope: fc.constantFrom('this', 'this_and_following', 'all', 'x'),
    recurrence_id: time,
    calendar_id: odd,
  },
  { requiredKeys: ['start'] },
);

describe('hostile input', () => {
  let app: TestApp;
  let ann: TestUser;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    calendar = await newCalendar(ann, 'Hostile');
  });
  afterAll(() => app?.stop());

  const count = async () =>
    (
      await app.sql(
        'SELECT (SELECT count(*) FROM calendar_events)::int AS events, (SELECT count(*) FROM calendar_entries)::int AS entries',
      )
    )[0];

  test('events are created or rejected with a typed error, and never half-written', async () => {
    await fc.assert(
      fc.asyncProperty(event, async (body) => {
        const before = await count();
        const { status, body: reply } = await ann.api.post(`/calendar/${calendar}/events`, body);
        const after = await count();
        expect([201, 400, 409, 422]).toContain(status);
        if (status === 201) {
          expect(after).toEqual({ events: before.events + 1, entries: before.entries + 1 });
          expect(Date.parse(reply.event.end_utc)).toBeGreaterThanOrEqual(Date.parse(reply.event.start_utc));
          const read = await ann.api.get(
            `/calendar/${calendar}/instances?from=2026-01-01&to=2026-12-31&event_id=${reply.event.id}&limit=5`,
          );
          expect([200, 422]).toContain(read.status);
        } else {
          expect(reply.error).toEqual(expect.any(String));
          expect(after).toEqual(before);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  test('changes, deletions, batches and synchronisation of a series never fail', async () => {
    const series = await newEvent(ann, calendar, {
      start: '2026-03-02T09:00:00',
      rrule: 'FREQ=DAILY;COUNT=20',
    });
    const ok = [200, 400, 403, 404, 409, 422];
    await fc.assert(
      fc.asyncProperty(event, odd, async ({ start, ...fields }, value) => {
        const body = value === null ? fields : { start, ...fields };
        expect(ok).toContain((await ann.api.put(eventPath(calendar, series), body)).status);
        const operations = [
          { op: 'update', event_id: series.id, event: body, base_revision: value },
          { op: 'create', event: body },
        ];
        expect(ok).toContain(
          (await ann.api.post(`/calendar/${calendar}/events/batch`, { operations })).status,
        );
        const changes = [{ op: 'upsert', client_id: 'c', event: body }];
        expect(ok).toContain(
          (await ann.api.post(`/calendar/${calendar}/sync`, { changes, limit: 5 })).status,
        );
        expect(ok).toContain(
          (await ann.api.delete(`${eventPath(calendar, series)}_20260305T090000Z`, fields)).status,
        );
      }),
      { numRuns: runs(60) },
    );
    expect((await ann.api.get(`/calendar/${calendar}/events`)).status).toBe(200);
  });
});
