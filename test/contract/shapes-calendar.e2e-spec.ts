import { TestApp, type TestUser } from '../support/app.ts';
import { at, defaultCalendar } from '../support/domains/calendars.ts';
import { TestMailService } from '../support/mail/mail-service.ts';
import { fits } from '../support/contract/shapes.ts';

const OUTSIDE = 'zoe@far.example';
const MARCH = 'from=2027-03-01&to=2027-04-01';

describe('responses of calendars have exactly the described shape', () => {
  let mail: TestMailService;
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let anns: string;
  let bobs: string;

  beforeAll(async () => {
    mail = await TestMailService.start();
    app = await TestApp.start({ ...mail.settings, MAIL_ACCOUNTS: 'create' });
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    await ann.api.get('/mail/users/me/mailboxes');
    [anns, bobs] = [await defaultCalendar(ann), await defaultCalendar(bob)];
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  const series = {
    title: 'Stand-up',
    description: 'Agenda',
    location: 'Room 1',
    start: at('2027-03-01T09:00:00'),
    duration: 'PT15M',
    recurrence: { rules: ['FREQ=DAILY;COUNT=10'] },
    reminders: { overrides: [{ method: 'popup', minutes: 5 }] },
    categories: ['team'],
    links: [{ type: 'url', url: 'https://work.example/agenda', title: 'Agenda' }],
  };
  const create = async (fields: object) =>
    (await ann.api.post(`/calendar/${anns}/events`, fields)).body.event;

  test('calendars and feeds', async () => {
    const shares = [{ user_id: bob.id, role: 'writer' }];
    const created = await ann.api.post('/calendar', { name: 'Team', shares, color: '#ff0000' });
    fits('createCalendar', created);
    const { id } = created.body.calendar;
    fits('listCalendars', await bob.api.get('/calendar?limit=1'));
    fits('updateCalendar', await bob.api.put(`/calendar/${id}`, { hidden: true, order: 3 }));
    fits('updateCalendar', await ann.api.put(`/calendar/${id}`, { name: 'Crew' }));
    const feed = await ann.api.post(`/calendar/${id}/feeds`, { details: 'busy' });
    fits('createCalendarFeed', feed);
    fits('listCalendarFeeds', await ann.api.get(`/calendar/${id}/feeds`));
    fits('deleteCalendarFeed', await ann.api.delete(`/calendar/${id}/feeds/${feed.body.feed.id}`));
    fits('deleteCalendar', await ann.api.delete(`/calendar/${id}`));
  });

  test('events, instances, changes of one instance, responses and proposals', async () => {
    const created = await ann.api.post(`/calendar/${anns}/events`, {
      ...series,
      attendees: [bob.id, OUTSIDE],
    });
    fits('createEvent', created);
    const { id } = created.body.event;
    const [path, own] = [`/calendar/${anns}/events/${id}`, `/calendar/${bobs}/events/${id}`];
    const recurrence_id = at('2027-03-03T09:00:00');
    const moved = { start: at('2027-03-03T11:00:00'), scope: 'this', recurrence_id };
    fits('updateEvent', await ann.api.put(path, moved));
    const later = { recurrence_id: at('2027-03-08T09:00:00'), scope: 'this_and_following' };
    fits('updateEvent', await ann.api.put(path, { title: 'Later', ...later }));
    fits('readEvent', await ann.api.get(`${path}?include=overrides,history,proposals`));
    fits('listEvents', await ann.api.get(`/calendar/${anns}/events?${MARCH}&include=overrides&limit=1`));
    fits('listInstances', await ann.api.get(`/calendar/${anns}/instances?${MARCH}&limit=3`));
    fits('respondToEvent', await bob.api.put(`${own}/rsvp`, { response: 'accepted' }));
    const proposal = { start: at('2027-03-03T15:00:00'), end: at('2027-03-03T15:15:00'), recurrence_id };
    const proposed = await bob.api.post(`${own}/proposals`, proposal);
    fits('proposeTime', proposed);
    const decline = { proposal_id: proposed.body.proposal.id, action: 'decline' };
    fits('proposeTime', await ann.api.post(`${path}/proposals`, decline));
    fits('searchEvents', await ann.api.get('/search/calendar?q=stand'));
    fits('suggestTitles', await ann.api.get('/calendar/title-suggestions?q=stand'));
    fits('listRelatedItems', await ann.api.get(`/calendar/related?event_id=${id}`));
    fits('deleteEvent', await ann.api.delete(path, { scope: 'this', recurrence_id }));
    fits('deleteEvent', await bob.api.delete(own));
  });

  test('batch and synchronisation', async () => {
    const { id } = await create({ ...series, visibility: 'private' });
    const operations = [
      { op: 'create', client_id: 'a', event: { title: 'One', start: '2027-03-05' } },
      { op: 'update', event_id: id, event: { title: 'Two' }, base_revision: 1 },
      { op: 'update', event_id: id, event: { title: 'Three' }, base_revision: 1 },
      { op: 'delete', event_id: id },
    ];
    fits('batchEvents', await ann.api.post(`/calendar/${anns}/events/batch`, { operations }));
    const first = await ann.api.post(`/calendar/${anns}/sync`, {});
    fits('syncCalendar', first);
    const one = await create(series);
    const gone = await create(series);
    await ann.api.delete(`/calendar/${anns}/events/${gone.id}`);
    const changes = [
      { op: 'upsert', client_id: 'x', event: { title: 'Pushed', start: '2027-03-06' } },
      { op: 'upsert', event_id: one.id, base_revision: 9, event: { title: 'Stale' } },
    ];
    const { sync_token } = first.body;
    const pushed = { sync_token, changes, conflict: 'report' };
    fits('syncCalendar', await ann.api.post(`/calendar/${anns}/sync`, pushed));
  });

  test('scheduling messages', async () => {
    const base = `/calendar/${anns}/scheduling`;
    const { id } = await create({ ...series, attendees: [OUTSIDE], send_updates: 'none' });
    const sent = await ann.api.post(`${base}/outbox`, { method: 'REQUEST', event_id: id });
    fits('sendSchedulingMessage', sent);
    const ics = [
      'BEGIN:VCALENDAR',
      'METHOD:REQUEST',
      'BEGIN:VEVENT',
      'UID:shape@far.example',
      'DTSTAMP:20270101T090000Z',
      'DTSTART:20270301T090000Z',
      `ORGANIZER:mailto:${OUTSIDE}`,
      `ATTENDEE:mailto:${ann.email}`,
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
    for (let n = 0; n < 2; n += 1)
      fits('takeSchedulingMessage', await ann.api.post(`${base}/inbox`, { ics }));
    fits('listSchedulingMessages', await ann.api.get(`${base}/messages?limit=1`));
    fits('readSchedulingMessage', await ann.api.get(`${base}/messages/${sent.body.message.id}`));
  });

  test('free/busy, polls and holidays', async () => {
    const window = { from: '2027-03-01T00:00:00Z', to: '2027-03-06T00:00:00Z' };
    const attendees = [bob.email, { user_id: ann.id }, { calendar_id: anns }, OUTSIDE];
    const suggest = { duration_minutes: 30, required: [bob.email] };
    fits(
      'queryFreeBusy',
      await ann.api.post('/calendar/scheduling/free_busy', { ...window, attendees, suggest }),
    );
    const options = [{ start: '2027-03-02T09:00:00' }, { start: '2027-03-03T09:00:00' }];
    const fields = {
      title: 'When?',
      time_zone: 'Europe/Berlin',
      options,
      participants: [bob.email, OUTSIDE],
    };
    const made = await ann.api.post('/calendar/polls', { ...fields, hold: true });
    fits('createPoll', made);
    const path = `/calendar/polls/${made.body.poll.id}`;
    const [{ id: option_id }] = made.body.poll.options;
    fits('votePoll', await bob.api.post(`${path}/vote`, { votes: [{ option_id, answer: 'yes' }] }));
    fits('readPoll', await bob.api.get(`${path}?time_zone=America/New_York`));
    fits('finalizePoll', await ann.api.post(`${path}/finalize`, { option_id }));
    const other = await ann.api.post('/calendar/polls', fields);
    fits('cancelPoll', await ann.api.post(`/calendar/polls/${other.body.poll.id}/cancel`));
    fits('listHolidays', await ann.api.get('/calendar/holidays'));
    fits('listHolidays', await ann.api.get('/calendar/holidays?country=DE&region=BY&year=2027'));
    const subscriptions = [{ country: 'DE', region: 'BY', busy: true }];
    fits(
      'replaceHolidaySubscriptions',
      await ann.api.put('/calendar/holiday-subscriptions', { subscriptions }),
    );
    fits('readHolidaySubscriptions', await ann.api.get('/calendar/holiday-subscriptions'));
    const ofAll = { subscriptions: [{ country: 'CZ' }] };
    fits(
      'replaceTenantHolidaySubscriptions',
      await ann.api.put('/calendar/holiday-subscriptions/tenant', ofAll),
    );
    fits(
      'listEffectiveHolidays',
      await ann.api.get('/calendar/holidays/effective?from=2027-01-01&to=2027-12-31'),
    );
  });
});
