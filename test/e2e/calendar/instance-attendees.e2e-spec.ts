import type { TestApp, TestUser } from '../../support/app.ts';
import {
  at,
  eventPath,
  instancesOf,
  newCalendar,
  newEvent,
  startMeetings,
} from '../../support/domains/calendars.ts';

/** Mondays at nine: 2, 9, 16, 23 and 30 March 2026. */
const WEEKLY = { rules: ['FREQ=WEEKLY;BYDAY=MO;COUNT=5'] };
const ZOE = 'zoe@outside.example';
const KIM = 'kim@outside.example';

describe('attendees and visibility of one instance', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let eve: TestUser;
  let calendar: string;
  let bobs: string;
  let eves: string;

  beforeAll(async () => {
    ({ app, ann, bob, eve, calendar, bobs, eves } = await startMeetings());
  });
  afterAll(() => app?.stop());

  const series = (fields: object = {}) =>
    newEvent(ann, calendar, {
      title: 'Weekly',
      description: 'Notes of the team',
      start: at('2026-03-02T09:00:00'),
      duration: 'PT1H',
      recurrence: WEEKLY,
      attendees: [bob.id],
      ...fields,
    });
  const put = async (event: { id: string }, fields: object, person = ann, of = calendar) => {
    const { status, body } = await person.api.put(eventPath(of, event), fields);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.event;
  };
  const change = (event: { id: string }, day: string, fields: object) =>
    put(event, { scope: 'this', recurrence_id: at(`${day}T09:00:00`), ...fields });
  const days = async (person: TestUser, of: string, event: { id: string }) =>
    (await instancesOf(person, of, '2026-03-01', '2026-06-01'))
      .filter(({ series_id }) => series_id === event.id)
      .map(({ start }) => start.date_time.slice(5, 10));
  const at9 = async (person: TestUser, of: string, event: { id: string }, day: string) =>
    person.api.get(`${eventPath(of, event)}?recurrence_id=${day}T09:00:00`);
  const names = ({ attendees }: any) => attendees.map(({ email }: any) => email.split('@')[0]).toSorted();
  const messages = async (event: { id: string }) => {
    const rows = await app.sql(
      `SELECT payload FROM outbox WHERE type = 'calendar.message.due' AND payload->>'event_id' = $1 ORDER BY id`,
      [event.id],
    );
    await app.sql(`DELETE FROM outbox WHERE payload->>'event_id' = $1`, [event.id]);
    return rows
      .map(({ payload }: any) =>
        [payload.method, payload.recipient.split('@')[0], payload.recurrence_key.slice(5, 10)]
          .join(' ')
          .trim(),
      )
      .toSorted();
  };
  const busy = async (person: TestUser) => {
    const { body } = await ann.api.post('/calendar/scheduling/free_busy', {
      from: '2026-03-01T00:00:00Z',
      to: '2026-04-15T00:00:00Z',
      attendees: [person.email],
    });
    return body.free_busy[0].busy.map(({ start }: any) => start.slice(5, 10));
  };

  test('a guest of one instance sees this instance only: windows, lists, feed, export, free/busy', async () => {
    const event = await series();
    const changed = await change(event, '2026-03-16', { title: 'With Eve', attendees: [bob.id, eve.id] });
    expect([changed.type, names(changed)]).toEqual(['exception', ['bob', 'eve']]);
    expect(names((await at9(ann, calendar, event, '2026-03-09')).body.event)).toEqual(['bob']);
    expect(names((await ann.api.get(eventPath(calendar, event))).body.event)).toEqual(['bob']);

    expect(await days(eve, eves, event)).toEqual(['03-16']);
    expect(await days(bob, bobs, event)).toEqual(['03-02', '03-09', '03-16', '03-23', '03-30']);
    const own = (await at9(eve, eves, event, '2026-03-16')).body.event;
    expect(own).toMatchObject({ title: 'With Eve', my_response: 'needs_action', series_id: event.id });
    expect(own.permissions).toMatchObject({ rsvp: true, edit: false });
    for (const day of ['2026-03-02', '2026-03-09'])
      expect((await at9(eve, eves, event, day)).body.error).toBe('not_an_instance');

    // The series is one of this date, with the content of the instance.
    const { body } = await eve.api.get(`${eventPath(eves, event)}?include=overrides&include=history`);
    expect(body.event).toMatchObject({
      type: 'series',
      title: 'With Eve',
      start: at('2026-03-16T09:00:00'),
      recurrence: { rules: [], added: [at('2026-03-16T09:00:00')], excluded: [] },
      attendees: [{ email: bob.email }],
    });
    expect(body.overrides.map(({ recurrence_id }: any) => recurrence_id.date_time)).toEqual([
      '2026-03-16T09:00:00',
    ]);
    const { changes } = (await eve.api.post(`/calendar/${eves}/sync`, { sync_token: null })).body;
    const synced = changes.find((each: any) => each.event?.id === event.id);
    expect([synced.event.title, synced.overrides.map(({ title }: any) => title)]).toEqual([
      'With Eve',
      ['With Eve'],
    ]);
    const listed = (await eve.api.get(`/calendar/${eves}/events?from=2026-03-16&to=2026-03-17`)).body.events;
    expect(listed.map(({ id }: any) => id)).toContain(event.id);
    const before = (await eve.api.get(`/calendar/${eves}/events?from=2026-01-01&to=2026-03-10`)).body.events;
    expect(before.map(({ id }: any) => id)).not.toContain(event.id);
    const exported = (await eve.api.get(`/calendar/${eves}/export.ics`)).text;
    expect(exported).toContain('SUMMARY:With Eve');
    expect(exported).not.toMatch(/Notes of the team.*\n.*RRULE|SUMMARY:Weekly/);
    expect(await busy(eve)).toEqual(['03-16']);
    await ann.api.delete(eventPath(calendar, event));
  });

  test('a guest of one instance responds to it, and to all: the organizer sees the response there', async () => {
    const event = await series();
    await change(event, '2026-03-16', { attendees: [bob.id, eve.id] });
    const respond = (fields: object) => eve.api.put(`${eventPath(eves, event)}/rsvp`, fields);
    const elsewhere = await respond({ response: 'accepted', recurrence_id: at('2026-03-09T09:00:00') });
    expect([elsewhere.status, elsewhere.body.error]).toEqual([422, 'not_an_instance']);
    await respond({ response: 'tentative', recurrence_id: at('2026-03-16T09:00:00'), comment: 'Perhaps' });
    const row = async () =>
      (await at9(ann, calendar, event, '2026-03-16')).body.event.attendees.find(
        ({ email }: any) => email === eve.email,
      );
    expect(await row()).toMatchObject({ response: 'tentative', comment: 'Perhaps' });
    expect((await respond({ response: 'accepted' })).status).toBe(200);
    expect(await row()).toMatchObject({ response: 'accepted' });
    const proposed = await eve.api.post(`${eventPath(eves, event)}/proposals`, {
      start: at('2026-03-16T15:00:00'),
      end: at('2026-03-16T16:00:00'),
      recurrence_id: at('2026-03-16T09:00:00'),
    });
    expect(proposed.status).toBe(201);
    await ann.api.post(`${eventPath(calendar, event)}/proposals`, {
      proposal_id: proposed.body.proposal.id,
      action: 'accept',
    });
    const moved = (await at9(eve, eves, event, '2026-03-16')).body.event;
    expect(moved).toMatchObject({ start: at('2026-03-16T15:00:00'), my_response: 'needs_action' });
    // The guest removes the instance from the calendar, which declines it.
    expect((await eve.api.delete(eventPath(eves, event))).status).toBe(200);
    expect(await row()).toMatchObject({ response: 'declined' });
    expect(await days(eve, eves, event)).toEqual([]);
  });

  test('an attendee removed from one instance no longer sees it; the others keep their responses', async () => {
    const event = await series({ attendees: [bob.id, eve.id] });
    await bob.api.put(`${eventPath(bobs, event)}/rsvp`, { response: 'accepted' });
    await change(event, '2026-03-09', { attendees: [bob.id] });
    expect(await days(eve, eves, event)).toEqual(['03-02', '03-16', '03-23', '03-30']);
    expect((await at9(eve, eves, event, '2026-03-09')).body.error).toBe('not_an_instance');
    expect(await busy(eve)).not.toContain('03-09');
    const seen = (await at9(bob, bobs, event, '2026-03-09')).body.event;
    expect([names(seen), seen.my_response]).toEqual([['bob'], 'accepted']);
    // A response to the whole event leaves the absence as it is.
    await eve.api.put(`${eventPath(eves, event)}/rsvp`, { response: 'accepted' });
    expect(await days(eve, eves, event)).toEqual(['03-02', '03-16', '03-23', '03-30']);
    // Invited again, the attendee has the response to the whole event.
    const back = await change(event, '2026-03-09', { attendees: [bob.id, eve.id] });
    expect(back.attendees.map(({ response }: any) => response)).toEqual(['accepted', 'accepted']);
    expect(await days(eve, eves, event)).toEqual(['03-02', '03-09', '03-16', '03-23', '03-30']);
    // Another role at one instance, which a response keeps.
    await change(event, '2026-03-23', { attendees: [bob.id, { id: eve.id, role: 'optional' }] });
    await eve.api.put(`${eventPath(eves, event)}/rsvp`, { response: 'declined' });
    const optional = (await at9(ann, calendar, event, '2026-03-23')).body.event.attendees[1];
    expect(optional).toMatchObject({ email: eve.email, role: 'optional', response: 'declined' });
    // Repeating the attendees of a response changes nothing.
    const same = (await at9(ann, calendar, event, '2026-03-23')).body.event;
    const again = await change(event, '2026-03-23', { attendees: same.attendees });
    expect(again.revision).toBe(same.revision);
  });

  test('guests of an instance go with it: series moved, split, shortened, instance deleted, attendees replaced', async () => {
    const event = await series();
    await change(event, '2026-03-09', { attendees: [] });
    await change(event, '2026-03-23', { attendees: [bob.id, eve.id] });
    await eve.api.put(`${eventPath(eves, event)}/rsvp`, { response: 'accepted' });
    // The series moves to Tuesdays at ten: all responses are reset, the attendees of each instance stay.
    await put(event, {
      start: at('2026-03-03T10:00:00'),
      recurrence: { rules: ['FREQ=WEEKLY;BYDAY=TU;COUNT=5'] },
    });
    expect(await days(eve, eves, event)).toEqual(['03-24']);
    expect(await days(bob, bobs, event)).toEqual(['03-03', '03-17', '03-24', '03-31']);
    expect(
      (await eve.api.get(`${eventPath(eves, event)}?recurrence_id=2026-03-24T10:00:00`)).body.event,
    ).toMatchObject({ my_response: 'needs_action', start: at('2026-03-24T10:00:00') });
    // Other attendees of the series: the guest of one instance stays.
    await put(event, { attendees: [] });
    expect([await days(bob, bobs, event), await days(eve, eves, event)]).toEqual([[], ['03-24']]);
    await put(event, { attendees: [bob.id] });

    const { body } = await ann.api.put(eventPath(calendar, event), {
      scope: 'this_and_following',
      recurrence_id: at('2026-03-17T10:00:00'),
      title: 'Later',
    });
    const later = body.new_event;
    expect([await days(eve, eves, event), await days(eve, eves, later)]).toEqual([[], ['03-24']]);
    expect((await eve.api.get(eventPath(eves, event))).status).toBe(404);
    expect(await days(bob, bobs, later)).toEqual(['03-17', '03-24', '03-31']);
    // The series ends before the instance.
    await put(later, { recurrence: { rules: ['FREQ=WEEKLY;BYDAY=TU;COUNT=1'] } });
    expect((await eve.api.get(eventPath(eves, later))).status).toBe(404);
    expect(await days(bob, bobs, later)).toEqual(['03-17']);

    const other = await series({ start: at('2026-04-06T09:00:00'), attendees: [] });
    await change(other, '2026-04-13', { attendees: [eve.id] });
    expect(await days(eve, eves, other)).toEqual(['04-13']);
    await ann.api.delete(eventPath(calendar, other), {
      scope: 'this',
      recurrence_id: at('2026-04-13T09:00:00'),
    });
    expect((await eve.api.get(eventPath(eves, other))).status).toBe(404);
    const gone = (await eve.api.post(`/calendar/${eves}/sync`, { sync_token: null })).body.changes;
    expect(gone.filter((each: any) => each.op === 'upsert' && each.event.id === other.id)).toEqual([]);
  });

  test('guests outside get messages about their instance only', async () => {
    const event = await series({ attendees: [ZOE] });
    expect(await messages(event)).toEqual(['REQUEST zoe']);
    await change(event, '2026-03-09', { attendees: [ZOE, KIM] });
    expect(await messages(event)).toEqual(['REQUEST kim 03-09', 'REQUEST zoe 03-09']);
    await change(event, '2026-03-16', { attendees: [] });
    expect(await messages(event)).toEqual(['CANCEL zoe 03-16']);
    await put(event, { title: 'Renamed' });
    expect(await messages(event)).toEqual(['REQUEST kim 03-09', 'REQUEST zoe']);
    await put(event, { start: at('2026-03-02T10:00:00') });
    expect(await messages(event)).toEqual(['CANCEL kim 03-09', 'REQUEST kim 03-09', 'REQUEST zoe']);
    const outside = async () => (await ann.api.get(`${eventPath(calendar, event)}?include=overrides`)).body;
    expect((await outside()).overrides.map(names)).toEqual([['kim', 'zoe'], []]);
    await ann.api.delete(eventPath(calendar, event), {
      scope: 'this',
      recurrence_id: at('2026-03-09T10:00:00'),
    });
    expect(await messages(event)).toEqual(['CANCEL kim 03-09', 'CANCEL zoe 03-09']);
    await ann.api.delete(eventPath(calendar, event));
    expect(await messages(event)).toEqual(['CANCEL zoe']);
  });

  test('an instance is private, or public in a private series; rules, calendar and proposals are of the whole event', async () => {
    const shared = await newCalendar(ann, 'Shared', [{ user_id: bob.id, role: 'reader' }]);
    const event = await newEvent(ann, shared, {
      title: 'Open',
      start: at('2026-03-02T09:00:00'),
      recurrence: WEEKLY,
    });
    const hide = {
      scope: 'this',
      recurrence_id: at('2026-03-09T09:00:00'),
      visibility: 'private',
      title: 'Hidden',
    };
    expect(await put(event, hide, ann, shared)).toMatchObject({ visibility: 'private', title: 'Hidden' });
    const titles = async () =>
      (await instancesOf(bob, shared, '2026-03-01', '2026-04-01')).map(({ title, visibility }) => [
        title,
        visibility,
      ]);
    const open = ['Open', 'default'];
    expect(await titles()).toEqual([open, ['', 'private'], open, open, open]);
    const { body } = await bob.api.get(`${eventPath(shared, event)}?include=overrides`);
    expect(JSON.stringify(body)).not.toContain('Hidden');
    expect(body.overrides).toMatchObject([{ title: '', permissions: { see_details: false } }]);
    const feed = await bob.api.post(`/calendar/${shared}/sync`, { sync_token: null });
    expect(JSON.stringify(feed.body)).not.toContain('Hidden');
    const found = await bob.api.get(`/calendar/${shared}/instances?from=2026-03-01&to=2026-04-01&q=hidden`);
    expect(found.body.instances).toEqual([]);
    const ics = (await bob.api.get(`/calendar/${shared}/export.ics`)).text;
    expect([ics.includes('SUMMARY:Open'), ics.includes('SUMMARY:Busy'), ics.includes('Hidden')]).toEqual([
      true,
      true,
      false,
    ]);

    await put(event, { visibility: 'private' }, ann, shared);
    await put(event, { ...hide, visibility: 'public', title: 'Shown' }, ann, shared);
    expect((await titles()).map(([title]) => title)).toEqual(['', 'Shown', '', '', '']);

    for (const fields of [
      { recurrence: WEEKLY },
      { proposals_allowed: false },
      { calendar_id: calendar },
      { rrule: 'FREQ=DAILY' },
    ]) {
      const refused = await ann.api.put(eventPath(shared, event), {
        scope: 'this',
        recurrence_id: at('2026-03-16T09:00:00'),
        ...fields,
      });
      expect([refused.status, refused.body.details[0].code]).toEqual([422, 'whole_event_only']);
    }
    const proposed = await ann.api.put(eventPath(shared, event), { attendees: [eve.id] });
    expect(proposed.status).toBe(200);
    await put(event, { ...hide, visibility: 'private' }, ann, shared);
    const other = await eve.api.post(`${eventPath(eves, event)}/proposals`, {
      start: at('2026-03-09T11:00:00'),
      end: at('2026-03-09T12:00:00'),
      recurrence_id: hide.recurrence_id,
      comment: 'Not for Bob',
    });
    expect(other.status).toBe(201);
    await put(event, { visibility: 'default' }, ann, shared);
    const comments = async (person: TestUser) =>
      (await person.api.get(`${eventPath(shared, event)}?include=proposals`)).body.event.proposals.map(
        ({ comment }: any) => comment,
      );
    expect([await comments(ann), await comments(bob)]).toEqual([['Not for Bob'], []]);
    const unknown = await ann.api.put(eventPath(shared, event), {
      scope: 'this',
      recurrence_id: at('2026-03-16T09:00:00'),
      attendees: [{ user_id: '01890a5d-ac96-774b-bcce-b302099a8057' }],
    });
    expect([unknown.status, unknown.body.error]).toEqual([422, 'unknown_user']);
  });
});
