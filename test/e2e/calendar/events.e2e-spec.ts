import { type TestUser, TestApp } from '../../support/app.ts';

const BERLIN = 'Europe/Berlin';
const at = (date_time: string, time_zone = BERLIN) => ({ date_time, time_zone });

describe('events', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let eve: TestUser;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob, eve] = await app.tenant('acme', 'ann', 'bob', 'eve');
    calendar = await newCalendar('Work');
  });
  afterAll(() => app?.stop());

  const newCalendar = async (name: string, shares: object[] = [], person = ann): Promise<string> =>
    (await person.api.post('/calendar', { name, time_zone: BERLIN, shares })).body.calendar.id;
  const defaultOf = async (person: TestUser): Promise<string> =>
    (await person.api.get('/calendar')).body.calendars.find(({ is_default }: any) => is_default).id;
  const create = async (fields: object, into = calendar, person = ann) => {
    const made = await person.api.post(`/calendar/${into}/events`, fields);
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    return made.body.event;
  };
  const path = (event: { id: string }, of = calendar) => `/calendar/${of}/events/${event.id}`;
  const window = async (of: string, from: string, to: string, person = ann, more = '') => {
    const reply = await person.api.get(`/calendar/${of}/instances?from=${from}&to=${to}&limit=1000${more}`);
    expect([reply.status, reply.body.error]).toEqual([200, undefined]);
    return reply.body.instances as any[];
  };
  const starts = (instances: any[]) => instances.map(({ start_utc }) => start_utc);

  test('are created, read and changed; the response has what was sent', async () => {
    const sent = {
      title: 'Planning',
      description: 'a < b & c',
      location: 'Room 1',
      locations: [{ name: 'HQ', address: 'Street 1', geo: { latitude: 52.5, longitude: 13.4 } }],
      start: at('2026-03-02T09:00:00'),
      duration: 'PT90M',
      status: 'tentative',
      show_as: 'tentative',
      color: '#FF0000',
      categories: ['a', 'b', 'a'],
      links: [{ type: 'url', url: 'https://example.com/', title: 'Agenda' }],
      conference: { url: 'https://meet.example.com/x' },
      reminders: { use_default: false, overrides: [{ method: 'popup', minutes: 5 }] },
    };
    const made = await ann.api.post(`/calendar/${calendar}/events`, sent);
    const { event } = made.body;
    expect(event).toMatchObject({
      ...sent,
      type: 'single',
      color: '#ff0000',
      categories: ['a', 'b'],
      end: at('2026-03-02T10:30:00'),
      start_utc: '2026-03-02T08:00:00Z',
      end_utc: '2026-03-02T09:30:00Z',
      duration: 'PT1H30M',
      all_day: false,
      recurrence: null,
      attendees: [],
      my_response: null,
      organizer: { id: ann.id, self: true },
      links: [{ type: 'url', id: null, url: 'https://example.com/', title: 'Agenda' }],
      conference: { kind: 'link', url: 'https://meet.example.com/x', room_id: null },
      permissions: { edit: true, rsvp: false, propose: false, see_details: true, delete: true },
      sequence: 0,
      revision: 1,
    });
    expect(made.headers.get('location')).toBe(`/apis/v1/calendar/${calendar}/events/${event.id}`);
    expect(made.headers.get('etag')).toBe(`"event:${event.id}:r1"`);
    expect((await ann.api.get(path(event))).body.event).toEqual(event);
    const changed = await ann.api.put(path(event), { title: 'Plan', base_revision: 1 });
    expect(changed.body).toMatchObject({
      event: { title: 'Plan', sequence: 0 },
      new_event: null,
      revision: 2,
    });
    const moved = await ann.api.put(
      path(event),
      { start: at('2026-03-02T12:00:00') },
      {
        headers: { 'if-match': `"event:${event.id}:r2"` },
      },
    );
    expect(moved.body.event).toMatchObject({ end: at('2026-03-02T13:30:00'), sequence: 1, revision: 3 });
    const stale = await ann.api.put(path(event), { title: 'x', base_revision: 1 });
    expect([stale.status, stale.body.error, stale.body.event.title]).toEqual([409, 'conflict', 'Plan']);
    const same = await ann.api.put(path(event), { title: 'Plan' });
    expect(same.body.revision).toBe(3);
    const history = (await ann.api.get(`${path(event)}?include=history`)).body.changes;
    expect(history.map(({ action, fields }: any) => [action, fields])).toEqual([
      ['updated', ['starts', 'ends', 'exact_duration'].filter((name) => name !== 'exact_duration')],
      ['updated', ['title']],
      ['created', []],
    ]);
    const gone = await ann.api.delete(path(event), { base_revision: 3 });
    expect([gone.status, gone.body.deleted, gone.body.event.title]).toEqual([200, true, 'Plan']);
    expect((await ann.api.get(path(event))).status).toBe(404);
    expect((await ann.api.put(path(event), { title: 'x' })).status).toBe(404);
  });

  test.each(['', 'a'])('a title of emoji is stored, after %j', async (start) => {
    const title = start + '\u{1f600}'.repeat(600);
    const event = await create({ title, start: at('2026-01-05T09:00:00') });
    expect(event.title).toBe(title);
  });

  test('accept the forms of times that clients use', async () => {
    const times: [object, object][] = [
      [
        { start: '2026-07-01T09:00:00Z' },
        { start: at('2026-07-01T11:00:00'), start_utc: '2026-07-01T09:00:00Z' },
      ],
      [{ start: '2026-07-01T09:00:00' }, { start: at('2026-07-01T09:00:00'), duration: 'PT1H' }],
      [
        { start: '2026-07-01' },
        { start: { date: '2026-07-01' }, end: { date: '2026-07-02' }, all_day: true },
      ],
      [
        { start: { date: '2026-07-01' }, end: { date: '2026-07-01' } },
        { end: { date: '2026-07-02' }, duration: 'P1D' },
      ],
      [
        { start: { date: '2026-07-01' }, end: '2026-07-04' },
        { duration: 'P3D', start_utc: '2026-06-30T22:00:00Z' },
      ],
      [
        { start: { date_time: '2026-07-01T09:00:00', time_zone: null } },
        { start: { date_time: '2026-07-01T09:00:00', time_zone: null }, start_utc: '2026-07-01T07:00:00Z' },
      ],
      [
        { start: at('2026-07-01T10:00:00'), end: at('2026-07-01T13:00:00', 'America/New_York') },
        { end: at('2026-07-01T13:00:00', 'America/New_York'), end_utc: '2026-07-01T17:00:00Z' },
      ],
      [
        { summary: 'Alias', start: '2026-07-01T09:00:00', rrule: 'freq=daily;count=2' },
        { title: 'Alias', type: 'series' },
      ],
    ];
    for (const [sent, expected] of times) expect(await create(sent)).toMatchObject(expected);
  });

  test('reject bad times, rules and fields with typed errors', async () => {
    const start = '2026-03-02T09:00:00';
    const rejected: [object, string][] = [
      [{}, 'validation_failed'],
      [{ start: '2026-02-30T09:00:00' }, 'validation_failed'],
      [{ start: 'tomorrow' }, 'validation_failed'],
      [{ start: 5 }, 'validation_failed'],
      [{ start: at(start, 'Mars/Olympus') }, 'validation_failed'],
      [{ start: '0001-01-01' }, 'validation_failed'],
      [{ start: '9999-12-31T23:59:59Z' }, 'validation_failed'],
      [{ start, end: '2026-03-02T08:00:00' }, 'validation_failed'],
      [{ start, end: '2026-03-03' }, 'validation_failed'],
      [{ start, duration: 'an hour' }, 'validation_failed'],
      [{ start, end: '2046-03-03T00:00:00' }, 'validation_failed'],
      [{ start, title: 'x'.repeat(1001) }, 'validation_failed'],
      [{ start, attendees: [{ email: 'nonsense' }] }, 'validation_failed'],
      [{ start, attendees: [{ user_id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000' }] }, 'unknown_user'],
      [{ start, links: [{ type: 'url', url: 'javascript:alert(1)' }] }, 'validation_failed'],
      [{ start, rrule: 'FREQ=SECONDLY' }, 'frequency_unsupported'],
      [{ start, recurrence: { rules: ['FREQ=MINUTELY'] } }, 'frequency_unsupported'],
      [{ start, rrule: 'RSCALE=CHINESE;FREQ=YEARLY' }, 'rscale_unsupported'],
      [{ start, rrule: 'FREQ=DAILY;COUNT=10001' }, 'rule_too_large'],
      [{ start, rrule: 'every monday' }, 'invalid_rule'],
      [
        {
          start,
          rrule: 'FREQ=DAILY;COUNT=1',
          recurrence: { rules: ['FREQ=DAILY;COUNT=1'], excluded: [start] },
        },
        'no_instances',
      ],
    ];
    for (const [body, error] of rejected) {
      const reply = await ann.api.post(`/calendar/${calendar}/events`, body);
      expect([JSON.stringify(body).slice(0, 80), reply.status, reply.body.error]).toEqual([
        JSON.stringify(body).slice(0, 80),
        422,
        error,
      ]);
    }
  });

  test.each([100, 500])('a title ends with its last character: %i emoji after a letter', async (count) => {
    const title = `a${'😀'.repeat(count)}`;
    const event = await create({ title, start: '2027-03-01' }, await newCalendar('Emoji'));
    expect(event.title).toBe(title);
  });

  test('an instant in the hour that the end of summer time repeats stays this instant', async () => {
    const own = await newCalendar('Autumn');
    const times = ({ start_utc, end_utc }: any) => [start_utc, end_utc];
    const cases: [start: unknown, end: unknown, expected: string[]][] = [
      ['2027-10-31T01:30:00Z', '2027-10-31T01:45:00Z', ['2027-10-31T01:30:00Z', '2027-10-31T01:45:00Z']],
      ['2027-10-31T02:30:00+01:00', undefined, ['2027-10-31T01:30:00Z', '2027-10-31T02:30:00Z']],
      ['2027-10-31T00:30:00Z', '2027-10-31T01:30:00Z', ['2027-10-31T00:30:00Z', '2027-10-31T01:30:00Z']],
      ['2027-10-31T00:30:00Z', undefined, ['2027-10-31T00:30:00Z', '2027-10-31T01:30:00Z']],
      [at('2027-10-31T01:30:00Z'), undefined, ['2027-10-31T01:30:00Z', '2027-10-31T02:30:00Z']],
      // A wall time alone means its first hour (RFC 5545, 3.3.5).
      [at('2027-10-31T02:30:00'), undefined, ['2027-10-31T00:30:00Z', '2027-10-31T01:30:00Z']],
    ];
    for (const [start, end, expected] of cases) {
      const event = await create({ title: 'x', start, ...(end !== undefined && { end }) }, own);
      expect([start, end, times(event)]).toEqual([start, end, expected]);
    }
    const moved = await create({ title: 'x', start: at('2027-10-30T09:00:00') }, own);
    const body = { start: '2027-10-31T01:30:00Z', end: '2027-10-31T01:45:00Z' };
    const { event } = (await ann.api.put(path(moved, own), body)).body;
    expect(times(event)).toEqual([body.start, body.end]);
  });

  test('a date of a series is deleted by query parameters too, for programs that send no body', async () => {
    const own = await newCalendar('Query');
    const series = await create({ title: 'x', start: '2027-03-01', rrule: 'FREQ=DAILY;COUNT=3' }, own);
    const remove = (query: string, body?: object) => ann.api.delete(`${path(series, own)}?${query}`, body);
    expect((await remove('scope=these')).body.error).toBe('validation_failed');
    expect((await remove('scope=this&recurrence_id=2027-03-02')).status).toBe(200);
    const last = { recurrence_id: '2027-03-03' };
    expect((await remove('recurrence_id=2027-03-01', last)).status).toBe(200);
    const left = await window(own, '2027-02-01', '2027-04-01');
    expect(left.map(({ start }) => start.date)).toEqual(['2027-03-01']);
  });

  describe('the changed dates of a series that moves', () => {
    const day = (n: number) => ({ date: `2027-03-${String(n).padStart(2, '0')}` });
    const hour = (n: number, h: number) => at(`${day(n).date}T${String(h).padStart(2, '0')}:00:00`);
    const key = (n: number, h?: number) =>
      h === undefined ? day(n).date : `${day(n).date}T0${h - 1}:00:00Z`;
    const put = async (event: any, own: string, body: object) =>
      expect((await ann.api.put(path(event, own), body)).status).toBe(200);
    const shown = async (own: string) =>
      (await window(own, '2027-02-01', '2027-06-01')).map(({ start, title }) =>
        `${(start.date ?? start.date_time).slice(5, 16)} ${title}`.replace(/ x$/, ''),
      );

    // A weekly series from Monday, 1 March, with a title of its own on the 8th and without the 15th.
    test.each<[string, from: number | undefined, start: object, change: object, expected: string[]]>([
      [
        'from days to hours of the next day',
        undefined,
        day(1),
        { start: hour(2, 9), end: hour(2, 10) },
        ['03-02T09:00', '03-09T09:00 own', '03-23T09:00', '03-30T09:00'],
      ],
      [
        'from hours to the next day',
        9,
        hour(1, 9),
        { start: day(2), end: day(3) },
        ['03-02', '03-09 own', '03-23', '03-30'],
      ],
      [
        'to another weekday with the rule for it',
        9,
        hour(1, 9),
        { start: hour(2, 9), end: hour(2, 10), rrule: 'FREQ=WEEKLY;BYDAY=TU;COUNT=5' },
        ['03-02T09:00', '03-09T09:00 own', '03-23T09:00', '03-30T09:00'],
      ],
    ])('%s', async (_name, from, start, change, expected) => {
      const own = await newCalendar('Moved');
      const rrule = 'FREQ=WEEKLY;COUNT=5';
      const series = await create({ title: 'x', start, rrule }, own);
      await put(series, own, { scope: 'this', recurrence_id: key(8, from), title: 'own' });
      const excluded = { scope: 'this', recurrence_id: key(15, from) };
      expect((await ann.api.delete(path(series, own), excluded)).status).toBe(200);
      await put(series, own, { scope: 'all', ...change });
      expect(await shown(own)).toEqual(expected);
    });

    test('keep times of the other kind', async () => {
      const own = await newCalendar('Kinds');
      const timed = await create({ title: 'x', start: hour(1, 9), rrule: 'FREQ=WEEKLY;COUNT=2' }, own);
      const trip = { start: day(9), end: day(10), title: 'trip' };
      await put(timed, own, { scope: 'this', recurrence_id: key(8, 9), ...trip });
      await put(timed, own, { scope: 'all', start: hour(1, 10), end: hour(1, 11) });
      expect(await shown(own)).toEqual(['03-01T10:00', '03-09 trip']);
      const days = await create({ title: 'x', start: day(2), rrule: 'FREQ=WEEKLY;COUNT=2' }, own);
      const talk = { start: hour(9, 14), end: hour(9, 15), title: 'talk' };
      await put(days, own, { scope: 'this', recurrence_id: key(9), ...talk });
      await put(days, own, { scope: 'all', start: day(3), end: day(4) });
      expect(await shown(own)).toEqual(['03-01T10:00', '03-03', '03-09 trip', '03-09T14:00 talk']);
      await put(days, own, { scope: 'all', start: hour(3, 8), end: hour(3, 9) });
      expect(await shown(own)).toEqual(['03-01T10:00', '03-03T08:00', '03-09 trip', '03-09T14:00 talk']);
    });

    test('of the part from a date on, to hours of another day', async () => {
      const own = await newCalendar('Part');
      const series = await create({ title: 'x', start: day(1), rrule: 'FREQ=WEEKLY;COUNT=4' }, own);
      const change = { start: hour(16, 9), end: hour(16, 10) };
      await put(series, own, { scope: 'this_and_following', recurrence_id: key(15), ...change });
      expect(await shown(own)).toEqual(['03-01', '03-08', '03-16T09:00', '03-23T09:00']);
    });
  });

  test('a daily series keeps its wall time across the clock change', async () => {
    const own = await newCalendar('DST');
    const series = await create(
      { title: 'Stand-up', start: at('2026-03-27T09:00:00'), rrule: 'FREQ=DAILY' },
      own,
    );
    expect(series).toMatchObject({
      type: 'series',
      recurrence: { rules: ['FREQ=DAILY'], until: null, count: null, text: 'Every day' },
    });
    const found = await window(own, '2026-03-28', '2026-03-31');
    expect(starts(found)).toEqual(['2026-03-28T08:00:00Z', '2026-03-29T07:00:00Z', '2026-03-30T07:00:00Z']);
    expect(found[1]).toMatchObject({
      id: `${series.id}_20260329T070000Z`,
      type: 'instance',
      series_id: series.id,
      recurrence_id: at('2026-03-29T09:00:00'),
      recurrence: null,
    });
    expect((await ann.api.get(path(found[1], own))).body.event).toEqual(found[1]);
    expect((await ann.api.get(`${path(series, own)}?recurrence_id=2026-03-29T09:00:00`)).body.event.id).toBe(
      found[1].id,
    );
    expect((await ann.api.get(`${path(series, own)}_20260329T080000Z`)).status).toBe(404);
    expect((await ann.api.get(`${path(series, own)}_nonsense`)).body.error).toBe('invalid_id');
    // A local end follows the wall clock across the change to summer time; an exact duration counts elapsed hours.
    await create({ title: 'Night', start: at('2026-03-28T22:00:00'), end: at('2026-03-29T06:00:00') }, own);
    await create({ title: 'Exact', start: at('2026-03-28T22:00:00'), duration: 'PT8H' }, own);
    const night = (await window(own, '2026-03-28T21:00:00Z', '2026-03-28T22:00:00Z')).map(
      ({ title, end_utc }) => [title, end_utc],
    );
    expect(night).toEqual([
      ['Night', '2026-03-29T04:00:00Z'],
      ['Exact', '2026-03-29T05:00:00Z'],
    ]);
    // An endless series has instances far in the future.
    expect(await window(own, '2126-01-01', '2126-01-03', ann, '&q=stand')).toHaveLength(2);
  });

  test.each([
    ['Europe/Berlin', '2026-03-28T02:30', '2026-03-29T03:30', '2026-03-29T01:30:00Z'],
    ['America/New_York', '2026-03-07T02:30', '2026-03-08T03:30', '2026-03-08T07:30:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T02:15', '2026-10-04T02:45', '2026-10-03T15:45:00Z'],
    // Apia left out 30 December 2011.
    ['Pacific/Apia', '2011-12-29T09:00', '2011-12-31T09:00', '2011-12-30T19:00:00Z'],
  ])(
    'an instance in a clock change of %s takes place later; its recurrence id stays',
    async (time_zone, first, shown, utc) => {
      const own = await newCalendar('Gap');
      const start = { date_time: `${first}:00`, time_zone };
      const { id } = await create(
        { title: 'Gap', start, duration: 'P0DT1H', rrule: 'FREQ=DAILY;COUNT=4' },
        own,
      );
      const day = 24 * 3600_000;
      const around = [new Date(Date.parse(utc) - day), new Date(Date.parse(utc) + day)] as const;
      const instances = () => window(own, ...(around.map((at) => at.toISOString()) as [string, string]));
      const before = await instances();
      const moved = before.find(
        (one) => one.start_utc === utc && one.start.date_time !== one.recurrence_id.date_time,
      );
      expect(moved.start).toEqual({ date_time: `${shown}:00`, time_zone });
      expect(Date.parse(moved.end_utc) - Date.parse(utc)).toBe(3600_000);
      expect(Date.parse(`${moved.end.date_time}Z`) - Date.parse(`${shown}:00Z`)).toBe(3600_000);
      expect((await ann.api.get(path(moved, own))).body.event).toMatchObject({
        id: moved.id,
        start: moved.start,
        end: moved.end,
      });
      // The series states the time of day, and repeating the shown times moves nothing.
      expect((await ann.api.get(path({ id }, own))).body.event.start).toEqual(start);
      const { start: from, end } = moved;
      const all = await ann.api.put(path(moved, own), { scope: 'all', start: from, end, title: 'Renamed' });
      expect([all.status, all.body.event.start]).toEqual([200, start]);
      const one = await ann.api.put(path(moved, own), { scope: 'this', start: from, end, location: 'Here' });
      expect(one.status).toBe(200);
      expect((await instances()).map(({ start_utc, end_utc }) => [start_utc, end_utc])).toEqual(
        before.map(({ start_utc, end_utc }) => [start_utc, end_utc]),
      );
    },
  );

  test('repeating the shown times of an instance or a single event in a clock change changes nothing', async () => {
    const own = await newCalendar('Repeated');
    const times = { start: at('2026-03-22T02:30:00'), end: at('2026-03-22T03:30:00') };
    const series = await create({ ...times, attendees: [bob.id], rrule: 'FREQ=WEEKLY;COUNT=3' }, own);
    const single = await create({ start: at('2026-03-29T02:30:00'), end: at('2026-03-29T03:30:00') }, own);
    const found = await window(own, '2026-03-29', '2026-03-30');
    expect(found.map(({ type }) => type).toSorted()).toEqual(['instance', 'single']);
    for (const { id, start, end } of found) {
      expect([start, end]).toEqual([at('2026-03-29T03:30:00'), at('2026-03-29T04:30:00')]);
      const again = await ann.api.put(path({ id }, own), { start, end });
      expect([again.status, again.body.event.revision, again.body.event.overrides_count]).toEqual([
        200,
        id === single.id ? single.revision : series.revision,
        0,
      ]);
    }
    const longer = await ann.api.put(path(single, own), { start: found[0].start, duration: 'PT2H' });
    expect(longer.body.event).toMatchObject({
      start: found[0].start,
      start_utc: single.start_utc,
      duration: 'PT2H',
    });
  });

  test('windows contain what overlaps them, half-open', async () => {
    const own = await newCalendar('Windows');
    await create({ title: 'long', start: '2026-01-01', end: '2026-06-01' }, own);
    await create({ title: 'before', start: '2026-03-01T08:00:00', end: '2026-03-01T09:00:00' }, own);
    await create({ title: 'in', start: '2026-03-01T09:00:00', end: '2026-03-01T10:00:00' }, own);
    await create({ title: 'after', start: '2026-03-01T10:00:00', end: '2026-03-01T11:00:00' }, own);
    await create({ title: 'point', start: '2026-03-01T09:00:00', end: '2026-03-01T09:00:00' }, own);
    const found = await window(own, '2026-03-01T09:00:00', '2026-03-01T10:00:00');
    expect(found.map(({ title }) => title).toSorted()).toEqual(['in', 'long', 'point']);
    const base = `/calendar/${own}/instances`;
    for (const query of [
      '?from=x&to=y',
      '?from=2026-02-01&to=2026-01-01',
      '?from=2026-01-01&to=2026-01-02&limit=0',
    ])
      expect((await ann.api.get(base + query)).body.error).toBe('validation_failed');
    expect((await ann.api.get(`${base}?from=2026-01-01&to=2027-03-01`)).body.error).toBe('window_too_large');
  });

  test('a series that ends in another zone is in every window that its instances overlap', async () => {
    const of = await newCalendar('Flights');
    const flight = await create(
      {
        title: 'Tokyo to Los Angeles',
        start: at('2026-06-01T10:00:00', 'Asia/Tokyo'),
        end: at('2026-06-01T04:00:00', 'America/Los_Angeles'),
        rrule: 'FREQ=DAILY;COUNT=3',
      },
      of,
    );
    expect([flight.start_utc, flight.end_utc, flight.duration]).toEqual([
      '2026-06-01T01:00:00Z',
      '2026-06-01T11:00:00Z',
      'PT10H',
    ]);
    const over = async (from: string, to: string) => starts(await window(of, from, to));
    expect(await over('2026-06-02T10:00:00Z', '2026-06-02T10:30:00Z')).toEqual(['2026-06-02T01:00:00Z']);
    expect(await over('2026-06-02T11:00:00Z', '2026-06-03T01:00:00Z')).toEqual([]);
    const query = {
      from: '2026-06-03T06:00:00Z',
      to: '2026-06-03T12:00:00Z',
      attendees: [{ calendar_id: of }],
    };
    const { body } = await ann.api.post('/calendar/scheduling/free_busy', query);
    expect(body.free_busy[0].busy).toMatchObject([{ start: query.from, end: '2026-06-03T11:00:00Z' }]);
  });

  test('pages of a window contain each event once', async () => {
    const own = await newCalendar('Pages');
    for (const n of [0, 1, 2])
      await create(
        { title: `s${n}`, start: '2026-05-01T09:00:00', duration: 'PT48H', rrule: 'FREQ=DAILY;COUNT=10' },
        own,
      );
    await create({ title: 'days', start: '2026-05-03', rrule: 'FREQ=DAILY;COUNT=3' }, own);
    const all = await window(own, '2026-05-01', '2026-06-01');
    expect(all).toHaveLength(33);
    const paged: any[] = [];
    let cursor = '';
    do {
      const { body } = await ann.api.get(
        `/calendar/${own}/instances?from=2026-05-01&to=2026-06-01&limit=4${cursor}`,
      );
      paged.push(...body.instances);
      cursor = body.next && `&cursor=${encodeURIComponent(body.next)}`;
    } while (cursor);
    expect(paged).toEqual(all);
  });

  test('one instance, an instance and all later ones, and all instances are changed and deleted', async () => {
    const own = await newCalendar('Scopes');
    const series = await create(
      { title: 'S', start: at('2026-03-02T09:00:00'), duration: 'PT1H', rrule: 'FREQ=DAILY;COUNT=10' },
      own,
    );
    const list = async () =>
      (await window(own, '2026-03-01', '2026-04-01')).map(
        ({ title, start, type }) => `${title} ${start.date_time.slice(8, 13)} ${type}`,
      );
    const instance = (day: string) => ({ id: `${series.id}_202603${day}T080000Z` });
    const one = await ann.api.put(path(instance('03'), own), {
      title: 'One',
      start: at('2026-03-03T15:00:00'),
    });
    expect(one.body.event).toMatchObject({
      type: 'exception',
      title: 'One',
      end: at('2026-03-03T16:00:00'),
      sequence: 1,
    });
    await ann.api.delete(path(instance('05'), own));
    expect((await list()).slice(0, 4)).toEqual([
      'S 02T09 instance',
      'One 03T15 exception',
      'S 04T09 instance',
      'S 06T09 instance',
    ]);
    expect((await ann.api.get(`${path(series, own)}?include=overrides`)).body).toMatchObject({
      event: { overrides_count: 1, recurrence: { excluded: [at('2026-03-05T09:00:00')] } },
      overrides: [{ title: 'One' }],
    });
    const split = await ann.api.put(path(series, own), {
      scope: 'this_and_following',
      recurrence_id: at('2026-03-08T09:00:00'),
      title: 'Later',
      start: at('2026-03-08T10:00:00'),
    });
    expect(split.body).toMatchObject({
      event: { title: 'S', recurrence: { rules: ['FREQ=DAILY;UNTIL=20260307T080000Z'] } },
      new_event: { title: 'Later', split_from: series.id, recurrence: { rules: ['FREQ=DAILY;COUNT=4'] } },
    });
    expect(await list()).toEqual([
      'S 02T09 instance',
      'One 03T15 exception',
      'S 04T09 instance',
      'S 06T09 instance',
      'S 07T09 instance',
      'Later 08T10 instance',
      'Later 09T10 instance',
      'Later 10T10 instance',
      'Later 11T10 instance',
    ]);
    // All instances move as far as the named one; the override keeps its own time.
    const all = await ann.api.put(path(instance('04'), own), {
      scope: 'all',
      start: at('2026-03-04T08:00:00'),
    });
    expect(all.body.event).toMatchObject({ start: at('2026-03-02T08:00:00'), overrides_count: 1 });
    expect((await list()).slice(0, 5)).toEqual([
      'S 02T08 instance',
      'One 03T15 exception',
      'S 04T08 instance',
      'S 06T08 instance',
      'S 07T08 instance',
    ]);
    const later = split.body.new_event;
    await ann.api.delete(path(later, own), {
      scope: 'this_and_following',
      recurrence_id: '2026-03-10T10:00:00',
    });
    expect((await list()).slice(5)).toEqual(['Later 08T10 instance', 'Later 09T10 instance']);
    await ann.api.delete(path(later, own));
    await ann.api.delete(path(series, own));
    expect(await list()).toEqual([]);
    const single = await create({ start: '2026-03-02T09:00:00' }, own);
    expect((await ann.api.put(path(single, own), { scope: 'this', title: 'x' })).status).toBe(422);
    expect(
      (await ann.api.put(path(single, own), { recurrence_id: '2026-03-02T09:00:00', title: 'x' })).body.error,
    ).toBe('not_an_instance');
  });

  test('a change from an added instance on keeps the instances of the rules', async () => {
    const of = await newCalendar('Added');
    const series = await create(
      {
        title: 'Talk',
        start: at('2026-07-01T09:00:00'),
        duration: 'PT1H',
        recurrence: { rules: ['FREQ=DAILY;INTERVAL=2;COUNT=4'], added: [at('2026-07-04T15:00:00')] },
      },
      of,
    );
    const split = await ann.api.put(path(series, of), {
      scope: 'this_and_following',
      recurrence_id: at('2026-07-04T15:00:00'),
      title: 'Later talk',
      start: at('2026-07-04T16:00:00'),
    });
    expect([split.status, split.body.error]).toEqual([200, undefined]);
    const shown = await window(of, '2026-07-01', '2026-08-01');
    expect(shown.map(({ title, start_utc }) => [title, start_utc])).toEqual([
      ['Talk', '2026-07-01T07:00:00Z'],
      ['Talk', '2026-07-03T07:00:00Z'],
      ['Later talk', '2026-07-04T14:00:00Z'],
      ['Later talk', '2026-07-05T08:00:00Z'],
      ['Later talk', '2026-07-07T08:00:00Z'],
    ]);
  });

  test('a change from the first instance that is left on changes the series: no empty series stays before it', async () => {
    const series = await create({
      title: 'Stand-up',
      start: at('2026-03-02T09:00:00'),
      recurrence: { rules: ['FREQ=DAILY;COUNT=4'] },
    });
    for (const day of ['2026-03-02', '2026-03-03'])
      await ann.api.delete(path(series), { scope: 'this', recurrence_id: at(`${day}T09:00:00`) });
    const changed = await ann.api.put(path(series), {
      scope: 'this_and_following',
      recurrence_id: at('2026-03-04T09:00:00'),
      title: 'Daily',
    });
    expect(changed.body).toMatchObject({ event: { id: series.id, title: 'Daily' }, new_event: null });
    const left = await window(calendar, '2026-03-01', '2026-04-01', ann, `&event_id=${series.id}`);
    expect(left.map(({ title, start }: any) => [title, start.date_time.slice(0, 10)])).toEqual([
      ['Daily', '2026-03-04'],
      ['Daily', '2026-03-05'],
    ]);
    // The history has the removals of the instances.
    const { changes } = (await ann.api.get(`${path(series)}?include=history`)).body;
    expect(changes.map(({ recurrence_key, fields }: any) => [recurrence_key, fields])).toEqual([
      ['', ['title']],
      ['2026-03-03T09:00:00', ['excluded']],
      ['2026-03-02T09:00:00', ['excluded']],
      ['', []],
    ]);
  });

  test('a series becomes a single event and back, timed becomes all-day', async () => {
    const event = await create({ start: '2026-03-02T09:00:00', rrule: 'FREQ=WEEKLY' });
    expect((await ann.api.put(path(event), { recurrence: null })).body.event).toMatchObject({
      type: 'single',
      recurrence: null,
    });
    const days = await ann.api.put(path(event), {
      start: '2026-03-02',
      end: '2026-03-05',
      rrule: 'FREQ=MONTHLY',
    });
    expect(days.body.event).toMatchObject({
      all_day: true,
      duration: 'P3D',
      type: 'series',
      start: { date: '2026-03-02' },
    });
  });

  test('lists filter and page, and end with a sync token', async () => {
    const own = await newCalendar('Lists');
    for (const n of [1, 2, 3])
      await create({ title: `Éclair ${n}`, uid: `u${n}`, start: `2026-03-0${n}T09:00:00` }, own);
    await create({ title: 'Other', start: '2026-03-04', attendees: ['zoe@outside.example'] }, own);
    const titles = async (query: string) => {
      const { body } = await ann.api.get(`/calendar/${own}/events${query}`);
      return body.events.map(({ title }: any) => title);
    };
    expect(await titles('?q=eclair')).toHaveLength(3);
    expect(await titles('?uid=u2')).toEqual(['Éclair 2']);
    expect(await titles('?attendee=ZOE@outside.example')).toEqual(['Other']);
    expect(await titles('?from=2026-03-03T12:00:00Z&to=2026-03-05')).toContain('Other');
    expect(await titles('?status=cancelled')).toEqual([]);
    expect(await titles('?order=updated&limit=1')).toEqual(['Éclair 1']);
    const first = (await ann.api.get(`/calendar/${own}/events?limit=3`)).body;
    expect(first).toMatchObject({ sync_token: null, next: expect.any(String) });
    const second = (
      await ann.api.get(`/calendar/${own}/events?limit=3&cursor=${encodeURIComponent(first.next)}`)
    ).body;
    expect(second).toMatchObject({
      next: null,
      sync_token: expect.any(String),
      events: [{ title: 'Other' }],
    });
  });

  test('a list has the events within its bounds, to the second', async () => {
    const own = await newCalendar('Bounds');
    const add = (title: string, fields: object) => create({ title, ...fields }, own);
    await add('hour', { start: '2026-05-20T10:00:00Z', end: '2026-05-20T11:00:00Z' });
    await add('moment', { start: '2026-05-20T11:00:00Z', duration: 'PT0S' });
    await add('day', { start: '2026-05-21' });
    await add('endless', { start: '2026-05-20T12:00:00Z', duration: 'PT1H', rrule: 'FREQ=DAILY' });
    const series = await add('moved', {
      start: at('2026-05-20T13:00:00'),
      duration: 'PT1H',
      rrule: 'FREQ=DAILY;COUNT=2',
    });
    const last = {
      scope: 'this',
      recurrence_id: at('2026-05-21T13:00:00'),
      start: at('2026-05-22T08:00:00'),
    };
    expect((await ann.api.put(path(series, own), last)).status).toBe(200);
    const titles = async (query: string) => {
      const { body } = await ann.api.get(`/calendar/${own}/events?${query}`);
      return body.events.map(({ title }: any) => title).toSorted();
    };
    expect(await titles('to=2026-05-20T10:00:00Z')).toEqual([]);
    expect(await titles('to=2026-05-20T11:00:01Z')).toEqual(['hour', 'moment', 'moved']);
    expect(await titles('from=2026-05-20T11:00:00Z&to=2026-05-20T12:00:00Z')).toEqual(['moment', 'moved']);
    // An all-day event is a day in Berlin, the zone of the calendar.
    expect(await titles('to=2026-05-20T22:00:00Z')).not.toContain('day');
    expect(await titles('from=2026-05-21T22:00:00Z')).toEqual(['endless', 'moved']);
    expect(await titles('from=2026-05-22T07:00:00Z')).toEqual(['endless']);
    let [cursor, found]: [string | null, string[]] = ['', []];
    for (; cursor !== null;) {
      const { body } = await ann.api.get(
        `/calendar/${own}/events?limit=1&from=2026-05-21T22:00:00Z${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      found.push(...body.events.map(({ title }: any) => title));
      cursor = body.next;
    }
    expect(found.toSorted()).toEqual(['endless', 'moved']);
  });

  test('the same uid is rejected with the existing event; a repeated creation by key is one', async () => {
    const made = await create({ title: 'First', uid: 'same', start: '2026-03-02' });
    const again = await ann.api.post(`/calendar/${calendar}/events`, {
      title: 'Second',
      uid: 'same',
      start: '2026-03-02',
    });
    expect([again.status, again.body.error, again.body.event.id]).toEqual([409, 'duplicate_uid', made.id]);
    const taken = await ann.api.post(`/calendar/${calendar}/events`, {
      id: made.id,
      start: '2026-03-02',
      uid: 'new',
    });
    expect([taken.status, taken.body.error]).toEqual([409, 'already_exists']);
    const headers = { 'idempotency-key': 'event-once' };
    const body = { title: 'Once', start: '2026-03-02' };
    const [a, b] = [
      await ann.api.post(`/calendar/${calendar}/events`, body, { headers }),
      await ann.api.post(`/calendar/${calendar}/events`, body, { headers }),
    ];
    expect(a.body).toEqual(b.body);
  });

  test('move to another calendar', async () => {
    const [from, to] = [await newCalendar('From'), await newCalendar('To')];
    const event = await create({ title: 'Moves', start: '2026-03-02' }, from);
    const moved = await ann.api.put(path(event, from), { calendar_id: to });
    expect([moved.status, moved.body.event.calendar_id]).toEqual([200, to]);
    expect((await ann.api.get(path(event, from))).status).toBe(404);
    expect((await ann.api.get(path(event, to))).body.event.title).toBe('Moves');
    const foreign = await newCalendar('Foreign', [], bob);
    expect((await ann.api.put(path(event, to), { calendar_id: foreign })).status).toBe(422);
    const receiver = await newCalendar('Receiver');
    expect((await ann.api.delete(`/calendar/${to}?move_events_to=${receiver}`)).status).toBe(200);
    expect((await ann.api.get(path(event, receiver))).body.event.calendar_id).toBe(receiver);
    const guest = await defaultOf(bob);
    const meeting = await create({ title: 'Meeting', start: '2026-03-02', attendees: [bob.id] }, receiver);
    await ann.api.delete(`/calendar/${receiver}`);
    expect((await bob.api.get(path(meeting, guest))).body.event).toMatchObject({ status: 'cancelled' });
  });

  test('a calendar whose events cannot all move stays, as the event that has the same uid', async () => {
    const [from, to] = [await newCalendar('From'), await newCalendar('To')];
    const kept = await create({ title: 'Kept', uid: 'in-both', start: '2026-03-02' }, to);
    const other = await create({ title: 'Other', start: '2026-03-02' }, from);
    const twin = await create({ title: 'Twin', uid: 'in-both', start: '2026-03-02' }, from);
    const refused = await ann.api.delete(`/calendar/${from}?move_events_to=${to}`);
    expect([refused.status, refused.body.error, refused.body.event.id]).toEqual([
      409,
      'duplicate_uid',
      kept.id,
    ]);
    for (const event of [other, twin])
      expect((await ann.api.get(path(event, from))).body.event.revision).toBe(event.revision);
    await ann.api.delete(path(twin, from));
    expect((await ann.api.delete(`/calendar/${from}?move_events_to=${to}`)).status).toBe(200);
    expect((await ann.api.get(path(other, to))).body.event.title).toBe('Other');
  });

  test('roles: times only, read, write; private events show times only', async () => {
    const shares = [
      { user_id: bob.id, role: 'free_busy' },
      { user_id: eve.id, role: 'writer' },
    ];
    const team = await newCalendar('Team', shares);
    const open = await create({ title: 'Open secret', start: '2026-03-02T09:00:00', uid: 'open' }, team);
    const hidden = await create(
      {
        title: 'Private secret',
        start: '2026-03-02T11:00:00',
        visibility: 'private',
        attendees: ['x@outside.example'],
      },
      team,
    );
    for (const [person, event] of [
      [bob, open],
      [bob, hidden],
      [eve, hidden],
    ] as const) {
      const read = await person.api.get(path(event, team));
      expect(read.body.event).toMatchObject({
        title: '',
        uid: '',
        attendees: [],
        permissions: { see_details: false, edit: false },
      });
      expect(read.text).not.toMatch(/secret|outside/);
      const listed = await person.api.get(`/calendar/${team}/instances?from=2026-03-01&to=2026-04-01`);
      expect(listed.body.instances).toHaveLength(2);
      expect(listed.text).not.toContain('Private');
      for (const query of ['q=secret', 'uid=open', 'attendee=x@outside.example'])
        expect((await person.api.get(`/calendar/${team}/events?${query}`)).text).not.toContain('Private');
      expect((await person.api.put(path(event, team), { title: 'x' })).status).toBe(403);
      expect((await person.api.delete(path(event, team))).status).toBe(403);
    }
    expect((await bob.api.get(`/calendar/${team}/events?q=secret`)).body.events).toEqual([]);
    expect((await bob.api.post(`/calendar/${team}/events`, { start: '2026-03-02' })).status).toBe(403);
    const changed = await eve.api.put(path(open, team), { title: 'By Eve' });
    expect(changed.body.event).toMatchObject({ title: 'By Eve', created_by: ann.id });
    const byEve = await create({ title: 'New', start: '2026-03-03' }, team, eve);
    expect(byEve).toMatchObject({ created_by: eve.id, organizer: { id: ann.id, self: false } });
  });

  test('an instance that is sent back with another title keeps it, and follows its series in the rest', async () => {
    const event = await create({
      title: 'Open',
      location: 'Room 1',
      start: at('2026-03-02T09:00:00'),
      recurrence: { rules: ['FREQ=WEEKLY;COUNT=3'] },
    });
    const instance = `${path(event)}_20260309T080000Z`;
    const read = (await ann.api.get(instance)).body.event;
    const { status, body } = await ann.api.put(instance, { ...read, title: 'Special' });
    expect([status, body.event.title, body.event.type]).toEqual([200, 'Special', 'exception']);
    await ann.api.put(path(event), { location: 'Room 2' });
    expect((await ann.api.get(instance)).body.event).toMatchObject({ title: 'Special', location: 'Room 2' });
    const longer = await ann.api.put(instance, { duration: 'PT2H' });
    expect(longer.body.event).toMatchObject({
      start: at('2026-03-09T09:00:00'),
      end: at('2026-03-09T11:00:00'),
      title: 'Special',
    });
  });

  test('an event that is sent back as it was read does not change, and keeps the responses of its attendees', async () => {
    const berlin = { start: at('2026-03-28T20:00:00'), duration: 'PT90M' };
    const weekly = { rules: ['FREQ=WEEKLY;COUNT=5'], excluded: [at('2026-04-04T20:00:00')] };
    for (const fields of [
      { ...berlin, attendees: [bob.id], recurrence: weekly },
      { ...berlin, attendees: [bob.id] },
      { start: at('2026-03-29T01:30:00'), duration: 'PT2H', recurrence: { rules: ['FREQ=DAILY;COUNT=3'] } },
      { start: '2026-03-28', recurrence: { rules: ['FREQ=DAILY;COUNT=3'] } },
      { start: { date_time: '2026-03-28T09:00:00', time_zone: null }, duration: 'PT45M' },
    ]) {
      const { id } = await create({ title: 'Same', ...fields });
      const found = await window(calendar, '2026-03-01', '2026-05-01', ann, `&event_id=${id}`);
      const read = (await ann.api.get(path({ id }))).body.event;
      for (const item of [read, ...found]) {
        const { status, body } = await ann.api.put(path(item), item);
        expect([status, body.details, body.revision]).toEqual([200, undefined, 1]);
      }
    }
  });

  test('changed instances count towards the limit of a list; a series with more of them is a page of its own', async () => {
    const own = await newCalendar('Pages');
    const series = async (title: string, day: string, changed: number) => {
      const start = at(`2026-03-${day}T09:00:00`);
      const made = await create({ title, start, recurrence: { rules: ['FREQ=WEEKLY;COUNT=9'] } }, own);
      const { instances } = (
        await ann.api.get(`/calendar/${own}/instances?from=${start.date_time}&event_id=${made.id}`)
      ).body;
      for (const instance of instances.slice(0, changed))
        expect((await ann.api.put(path(instance, own), { title: `${title}*` })).status).toBe(200);
    };
    await create({ title: 'A', start: at('2026-03-01T09:00:00') }, own);
    await series('B', '02', 3);
    await create({ title: 'C', start: at('2026-03-03T09:00:00') }, own);
    await series('D', '04', 1);
    const pages: string[] = [];
    let cursor = '';
    do {
      const { body } = await ann.api.get(`/calendar/${own}/events?include=overrides&limit=3${cursor}`);
      pages.push(body.events.map(({ title }: any) => title).join(' '));
      expect(body.sync_token === null).toBe(body.next !== null);
      cursor = body.next === null ? '' : `&cursor=${body.next}`;
    } while (cursor !== '');
    expect(pages).toEqual(['A', 'B B* B* B*', 'C D D*']);
    expect((await ann.api.get(`/calendar/${own}/events?limit=3`)).body.events).toHaveLength(3);
  });

  test('an instance that is private is not changed or deleted by a writer who does not see its details', async () => {
    const shared = await newCalendar('Private date', [{ user_id: bob.id, role: 'writer' }]);
    const event = await create(
      { title: 'Open', start: at('2026-03-02T09:00:00'), recurrence: { rules: ['FREQ=WEEKLY;COUNT=3'] } },
      shared,
    );
    const series = path(event, shared);
    const one = { scope: 'this', recurrence_id: at('2026-03-09T09:00:00') };
    await ann.api.put(series, { ...one, visibility: 'private', title: 'Hidden' });
    for (const refused of [
      await bob.api.put(series, { ...one, visibility: 'default' }),
      await bob.api.delete(series, one),
    ])
      expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
    const other = { ...one, recurrence_id: at('2026-03-16T09:00:00') };
    expect((await bob.api.put(series, { ...other, title: 'By Bob' })).status).toBe(200);
  });
});
