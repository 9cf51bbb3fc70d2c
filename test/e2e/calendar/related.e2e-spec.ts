import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';

const ids = (items: any[]): string[] => items.map(({ id }) => id);

describe('related items', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let mallory: TestUser;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    [mallory] = await app.tenant('evil', 'mallory');
    calendar = (await ann.api.get('/calendar')).body.calendars[0].id;
  });
  afterAll(() => app?.stop());

  const create = async (fields: object) => {
    const { status, body } = await ann.api.post(`/calendar/${calendar}/events`, {
      start: '2026-05-04T10:00:00Z',
      end: '2026-05-04T11:00:00Z',
      send_updates: 'none',
      ...fields,
    });
    expect(status).toBe(201);
    return body.event;
  };
  const related = async (person: TestUser, query: string) => {
    const { status, body } = await person.api.get(`/calendar/related?${query}`);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.related;
  };
  test('an event is related to links, subjects, attendees and times, as far as the caller may read them', async () => {
    const linked = (await ann.api.post('/notes', { title: 'Minutes', content: '<p>x</p>' })).body.note;
    const about = (await ann.api.post('/notes', { title: 'Zephyr budget', content: '<p>x</p>' })).body.note;
    const foreign = (await bob.api.post('/notes', { title: 'Zephyr secrets', content: '<p>x</p>' })).body
      .note;
    const task = (await ann.api.post('/tasks', { title: 'Order zephyr parts' })).body.task;
    const book = (await ann.api.get('/contact/addressbooks')).body.addressbooks.find(
      (each: any) => each.is_default,
    );
    const contact = (
      await ann.api.post(`/contact/addressbooks/${book.id}/contacts`, {
        full_name: 'Olga Outside',
        emails: [{ value: 'olga@side.example' }],
      })
    ).body.contact;
    const room = (await ann.api.post('/chat/rooms', { type: 'direct', user_id: bob.id })).body.room;
    const event = await create({
      title: 'Zephyr planning',
      attendees: [bob.id, 'olga@side.example'],
      links: [{ type: 'note', id: linked.id }],
    });
    const [same, other] = [
      await create({ title: 'Lunch', attendees: [bob.id] }),
      await create({ title: 'Dentist', start: '2026-06-01T10:00:00Z', end: '2026-06-01T11:00:00Z' }),
    ];
    await app.get<OutboxWorker>(OutboxWorker).drain();
    const found = await related(ann, `event_id=${event.id}`);
    expect(found.notes[0]).toMatchObject({ id: linked.id, title: 'Minutes', reason: 'link', score: 1 });
    expect(ids(found.notes)).toContain(about.id);
    expect(ids(found.notes)).not.toContain(foreign.id);
    expect(found.tasks).toMatchObject([{ id: task.id, title: 'Order zephyr parts', reason: 'title' }]);
    expect(found.contacts).toMatchObject([{ id: contact.id, title: 'Olga Outside', reason: 'attendee' }]);
    expect(ids(found.rooms)).toEqual(room ? [room.id] : []);
    expect(found.events).toMatchObject([{ id: same.id, reason: 'attendee' }]);
    expect(found.messages).toEqual([]);
    const atTime = await related(ann, 'start=2026-06-01T00:00:00Z&end=2026-06-02T00:00:00Z');
    expect(atTime.events).toMatchObject([
      { id: other.id, title: 'Dentist', reason: 'time', date: '2026-06-01T10:00:00Z' },
    ]);
    expect(ids((await related(ann, `email=${bob.email}`)).events).toSorted()).toEqual(
      [event.id, same.id].toSorted(),
    );
    const only = await related(ann, 'q=zephyr&types=tasks&limit=1');
    expect([ids(only.tasks), only.notes, only.events]).toEqual([[task.id], [], []]);
  });

  test('a series is related to the times of its instances, also where an earlier one has just ended', async () => {
    const hourly = await create({
      title: 'Every hour',
      start: '2026-09-01T00:00:00Z',
      end: '2026-09-01T00:10:00Z',
      rrule: 'FREQ=HOURLY;COUNT=48',
    });
    const { events } = await related(ann, 'start=2026-09-01T10:30:00Z&end=2026-09-01T11:05:00Z');
    expect(events).toMatchObject([{ id: hourly.id, date: '2026-09-01T11:00:00Z', reason: 'time' }]);
    expect((await related(ann, 'start=2026-09-01T10:30:00Z&end=2026-09-01T11:00:00Z')).events).toEqual([]);
  });

  test('private events of others give no titles and no related items', async () => {
    const secret = await create({
      title: 'Zephyr secret',
      visibility: 'private',
      start: '2026-07-01T10:00:00Z',
      end: '2026-07-01T11:00:00Z',
    });
    await ann.api.put(`/calendar/${calendar}`, { shares: [{ user_id: bob.id, role: 'reader' }] });
    await app.get<OutboxWorker>(OutboxWorker).drain();
    const window = 'start=2026-07-01T00:00:00Z&end=2026-07-02T00:00:00Z';
    expect(ids((await related(ann, window)).events)).toEqual([secret.id]);
    expect((await related(bob, window)).events).toEqual([]);
    expect(ids((await related(bob, 'q=zephyr')).events)).not.toContain(secret.id);
    const about = await related(bob, `event_id=${secret.id}`);
    expect(Object.values(about).flat()).toEqual([]);
    expect((await mallory.api.get(`/calendar/related?event_id=${secret.id}`)).status).toBe(404);
  });

  test.each([
    '',
    'start=2026-07-01',
    'q=',
    'types=x&q=a',
    'limit=0&q=a',
    'start=2026-07-01&end=2026-09-01',
    'event_id=1',
  ])('the query "%s" is invalid', async (query) => {
    const { status, body } = await ann.api.get(`/calendar/related?${query}`);
    expect([status, body.error]).toEqual([422, 'validation_failed']);
  });

  test('a guest of one instance reads its texts, not those of the series: related items, search, lists, notifications', async () => {
    const [eve, kim] = await app.tenant('acme', 'eve', 'kim');
    const series = await create({
      title: 'Layoffs planning',
      description: 'Names of the dismissed',
      recurrence: { rules: ['FREQ=WEEKLY;COUNT=3'] },
    });
    await ann.api.put(`/calendar/${calendar}/events/${series.id}`, {
      scope: 'this',
      recurrence_id: '2026-05-11T10:00:00Z',
      title: 'Planning talk',
      description: 'With guests',
      attendees: [eve.id, bob.id],
      send_updates: 'none',
    });
    await app.get(OutboxWorker).drain();
    const own = (await eve.api.get('/calendar')).body.calendars[0].id;
    await eve.api.put(`/calendar/${own}`, { shares: [{ user_id: kim.id, role: 'reader' }] });
    const titles = (items: any[]) => items.map(({ title }) => title);
    for (const person of [eve, kim]) {
      for (const query of ['q=planning', `email=${bob.email}`, 'start=2026-05-11&end=2026-05-12'])
        expect(titles((await related(person, `${query}&types=events`)).events)).toEqual(['Planning talk']);
      const { events } = (await person.api.get('/search/calendar?q=planning')).body;
      expect(events).toMatchObject([
        {
          title: 'Planning talk',
          highlights: { title: '<mark>Planning</mark> talk', description: 'With guests' },
        },
      ]);
      const listed = async (q: string) =>
        titles((await person.api.get(`/calendar/${own}/events?q=${q}`)).body.events);
      expect([await listed('layoffs'), await listed('planning')]).toEqual([[], ['Planning talk']]);
    }
    expect(titles((await eve.api.get('/notifications')).body.notifications)).toEqual([
      'Ann invited you to “Planning talk”',
    ]);
  });
});

