import type { TestApp, TestUser } from '../../support/app.ts';
import {
  at,
  eventPath,
  instancesOf,
  newEvent,
  responsesOf,
  startMeetings,
} from '../../support/domains/calendars.ts';

describe('an attendee who removes dates of a series', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let eve: TestUser;
  let calendar: string;
  let bobs: string;
  let eves: string;
  let event: any;

  beforeAll(async () => {
    ({ app, ann, bob, eve, calendar, bobs, eves } = await startMeetings());
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    event = await newEvent(ann, calendar, {
      title: 'Weekly',
      start: at('2026-05-04T09:00:00'),
      rrule: 'FREQ=WEEKLY;COUNT=5',
      attendees: [bob.id],
    });
  });

  const days = async (person: TestUser, of: string, series = event.id): Promise<string[]> =>
    (await instancesOf(person, of, '2026-05-01', '2026-07-01'))
      .filter(({ series_id }) => series_id === series)
      .map(({ start, my_response }) => `${start.date_time.slice(5, 10)} ${my_response}`);
  const removeIn = async (person: TestUser, of: string, day: string, scope = 'this') => {
    const query = { scope, recurrence_id: at(`${day}T09:00:00`) };
    expect((await person.api.delete(eventPath(of, event), query)).status).toBe(200);
  };
  const remove = (day: string, scope: string) => removeIn(bob, bobs, day, scope);
  const change = async (fields: object, day?: string, scope = 'this') => {
    const one = day === undefined ? {} : { scope, recurrence_id: at(`${day}T09:00:00`) };
    const { status, body } = await ann.api.put(eventPath(calendar, event), { ...one, ...fields });
    expect([status, body.error]).toEqual([200, undefined]);
    return body;
  };
  const answer = (on: string) =>
    ann.api
      .get(`${eventPath(calendar, event)}?recurrence_id=${on}T09:00:00`)
      .then(({ body }) => responsesOf(body.event)['bob']);

  test('no longer sees one date; the organizer sees that it is declined', async () => {
    await remove('2026-05-11', 'this');
    const left = ['05-04', '05-18', '05-25', '06-01'];
    expect(await days(bob, bobs)).toEqual(left.map((day) => `${day} needs_action`));
    expect([await answer('2026-05-11'), await answer('2026-05-18')]).toEqual(['declined', 'needs_action']);
    const path = `${eventPath(bobs, event)}?recurrence_id=2026-05-11T09:00:00`;
    expect((await bob.api.get(path)).body.error).toBe('not_an_instance');
    const ics = (await bob.api.get(`/calendar/${bobs}/export.ics`)).text;
    expect(ics).toContain('EXDATE;TZID=Europe/Berlin:20260511T090000');

    await bob.api.put(`${eventPath(bobs, event)}/rsvp`, { response: 'accepted' });
    await ann.api.put(eventPath(calendar, event), { title: 'Weekly meeting' });
    expect(await days(bob, bobs)).toEqual(left.map((day) => `${day} accepted`));
    // A new time of the date is a new question.
    await ann.api.put(eventPath(calendar, event), {
      recurrence_id: at('2026-05-11T09:00:00'),
      start: at('2026-05-12T09:00:00'),
    });
    expect(await days(bob, bobs)).toContain('05-12 needs_action');
  });

  test('no longer sees a date and the later ones, also of an endless series', async () => {
    await ann.api.put(eventPath(calendar, event), { rrule: 'FREQ=WEEKLY' });
    await remove('2026-05-11', 'this');
    await remove('2026-05-25', 'this_and_following');
    expect(await days(bob, bobs)).toEqual(['05-04 needs_action', '05-18 needs_action']);
    expect([await answer('2026-05-25'), await answer('2026-06-22')]).toEqual(['declined', 'declined']);
    await remove('2026-05-04', 'this_and_following');
    expect(await days(bob, bobs)).toEqual([]);
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(404);
    await ann.api.put(eventPath(calendar, event), { start: at('2026-05-05T09:00:00') });
    expect((await days(bob, bobs)).slice(0, 2)).toEqual(['05-05 needs_action', '05-12 needs_action']);
  });

  test.each([
    ['deletes the date', (day: string) => removeIn(ann, calendar, day)],
    ['no longer invites the guest', (day: string) => change({ attendees: [bob.id] }, day)],
  ])('and was invited to some dates only: the organizer %s that is left', async (_, end) => {
    await change({ attendees: [bob.id, eve.id] }, '2026-05-11');
    await change({ attendees: [bob.id, eve.id] }, '2026-05-18');
    expect(await days(eve, eves)).toHaveLength(2);
    await removeIn(eve, eves, '2026-05-11');
    await end('2026-05-18');
    expect(await days(eve, eves)).toEqual([]);
    expect((await eve.api.get(eventPath(eves, event))).status).toBe(404);
    expect((await eve.api.get(`/calendar/${eves}/export.ics`)).text).not.toContain(event.uid);
    // A new time of the removed date is a new question.
    await change({ start: at('2026-05-12T09:00:00') }, '2026-05-11');
    expect(await days(eve, eves)).toEqual(['05-12 needs_action']);
  });

  test('and the later ones sees a later date that gets a new time', async () => {
    await remove('2026-05-25', 'this_and_following');
    await change({ start: at('2026-06-02T09:00:00') }, '2026-06-01');
    const early = ['05-04 needs_action', '05-11 needs_action', '05-18 needs_action'];
    expect(await days(bob, bobs)).toEqual([...early, '06-02 needs_action']);
    await remove('2026-05-04', 'this_and_following');
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(404);
    await change({ start: at('2026-05-05T09:00:00') }, '2026-05-04');
    expect(await days(bob, bobs)).toEqual(['05-05 needs_action']);
    await change({ title: 'Other' }, '2026-05-11');
    expect(await days(bob, bobs)).toEqual(['05-05 needs_action']);
  });

  test('does not see them in a new series of the later dates until these move', async () => {
    await remove('2026-05-25', 'this_and_following');
    const { new_event: later } = await change({ title: 'New' }, '2026-05-25', 'this_and_following');
    expect(await days(bob, bobs, later.id)).toEqual([]);
    expect((await bob.api.get(eventPath(bobs, later))).status).toBe(404);
    expect(await days(bob, bobs)).toHaveLength(3);
    await ann.api.put(eventPath(calendar, later), { start: at('2026-05-26T09:00:00') });
    expect(await days(bob, bobs, later.id)).toEqual(['05-26 needs_action', '06-02 needs_action']);
  });

  test('one by one sees further dates of the series, but not after they deleted the series', async () => {
    await change({ rrule: 'FREQ=WEEKLY;COUNT=2' });
    await bob.api.put(`${eventPath(bobs, event)}/rsvp`, { response: 'accepted' });
    await remove('2026-05-04', 'this');
    await remove('2026-05-11', 'this');
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(404);
    await change({ rrule: 'FREQ=WEEKLY;COUNT=4' });
    expect(await days(bob, bobs)).toEqual(['05-18 accepted', '05-25 accepted']);
    expect((await bob.api.delete(eventPath(bobs, event))).status).toBe(200);
    await change({ rrule: 'FREQ=WEEKLY;COUNT=5' });
    expect(await days(bob, bobs)).toEqual([]);
  });

  test('still does not see them after a process of the previous release has written the attendees', async () => {
    await remove('2026-05-11', 'this');
    const write = async (response: string) =>
      app.sql(
        `SELECT event_put_parts(tenant_id, id, json_build_object('participants', (
                  SELECT json_agg(to_jsonb(part) - '{tenant_id,event_id,removed}'::text[] || CASE
                           WHEN part.recurrence_key = '' THEN '{}' ELSE jsonb_build_object('response', $2::text) END)
                    FROM event_participants part WHERE tenant_id = event.tenant_id AND event_id = event.id))::jsonb)
           FROM calendar_events event WHERE id = $1`,
        [event.id, response],
      );
    await write('declined');
    expect(await days(bob, bobs)).toHaveLength(4);
    // It asks again after it has moved the date.
    await write('needs_action');
    expect(await days(bob, bobs)).toHaveLength(5);
  });
});
