import { type TestUser, TestApp } from '../../support/app.ts';

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('polls', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let cat: TestUser;
  let mallory: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob, cat] = await app.tenant('acme', 'ann', 'bob', 'cat');
    [mallory] = await app.tenant('evil', 'mallory');
  });
  afterAll(() => app?.stop());

  const create = async (fields: object = {}) => {
    const { status, body, headers } = await ann.api.post('/calendar/polls', {
      title: 'Planning',
      time_zone: 'Europe/Berlin',
      options: [
        { start: '2026-03-02T09:00:00' },
        { start: '2026-03-03T14:00:00Z', end: '2026-03-03T15:30:00Z' },
      ],
      participants: [
        bob.email,
        { user_id: cat.id, required: false },
        { email: 'Out@Side.example', name: 'Guest' },
      ],
      ...fields,
    });
    expect([status, body.error]).toEqual([201, undefined]);
    expect(headers.get('location')).toBe(`/apis/v1/calendar/polls/${body.poll.id}`);
    return body.poll;
  };
  const vote = (person: TestUser, poll: any, ...answers: string[]) =>
    person.api.post(`/calendar/polls/${poll.id}/vote`, {
      votes: answers.map((answer, n) => ({ option_id: poll.options[n].id, answer })),
    });
  const finalize = (person: TestUser, poll: any, n: number, fields: object = {}) =>
    person.api.post(`/calendar/polls/${poll.id}/finalize`, { option_id: poll.options[n].id, ...fields });
  const calendarOf = async (person: TestUser): Promise<string> =>
    (await person.api.get('/calendar')).body.calendars.find((each: any) => each.is_default).id;

  test('have options in the zone of the poll, and participants of the workspace and outside', async () => {
    const poll = await create({ description: 'Goals', location: 'Room 3' });
    expect(poll).toMatchObject({
      title: 'Planning',
      description: 'Goals',
      location: 'Room 3',
      owner_id: ann.id,
      kind: 'time',
      status: 'open',
      deadline: null,
      my_votes: [],
      best_option_ids: [],
      event_id: null,
      revision: 1,
    });
    expect(poll.options).toMatchObject([
      {
        start: '2026-03-02T08:00:00Z',
        end: '2026-03-02T09:00:00Z',
        date: null,
        local_start: '2026-03-02T09:00:00',
        counts: { yes: 0, if_needed: 0, no: 0, pending: 4 },
        votes: [],
      },
      { start: '2026-03-03T14:00:00Z', end: '2026-03-03T15:30:00Z', local_start: '2026-03-03T15:00:00' },
    ]);
    expect(
      poll.participants.map((each: any) => [each.email, each.user_id, each.name, each.required]),
    ).toEqual([
      [ann.email, ann.id, 'Ann', true],
      [bob.email, bob.id, 'Bob', true],
      [cat.email, cat.id, 'Cat', false],
      ['out@side.example', null, 'Guest', true],
    ]);
    const elsewhere = await bob.api.get(`/calendar/polls/${poll.id}?time_zone=America/New_York`);
    expect(elsewhere.body.poll.options[0]).toMatchObject({
      start: '2026-03-02T08:00:00Z',
      local_start: '2026-03-02T03:00:00',
    });
  });

  test('in the hour that the end of summer time repeats become events at this hour', async () => {
    const option = { start: '2027-10-31T01:30:00Z', end: '2027-10-31T02:15:00Z' };
    const poll = await create({ options: [option, { start: '2027-11-01T09:00:00Z' }] });
    expect(poll.options[0]).toMatchObject(option);
    const { event } = (await finalize(ann, poll, 0)).body;
    expect([event.start_utc, event.end_utc]).toEqual([option.start, option.end]);
  });

  test('in the hour that summer time skips keep their length, as events do', async () => {
    const option = { start: '2027-03-14T02:30:00', end: '2027-03-14T03:30:00' };
    const poll = await create({
      time_zone: 'America/New_York',
      options: [option, { start: '2027-03-15T09:00:00' }],
    });
    expect(poll.options[0]).toMatchObject({ start: '2027-03-14T07:30:00Z', end: '2027-03-14T08:30:00Z' });
  });

  test('count votes, which a participant replaces as a whole', async () => {
    const poll = await create();
    await vote(ann, poll, 'yes', 'if_needed');
    await vote(bob, poll, 'no', 'yes');
    const { status, body } = await vote(cat, poll, 'yes', 'yes');
    expect(status).toBe(200);
    expect(body.poll.options.map((each: any) => each.counts)).toEqual([
      { yes: 2, if_needed: 0, no: 1, pending: 1 },
      { yes: 2, if_needed: 1, no: 0, pending: 1 },
    ]);
    expect(body.poll.best_option_ids).toEqual([poll.options[1].id]);
    expect(body.poll.my_votes).toHaveLength(2);
    expect(body.poll.options[0].votes).toContainEqual(expect.objectContaining({ name: 'Bob', answer: 'no' }));
    const again = await vote(bob, poll, 'yes');
    expect(again.body.poll.options.map((each: any) => each.counts.pending)).toEqual([1, 2]);
    expect(again.body.poll.my_votes).toEqual([{ option_id: poll.options[0].id, answer: 'yes' }]);
    expect(again.body.poll.participants.filter((each: any) => each.responded_at !== null)).toHaveLength(3);
  });

  test('that are anonymous show counts only', async () => {
    const poll = await create({ anonymous: true });
    await vote(bob, poll, 'yes', 'no');
    const { body } = await ann.api.get(`/calendar/polls/${poll.id}`);
    expect(body.poll.options[0]).toMatchObject({ counts: { yes: 1 }, votes: [] });
  });

  test('mark the options at which the reader is not free', async () => {
    await bob.api.post(`/calendar/${await calendarOf(bob)}/events`, {
      title: 'Dentist',
      start: { date_time: '2026-03-02T09:30:00', time_zone: 'Europe/Berlin' },
    });
    const poll = await create();
    const seen = async (person: TestUser) =>
      (await person.api.get(`/calendar/polls/${poll.id}`)).body.poll.options.map(
        (each: any) => each.my_conflict,
      );
    expect(await seen(bob)).toEqual(['busy', null]);
    expect(await seen(cat)).toEqual([null, null]);
  });

  test('about days have days', async () => {
    const poll = await create({ options: [{ date: '2026-03-02' }, { date: '2026-03-04' }] });
    expect([poll.kind, poll.options[0].date, poll.options[0].start]).toEqual(['date', '2026-03-02', null]);
    const { body } = await finalize(ann, poll, 1);
    expect(body.event).toMatchObject({
      start: { date: '2026-03-04' },
      end: { date: '2026-03-05' },
      all_day: true,
    });
  });

  test('about several days have their range; the end is exclusive', async () => {
    const days = (start: string, end: string) => ({ start: { date: start }, end: { date: end } });
    const poll = await create({ options: [days('2026-03-02', '2026-03-05'), { date: '2026-03-09' }] });
    expect([poll.kind, poll.options[0]]).toMatchObject([
      'date',
      { date: '2026-03-02', local_start: '2026-03-02', local_end: '2026-03-04' },
    ]);
    const { body } = await finalize(ann, poll, 0);
    expect(body.event).toMatchObject({
      start: { date: '2026-03-02' },
      end: { date: '2026-03-05' },
      all_day: true,
    });
    const rejected = async (option: object) => {
      const fields = { title: 'x', time_zone: 'Europe/Berlin', participants: [bob.email] };
      const options = [option, { date: '2026-03-09' }];
      expect((await ann.api.post('/calendar/polls', { ...fields, options })).status).toBe(422);
    };
    await rejected(days('2026-03-02', '2026-03-02'));
    await rejected(days('2026-03-02', '2026-04-03'));
    await rejected({ date: '2026-03-02', end: '2026-03-02T10:00:00' });
  });

  test('close at the deadline', async () => {
    const poll = await create({ deadline: '2020-01-01T00:00:00Z' });
    expect(poll.status).toBe('closed');
    const late = await vote(bob, poll, 'yes');
    expect([late.status, late.body.error]).toEqual([409, 'poll_closed']);
    expect((await finalize(ann, poll, 0)).status).toBe(200);
  });

  test('are finalized once, also by several requests at once', async () => {
    const poll = await create({ title: 'Kick-off' });
    await vote(bob, poll, 'yes', 'no');
    await vote(cat, poll, 'no', 'no');
    expect((await finalize(bob, poll, 0)).status).toBe(403);
    const replies = await Promise.all([1, 2, 3, 4].map(() => finalize(ann, poll, 0, { invite: 'yes' })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(replies.map(({ body }) => body.event.id)).size).toBe(1);
    const { poll: done, event } = replies[0]!.body;
    expect(done).toMatchObject({ status: 'finalized', option_id: poll.options[0].id, event_id: event.id });
    expect(event).toMatchObject({
      title: 'Kick-off',
      start: { date_time: '2026-03-02T09:00:00', time_zone: 'Europe/Berlin' },
    });
    expect(event.attendees.map((each: any) => each.email)).toContain(bob.email);
    expect(event.attendees.map((each: any) => each.email)).not.toContain(cat.email);
    const placed = await bob.api.get(`/calendar/${await calendarOf(bob)}/events/${event.id}`);
    expect([placed.status, placed.body.event.my_response]).toEqual([200, 'needs_action']);
    const [{ count }] = (await app.sql(
      `SELECT count(*)::int AS count FROM calendar_events WHERE title = 'Kick-off'`,
    )) as [{ count: number }];
    expect(count).toBe(1);
    const other = await finalize(ann, poll, 1);
    expect([other.status, other.body.error]).toEqual([409, 'already_finalized']);
    expect((await vote(bob, poll, 'no')).body.error).toBe('poll_closed');
  });

  test('invite a participant whose address has changed since the creation of the poll', async () => {
    const [uma, vic] = await app.tenant('echo', 'uma', 'vic');
    const fields = {
      title: 'Later',
      time_zone: 'UTC',
      options: [{ start: '2026-03-02T09:00:00' }, { start: '2026-03-03T09:00:00' }],
      participants: [vic.email],
    };
    const { poll } = (await uma.api.post('/calendar/polls', fields)).body;
    await app.sql('UPDATE tenant_members SET email = $2 WHERE user_id = $1', [vic.id, 'vic@new.example']);
    const { event } = (await finalize(uma, poll, 0)).body;
    expect(event.attendees).toMatchObject([{ email: 'vic@new.example', user_id: vic.id }]);
    const placed = await vic.api.get(`/calendar/${await calendarOf(vic)}/events/${event.id}`);
    expect(placed.status).toBe(200);
  });

  test('that are finalized again return their event, also from the calendar to which it was moved', async () => {
    const poll = await create();
    const { event } = (await finalize(ann, poll, 0)).body;
    const { id } = (await ann.api.post('/calendar', { name: 'Other' })).body.calendar;
    const moved = await ann.api.put(`/calendar/${await calendarOf(ann)}/events/${event.id}`, {
      calendar_id: id,
    });
    expect(moved.status).toBe(200);
    expect((await finalize(ann, poll, 0)).body.event).toMatchObject({ id: event.id, calendar_id: id });
    await ann.api.delete(`/calendar/${id}/events/${event.id}`);
    expect((await finalize(ann, poll, 0)).body.event).toBeNull();
  });

  test('do not exist for members who do not take part, and for other workspaces', async () => {
    const poll = await create({ participants: [] });
    for (const person of [bob, mallory]) {
      const replies = [
        await person.api.get(`/calendar/polls/${poll.id}`),
        await vote(person, poll, 'yes'),
        await finalize(person, poll, 0),
      ];
      expect(replies.map(({ status, body }) => [status, body.error])).toEqual(
        replies.map(() => [404, 'not_found']),
      );
    }
    expect((await ann.api.get(`/calendar/polls/${UNKNOWN}`)).status).toBe(404);
  });

  test('with an idempotency key are created once', async () => {
    const body = {
      title: 'Once',
      time_zone: 'UTC',
      options: [{ date: '2026-03-02' }, { date: '2026-03-03' }],
    };
    const headers = { 'Idempotency-Key': 'poll-1' };
    const made = [
      await ann.api.post('/calendar/polls', body, { headers }),
      await ann.api.post('/calendar/polls', body, { headers }),
    ];
    expect(made[0]!.body.poll.id).toBe(made[1]!.body.poll.id);
  });

  test.each<[object, string]>([
    [{ options: [{ date: '2026-03-02' }] }, 'validation_failed'],
    [{ options: [{ date: '2026-03-02' }, {}] }, 'validation_failed'],
    [{ options: [{ date: '2026-03-02' }, { start: '2026-03-02T09:00:00' }] }, 'validation_failed'],
    [{ options: [{ date: '2026-03-02' }, { date: '2026-03-02' }] }, 'validation_failed'],
    [
      {
        options: [
          { start: '2026-03-02T09:00:00', end: '2026-03-02T08:00:00' },
          { start: '2026-03-03T09:00:00' },
        ],
      },
      'validation_failed',
    ],
    [{ time_zone: 'Mars/Olympus' }, 'validation_failed'],
    [{ title: ' ' }, 'validation_failed'],
    [{ deadline: 'soon' }, 'validation_failed'],
    [{ participants: [{}] }, 'validation_failed'],
    [{ participants: [{ user_id: UNKNOWN }] }, 'unknown_user'],
  ])('rejects %j', async (fields, error) => {
    const { status, body } = await ann.api.post('/calendar/polls', {
      title: 'x',
      time_zone: 'UTC',
      options: [{ date: '2026-03-02' }, { date: '2026-03-03' }],
      ...fields,
    });
    expect([status, body.error]).toEqual([422, error]);
  });

  test('reject votes for unknown options, and if_needed where it is not allowed', async () => {
    const poll = await create({ allow_if_needed: false });
    const unknown = await ann.api.post(`/calendar/polls/${poll.id}/vote`, {
      votes: [{ option_id: UNKNOWN, answer: 'yes' }],
    });
    expect([unknown.status, unknown.body.error]).toEqual([422, 'unknown_option']);
    expect((await vote(ann, poll, 'if_needed')).body.error).toBe('validation_failed');
    expect(
      (await ann.api.post(`/calendar/polls/${poll.id}/finalize`, { option_id: UNKNOWN })).body.error,
    ).toBe('unknown_option');
  });

  test('reject different answers to one option', async () => {
    const poll = await create({});
    const [{ id }] = poll.options;
    const answer = (...answers: string[]) =>
      ann.api.post(`/calendar/polls/${poll.id}/vote`, {
        votes: answers.map((each, n) => ({ option_id: n === 0 ? id : id.toUpperCase(), answer: each })),
      });
    const { status, body } = await answer('yes', 'no');
    expect([status, body.error, body.details]).toEqual([
      422,
      'validation_failed',
      [expect.objectContaining({ field: 'votes.1.answer', code: 'contradiction' })],
    ]);
    expect((await answer('yes', 'yes')).status).toBe(200);
  });

  test('hold the times of their options until they are finalized or cancelled', async () => {
    const held = async (poll: any): Promise<any[]> => {
      const { body } = await ann.api.get(`/calendar/${poll.calendar_id}/events?limit=200`);
      const ids = new Set(poll.options.map(({ hold_event_id: id }: any) => id));
      return body.events.filter(({ id }: any) => ids.has(id));
    };
    const poll = await create({ title: 'Held', hold: true });
    expect(await held(poll)).toMatchObject([
      {
        title: 'Held',
        status: 'tentative',
        show_as: 'tentative',
        attendees: [],
        start_utc: '2026-03-02T08:00:00Z',
      },
      { title: 'Held', status: 'tentative', end_utc: '2026-03-03T15:30:00Z' },
    ]);
    const seen = (await bob.api.get(`/calendar/polls/${poll.id}`)).body.poll;
    expect(seen.options.map(({ hold_event_id: id }: any) => id)).toEqual([null, null]);
    // A tentative event that its owner deletes does not prevent the choice.
    await ann.api.delete(`/calendar/${poll.calendar_id}/events/${poll.options[0].hold_event_id}`);
    const done = await finalize(ann, poll, 1, { send_updates: 'none' });
    expect([done.status, done.body.event.status]).toEqual([200, 'confirmed']);
    expect(await held(poll)).toEqual([]);

    const days = { options: [{ date: '2026-03-05' }, { date: '2026-03-06' }] };
    const dropped = await create({ title: 'Dropped', hold: true, ...days });
    expect((await held(dropped)).map(({ all_day, end }) => [all_day, end.date])).toEqual([
      [true, '2026-03-06'],
      [true, '2026-03-07'],
    ]);
    expect((await bob.api.post(`/calendar/polls/${dropped.id}/cancel`)).body.error).toBe('forbidden');
    expect((await mallory.api.post(`/calendar/polls/${dropped.id}/cancel`)).status).toBe(404);
    const cancelled = await ann.api.post(`/calendar/polls/${dropped.id}/cancel`);
    expect([cancelled.status, cancelled.body.poll.status]).toEqual([200, 'cancelled']);
    expect(await held(dropped)).toEqual([]);
    expect((await vote(bob, dropped, 'yes')).body.error).toBe('poll_closed');
    expect((await finalize(ann, dropped, 0)).body.error).toBe('poll_closed');
    const again = await ann.api.post(`/calendar/polls/${dropped.id}/cancel`);
    expect([again.status, again.body.poll.revision]).toEqual([200, cancelled.body.poll.revision]);
    expect((await ann.api.post(`/calendar/polls/${poll.id}/cancel`)).body.error).toBe('already_finalized');
  });

  test('do not conflict with their own tentative events and with their event', async () => {
    const [uma] = await app.tenant('foxtrot', 'uma');
    const fields = {
      title: 'Held',
      time_zone: 'UTC',
      options: [{ start: '2026-03-02T09:00:00' }, { start: '2026-03-03T09:00:00' }],
      hold: true,
    };
    const { poll } = (await uma.api.post('/calendar/polls', fields)).body;
    await uma.api.post(`/calendar/${poll.calendar_id}/events`, { start: '2026-03-03T09:30:00Z' });
    const conflicts = ({ options }: any) => options.map((each: any) => each.my_conflict);
    expect(conflicts((await uma.api.get(`/calendar/polls/${poll.id}`)).body.poll)).toEqual([null, 'busy']);
    const done = await finalize(uma, poll, 0);
    expect(conflicts(done.body.poll)).toEqual([null, 'busy']);
  });

  test('delete their tentative events also in the calendar to which these were moved', async () => {
    const { id } = (await ann.api.post('/calendar', { name: 'Old' })).body.calendar;
    const poll = await create({ title: 'Moved', hold: true, calendar_id: id });
    const home = (await ann.api.get('/calendar')).body.calendars.find((each: any) => each.is_default).id;
    expect((await ann.api.delete(`/calendar/${id}?move_events_to=${home}`)).status).toBe(200);
    const titles = async () =>
      (await ann.api.get(`/calendar/${home}/events?q=moved`)).body.events.map(({ title }: any) => title);
    expect(await titles()).toEqual(['Moved', 'Moved']);
    expect((await ann.api.post(`/calendar/polls/${poll.id}/cancel`)).status).toBe(200);
    expect(await titles()).toEqual([]);
  });
});
