import { type TestUser, TestApp } from '../../support/app.ts';

const BERLIN = { time_zone: 'Europe/Berlin' };
const at = (date_time: string) => ({ date_time, ...BERLIN });

describe('free/busy', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let cat: TestUser;
  let mallory: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob, cat] = await app.tenant('acme', 'ann', 'bob', 'cat');
    [mallory] = await app.tenant('evil', 'mallory');
    for (const person of [ann, bob, cat])
      await person.api.put('/settings/profile', { timezone: 'Europe/Berlin' });
  });
  afterAll(() => app?.stop());

  const calendarOf = async (person: TestUser): Promise<string> =>
    (await person.api.get('/calendar')).body.calendars.find((each: any) => each.is_default).id;
  const create = async (person: TestUser, fields: object) => {
    const { status, body } = await person.api.post(`/calendar/${await calendarOf(person)}/events`, {
      title: 'secret title',
      ...fields,
    });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.event;
  };
  const query = (person: TestUser, fields: object) =>
    person.api.post('/calendar/scheduling/free_busy', {
      from: '2026-03-02',
      to: '2026-03-02',
      ...BERLIN,
      ...fields,
    });
  const busyOf = async (person: TestUser, day: string, fields: object = {}) => {
    const { body } = await query(ann, { from: day, to: day, attendees: [person.email], ...fields });
    return body.free_busy[0].busy.map((each: any) => [
      each.start.slice(11, 16),
      each.end.slice(11, 16),
      each.type,
    ]);
  };

  test('days are in the zone of their calendar, as in the calendar itself', async () => {
    const { calendar } = (await cat.api.post('/calendar', { name: 'South', time_zone: 'Pacific/Auckland' }))
      .body;
    const day = { title: 'x', start: { date: '2027-03-10' }, end: { date: '2027-03-11' }, show_as: 'busy' };
    expect((await cat.api.post(`/calendar/${calendar.id}/events`, day)).status).toBe(201);
    const window = { from: '2027-03-08T00:00:00Z', to: '2027-03-13T00:00:00Z' };
    for (const attendee of [cat.email, { calendar_id: calendar.id }]) {
      const { free_busy: lists } = (await query(cat, { ...window, attendees: [attendee] })).body;
      expect(
        lists[0].busy.map(({ start, end }: any) => [start, end].map((text) => new Date(text).toISOString())),
      ).toEqual([['2027-03-09T11:00:00.000Z', '2027-03-10T11:00:00.000Z']]);
    }
  });

  test('merges events of all states and shows no titles', async () => {
    await create(bob, { start: at('2026-03-02T09:00:00'), duration: 'PT2H' });
    await create(bob, { start: at('2026-03-02T10:00:00'), duration: 'PT2H', show_as: 'out_of_office' });
    await create(bob, { start: at('2026-03-02T12:00:00'), duration: 'PT1H', show_as: 'free' });
    await create(bob, { start: at('2026-03-02T13:00:00'), duration: 'PT1H', status: 'tentative' });
    await create(bob, { start: at('2026-03-02T14:00:00'), duration: 'PT1H', visibility: 'private' });
    await create(bob, { start: at('2026-03-02T15:00:00'), duration: 'PT1H', status: 'cancelled' });
    await create(bob, { start: at('2026-03-02T23:30:00'), duration: 'PT1H' });
    const { status, body } = await query(ann, { attendees: [bob.email] });
    expect(status).toBe(200);
    expect(body).toEqual({
      free_busy: [
        {
          email: bob.email,
          user_id: bob.id,
          calendar_id: null,
          status: 'ok',
          approximate: false,
          busy: [
            { start: '2026-03-02T08:00:00Z', end: '2026-03-02T09:00:00Z', type: 'busy' },
            { start: '2026-03-02T09:00:00Z', end: '2026-03-02T11:00:00Z', type: 'out_of_office' },
            { start: '2026-03-02T12:00:00Z', end: '2026-03-02T13:00:00Z', type: 'tentative' },
            { start: '2026-03-02T13:00:00Z', end: '2026-03-02T14:00:00Z', type: 'busy' },
            { start: '2026-03-02T22:30:00Z', end: '2026-03-02T23:00:00Z', type: 'busy' },
          ],
          working_hours: { time_zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' },
          view: `${'0'.repeat(18)}2233330011220000${'0'.repeat(13)}2`,
        },
      ],
      suggestions: [],
      from: '2026-03-01T23:00:00Z',
      to: '2026-03-02T23:00:00Z',
    });
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  test('a declined invitation is free, one without a response tentative', async () => {
    const event = await create(ann, { start: at('2026-03-10T09:00:00'), attendees: [bob.email, cat.email] });
    expect(await busyOf(bob, '2026-03-10')).toEqual([['08:00', '09:00', 'tentative']]);
    expect(await busyOf(ann, '2026-03-10')).toEqual([['08:00', '09:00', 'busy']]);
    const respond = async (person: TestUser, response: string) =>
      person.api.put(`/calendar/${await calendarOf(person)}/events/${event.id}/rsvp`, { response });
    expect((await respond(bob, 'accepted')).status).toBe(200);
    expect((await respond(cat, 'declined')).status).toBe(200);
    expect(await busyOf(bob, '2026-03-10')).toEqual([['08:00', '09:00', 'busy']]);
    expect(await busyOf(cat, '2026-03-10')).toEqual([]);
    expect(await busyOf(bob, '2026-03-10', { exclude_event_id: event.id })).toEqual([]);
  });

  test('series, all-day events and holidays that block time count on the clock of the person', async () => {
    await create(cat, {
      start: at('2026-03-05T09:00:00'),
      duration: 'PT30M',
      recurrence: { rules: ['FREQ=WEEKLY'], excluded: [{ date: '2026-03-19' }] },
    });
    await create(cat, { start: '2026-04-07' });
    await cat.api.put('/calendar/holiday-subscriptions', {
      subscriptions: [{ country: 'DE', busy: true }, { country: 'FR' }],
    });
    expect(await busyOf(cat, '2026-03-12')).toEqual([['08:00', '08:30', 'busy']]);
    expect(await busyOf(cat, '2026-03-19')).toEqual([]);
    // After the change to summer time.
    expect(await busyOf(cat, '2026-04-02')).toEqual([['07:00', '07:30', 'busy']]);
    expect(await busyOf(cat, '2026-04-07')).toEqual([['22:00', '22:00', 'busy']]);
    // Good Friday is a holiday in Germany.
    expect(await busyOf(cat, '2026-04-03')).toEqual([['22:00', '22:00', 'out_of_office']]);
    expect(await busyOf(cat, '2026-07-14')).toEqual([]);
  });

  test('unknown addresses, other workspaces and calendars that the caller cannot read are unknown', async () => {
    const calendar_id = await calendarOf(bob);
    const attendees = [
      'nobody@example.com',
      mallory.email,
      { user_id: mallory.id },
      { calendar_id },
      { user_id: bob.id },
    ];
    const { body } = await query(ann, { attendees });
    expect(body.free_busy.map((each: any) => each.status)).toEqual([
      'unknown',
      'unknown',
      'unknown',
      'unknown',
      'ok',
    ]);
    expect(body.free_busy.slice(0, 4).every((each: any) => each.busy.length === 0 && each.view === '')).toBe(
      true,
    );
    await bob.api.put(`/calendar/${calendar_id}`, { shares: [{ user_id: ann.id, role: 'free_busy' }] });
    const shared = await query(ann, { attendees: [{ calendar_id }] });
    expect(shared.body.free_busy[0]).toMatchObject({ status: 'ok', calendar_id, email: null });
    expect(shared.body.free_busy[0].busy.length).toBeGreaterThan(0);
  });

  test('suggests times on all days, where the required attendees are free, the fewest conflicts first', async () => {
    await create(ann, { start: at('2026-05-04T09:00:00'), duration: 'PT8H' });
    await create(bob, { start: at('2026-05-05T09:00:00'), duration: 'PT1H' });
    const suggest = async (fields: object) => {
      const range = { from: '2026-05-04', to: '2026-05-06', attendees: [ann.email, bob.email] };
      const { body } = await query(ann, {
        ...range,
        interval_minutes: 60,
        suggest: { duration_minutes: 60, ...fields },
      });
      return body.suggestions;
    };
    expect((await suggest({ count: 1 }))[0]).toEqual({
      start: '2026-05-05T08:00:00Z',
      end: '2026-05-05T09:00:00Z',
      conflicts: [],
      score: 1,
      reason: 'All attendees are free.',
    });
    // Bob may be absent, but a time without a conflict is better.
    const optional = await suggest({ required: [ann.email], count: 50 });
    expect(optional.at(-1)).toMatchObject({
      start: '2026-05-05T07:00:00Z',
      conflicts: [bob.email],
      score: 0.5,
    });
    expect((await suggest({ buffer_minutes: 30, count: 1 }))[0].start).toBe('2026-05-05T09:00:00Z');
    expect((await suggest({ working_hours: false, count: 1 }))[0].start).toBe('2026-05-03T22:00:00Z');
    expect(await suggest({ duration_minutes: 600 })).toEqual([]);
    // Working hours of the members' settings: all of them work at the time.
    const path = '/settings/general-preferences';
    const hours = { from: '14:00', to: '22:00', days: ['tue', 'wed'] };
    expect((await bob.api.put(path, { working_hours: hours })).status).toBe(200);
    const late = await suggest({ count: 50 });
    expect(late.map(({ start }: any) => start)).toEqual(
      ['05', '06'].flatMap((day) => [12, 13, 14].map((hour) => `2026-05-${day}T${hour}:00:00Z`)),
    );
    const shown = await query(bob, { from: '2026-05-04', to: '2026-05-05', attendees: [bob.email] });
    expect(shown.body.free_busy[0].working_hours).toMatchObject({
      days: [2, 3],
      start: '14:00',
      end: '22:00',
    });
    for (const invalid of [{ ...hours, from: '23:00' }, { from: '09:00', to: '10:00' }, 'always'])
      expect((await bob.api.put(path, { working_hours: invalid })).status).toBe(422);
    await bob.api.put(path, { working_hours: null });
    expect((await suggest({ count: 1 }))[0].start).toBe('2026-05-05T08:00:00Z');
  });

  test('many dense series make the times of their owner approximate, and other requests are served meanwhile', async () => {
    const hours = Array.from({ length: 24 }, (_, hour) => hour).join();
    const events = Array.from({ length: 60 }, (_, n) => ({
      title: 'dense',
      start: { date_time: '2026-06-01T00:00:00', time_zone: 'UTC' },
      duration: 'PT1M',
      recurrence: { rules: [`FREQ=DAILY;BYHOUR=${hours};BYMINUTE=${n % 5},15,30,45`] },
    }));
    const made = await bob.api.post(`/calendar/${await calendarOf(bob)}/events/batch`, { events });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
    await create(cat, { start: at('2026-07-01T09:00:00'), duration: 'PT1H' });
    const range = { from: '2026-06-01', to: '2026-08-01' };
    const progress = { isAnswered: false };
    const answer = query(ann, { ...range, attendees: [bob.email, cat.email] }).then((found) => {
      progress.isAnswered = true;
      return found;
    });
    let others = 0;
    while (!progress.isAnswered) {
      expect((await cat.api.get('/settings/profile')).status).toBe(200);
      if (!progress.isAnswered) others += 1;
    }
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(others).toBeGreaterThan(0);
    const [ofBob, ofCat] = body.free_busy;
    expect(ofBob).toMatchObject({ status: 'ok', approximate: true });
    expect(ofBob.busy.length).toBeLessThan(40_000);
    expect(ofBob.busy.at(-1).end).toBe(body.to);
    expect(ofCat.approximate).toBe(false);
    const meeting = { start: '2026-07-01T07:00:00Z', end: '2026-07-01T08:00:00Z', type: 'busy' };
    expect(ofCat.busy).toContainEqual(meeting);
    const options = [{ start: '2026-06-01T00:05:00Z' }, { start: '2026-08-01T00:05:00Z' }];
    const polled = await bob.api.post('/calendar/polls', { title: 'When', options, time_zone: 'UTC' });
    expect(polled.status).toBe(201);
    expect(polled.body.poll.options[1].my_conflict).toBe('busy');
  });

  test.each<[object, string]>([
    [{ attendees: [] }, 'validation_failed'],
    [{ attendees: [{}] }, 'validation_failed'],
    [{ attendees: ['no address'] }, 'validation_failed'],
    [{ from: '2026-03-02', to: '2026-05-04' }, 'window_too_large'],
    [{ from: '2026-03-02', to: '2026-02-01' }, 'validation_failed'],
    [{ from: 'yesterday' }, 'validation_failed'],
    [{ time_zone: 'Mars/Olympus' }, 'validation_failed'],
    [{ interval_minutes: 1 }, 'validation_failed'],
    [{ suggest: {} }, 'validation_failed'],
    [{ suggest: [] }, 'validation_failed'],
  ])('rejects %j', async (fields, error) => {
    const { status, body } = await query(ann, { attendees: [bob.email], ...fields });
    expect([status, body.error]).toEqual([422, error]);
  });
});