describe('related messages', () => {
  let mail: TestMailService;
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  const boxes = '/mail/users/me/mailboxes';

  beforeAll(async () => {
    mail = await TestMailService.start();
    app = await TestApp.start(mail.settings);
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  const related = async (by: TestUser, query: string): Promise<any[]> => {
    const { status, body } = await by.api.get(`/calendar/related?${query}`);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.related.messages;
  };
  /** Stores a message in a mailbox. @returns the id of the related item */
  const store = async (
    by: TestUser,
    box: string,
    subject: string,
    from: string,
    to: string,
  ): Promise<string> => {
    const { results } = (await by.api.get(boxes)).body;
    const { id } = results.find((each: any) => each.path === box || each.specialUse === box);
    const { status, body } = await by.api.post(`${boxes}/${id}/messages`, {
      subject,
      from: { address: from },
      to: [{ address: to }],
      text: 'x',
    });
    expect([status, body.error]).toEqual([200, undefined]);
    return `${id}/${body.message.id}`;
  };

  test('are those of the caller with the attendees or the words of the event', async () => {
    const received = await store(ann, 'INBOX', 'Re: lunch', 'Olga@side.example', ann.email);
    const sent = await store(ann, '\\Sent', 'Agenda', ann.email, 'olga@side.example');
    const about = await store(ann, 'INBOX', 'Minutes: ZEPHYR Planning (draft)', 'x@y.example', ann.email);
    const word = await store(ann, 'INBOX', 'Zephyr?', 'x@y.example', ann.email);
    await store(ann, 'INBOX', 'Zephyrs and plans', 'x@y.example', ann.email);
    await store(ann, '\\Trash', 'Zephyr planning', 'olga@side.example', ann.email);
    const foreign = await store(bob, 'INBOX', 'Zephyr planning', 'olga@side.example', bob.email);
    const calendar = (await ann.api.get('/calendar')).body.calendars[0].id;
    const { event } = (
      await ann.api.post(`/calendar/${calendar}/events`, {
        title: 'Zephyr planning',
        start: '2026-05-04T10:00:00Z',
        end: '2026-05-04T11:00:00Z',
        send_updates: 'none',
        attendees: ['olga@side.example', bob.id],
      })
    ).body;
    const found = await related(ann, `event_id=${event.id}`);
    const byId = Object.fromEntries(found.map(({ id, ...item }) => [id, item]));
    expect(Object.keys(byId).toSorted()).toEqual([received, sent, about, word].toSorted());
    expect(byId[received]).toEqual({
      title: 'Re: lunch',
      reason: 'attendee',
      score: 0.6,
      date: expect.stringMatching(/Z$/),
    });
    expect(byId[sent].reason).toBe('attendee');
    expect([byId[about].score, byId[word].score]).toEqual([0.5, 0.3]);
    expect((await related(ann, 'q=zephyr&limit=1')).map(({ reason }) => reason)).toEqual(['title']);
    expect(await related(ann, 'q=zephyr&types=notes')).toEqual([]);
    // Its only letter or mark is a variation selector.
    expect(await related(ann, `q=${encodeURIComponent('☕\ufe0f')}`)).toEqual([]);
    expect((await related(bob, 'email=olga@side.example')).map(({ id }) => id)).toEqual([foreign]);
    const [mailbox, message] = about.split('/');
    expect((await ann.api.get(`${boxes}/${mailbox}/messages/${message}`)).body.subject).toBe(
      'Minutes: ZEPHYR Planning (draft)',
    );
  });

  test('are none while the mail service does not respond; the other items are there', async () => {
    await mail.stop();
    const { status, body } = await ann.api.get('/calendar/related?email=olga@side.example');
    const { messages, events } = body.related;
    expect([status, messages]).toEqual([200, []]);
    expect(events.map(({ title }: any) => title)).toEqual(['Zephyr planning']);
  });
});

describe('the transfer of calendars to another member', () => {
  test('the new owner organizes the events; shares and responses stay', async () => {
    const app = await TestApp.start();
    try {
      const [owner, leaver, heir, reader] = await app.tenant('acme', 'owner', 'leaver', 'heir', 'reader');
      const { id } = (await leaver.api.post('/calendar', { name: 'Team' })).body.calendar;
      await leaver.api.put(`/calendar/${id}`, {
        shares: [
          { user_id: heir.id, role: 'writer' },
          { user_id: reader.id, role: 'reader' },
        ],
      });
      const { event } = (
        await leaver.api.post(`/calendar/${id}/events`, {
          title: 'Weekly',
          start: '2026-05-04T10:00:00Z',
          recurrence: { rules: ['FREQ=WEEKLY'] },
          attendees: [reader.id],
        })
      ).body;
      const own = (await reader.api.get('/calendar')).body.calendars.find(
        (each: any) => each.kind === 'own',
      ).id;
      await reader.api.put(`/calendar/${own}/events/${event.id}/rsvp`, { response: 'accepted' });
      const token = (await reader.api.post(`/calendar/${own}/sync`, {})).body.sync_token;
      await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
      const moved = await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id });
      expect([moved.status, moved.body.error]).toEqual([200, undefined]);
      const found = (await heir.api.get('/calendar')).body.calendars.find((each: any) => each.id === id);
      expect(found).toMatchObject({ role: 'owner', kind: 'own', is_default: false, owner: { id: heir.id } });
      expect(found.shares.map(({ user_id }: any) => user_id)).toEqual([reader.id]);
      const path = `/calendar/${id}/events/${event.id}`;
      const read = (await heir.api.get(path)).body.event;
      expect(read).toMatchObject({
        organizer: { id: heir.id, self: true },
        attendees: [{ user_id: reader.id, response: 'accepted' }],
        permissions: { edit: true },
      });
      const { changes } = (await reader.api.post(`/calendar/${own}/sync`, { sync_token: token })).body;
      expect(changes).toMatchObject([{ op: 'upsert', event: { id: event.id, organizer: { id: heir.id } } }]);
      expect((await heir.api.put(path, { title: 'Ours' })).status).toBe(200);
    } finally {
      await app.stop();
    }
  });

  test('events that move into the default calendar of the new owner, who is an attendee, are not cancelled', async () => {
    const app = await TestApp.start();
    try {
      const [owner, leaver, heir, guest] = await app.tenant('acme', 'owner', 'leaver', 'heir', 'guest');
      const home = async ({ api }: TestUser) => (await api.get('/calendar')).body.calendars[0].id;
      const [heirs, guests] = [await home(heir), await home(guest)];
      const { id } = (await leaver.api.post('/calendar', { name: 'Team' })).body.calendar;
      const { event } = (
        await leaver.api.post(`/calendar/${id}/events`, {
          title: 'Weekly',
          start: '2026-05-04T10:00:00Z',
          attendees: [heir.id, guest.id],
        })
      ).body;
      await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
      await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id });
      const token = (await guest.api.post(`/calendar/${guests}/sync`, {})).body.sync_token;
      expect((await heir.api.delete(`/calendar/${id}?move_events_to=${heirs}`)).status).toBe(200);
      expect((await heir.api.get(`/calendar/${heirs}/events/${event.id}`)).body.event).toMatchObject({
        status: 'confirmed',
        permissions: { edit: true },
      });
      const { changes } = (await guest.api.post(`/calendar/${guests}/sync`, { sync_token: token })).body;
      expect(changes).toMatchObject([{ op: 'upsert', event: { id: event.id, status: 'confirmed' } }]);
    } finally {
      await app.stop();
    }
  });
});
