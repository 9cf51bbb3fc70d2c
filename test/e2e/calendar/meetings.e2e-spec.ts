import type { TestApp, TestUser } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import {
  at,
  defaultCalendar,
  eventPath,
  instancesOf,
  newCalendar,
  newEvent,
  responsesOf,
  startMeetings,
} from '../../support/domains/calendars.ts';

describe('meetings', () => {
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

  const seenBy = async (person: TestUser, of: string, event: { id: string }) =>
    (await person.api.get(eventPath(of, event))).body.event;
  const messages = async (event: { id: string }) =>
    (
      await app.sql(
        `SELECT payload FROM outbox WHERE type = 'calendar.message.due' AND payload->>'event_id' = $1 ORDER BY id`,
        [event.id],
      )
    ).map(({ payload: { method, recipient, recurrence_key, sequence } }: any) => [
      method,
      recipient,
      recurrence_key,
      sequence,
    ]);

  test('one event is placed in the default calendar of each attendee of the workspace; others get a message', async () => {
    const event = await newEvent(ann, calendar, {
      title: 'Kick-off',
      start: at('2026-03-02T09:00:00'),
      attendees: [
        bob.id,
        { email: eve.email.toUpperCase(), role: 'optional' },
        { email: 'zoe@outside.example', name: 'Zoe' },
        ann.email,
      ],
    });
    expect(responsesOf(event)).toEqual({
      bob: 'needs_action',
      eve: 'needs_action',
      zoe: 'needs_action',
      ann: 'accepted',
    });
    expect(event.attendees.find(({ email }: any) => email === 'zoe@outside.example')).toMatchObject({
      user_id: null,
      name: 'Zoe',
      delivery: 'mail',
    });
    const seen = await seenBy(bob, bobs, event);
    expect(seen).toMatchObject({
      id: event.id,
      title: 'Kick-off',
      calendar_id: bobs,
      my_response: 'needs_action',
      organizer: { email: ann.email, self: false },
      permissions: { edit: false, rsvp: true, propose: true, see_details: true, delete: true },
    });
    expect(await messages(event)).toEqual([['REQUEST', 'zoe@outside.example', '', 0]]);
    expect(await app.sql('SELECT count(*)::int AS n FROM calendar_events WHERE id = $1', [event.id])).toEqual(
      [{ n: 1 }],
    );
  });

  test('attendees respond; all placements show it; attendees change only their own settings', async () => {
    const event = await newEvent(ann, calendar, {
      title: 'M',
      start: at('2026-03-03T09:00:00'),
      attendees: [bob.id, eve.id],
    });
    const reply = await bob.api.put(`${eventPath(bobs, event)}/rsvp`, {
      response: 'accepted',
      comment: 'Fine',
    });
    expect([reply.status, reply.body.event.my_response]).toEqual([200, 'accepted']);
    expect(responsesOf(await seenBy(eve, eves, event))).toEqual({ bob: 'accepted', eve: 'needs_action' });
    expect(
      (await ann.api.put(`${eventPath(calendar, event)}/rsvp`, { response: 'accepted' })).body.error,
    ).toBe('not_attendee');
    expect((await bob.api.put(eventPath(bobs, event), { title: 'Mine' })).body.error).toBe('not_organizer');
    const own = await bob.api.put(eventPath(bobs, event), {
      color: '#00ff00',
      show_as: 'free',
      reminders: { overrides: [{ method: 'popup', minutes: 1 }] },
    });
    expect(own.body.event).toMatchObject({
      color: '#00ff00',
      show_as: 'free',
      reminders: { use_default: false },
    });
    expect(await seenBy(ann, calendar, event)).toMatchObject({
      color: null,
      show_as: 'busy',
      reminders: { use_default: true },
    });
    const second = await newCalendar(bob, 'Second');
    expect((await bob.api.put(eventPath(bobs, event), { calendar_id: second })).body.event.calendar_id).toBe(
      second,
    );
    await ann.api.put(eventPath(calendar, event), { title: 'M2', attendees: [bob.id] });
    expect(await seenBy(bob, second, event)).toMatchObject({
      title: 'M2',
      color: '#00ff00',
      my_response: 'accepted',
    });
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(404);
    expect((await eve.api.get(eventPath(eves, event))).status).toBe(404);
    const bad = await bob.api.put(`${eventPath(second, event)}/rsvp`, { response: 'perhaps' });
    expect(bad.body.error).toBe('validation_failed');
  });

  test('a new time resets the responses, a new title does not', async () => {
    const event = await newEvent(ann, calendar, {
      start: at('2026-03-04T09:00:00'),
      attendees: [bob.id, 'zoe@outside.example'],
    });
    await bob.api.put(`${eventPath(bobs, event)}/rsvp`, { response: 'accepted' });
    await ann.api.put(eventPath(calendar, event), { title: 'New', location: 'Room 2' });
    expect((await seenBy(bob, bobs, event)).my_response).toBe('accepted');
    await ann.api.put(eventPath(calendar, event), { start: at('2026-03-04T10:00:00'), send_updates: 'none' });
    expect(await seenBy(bob, bobs, event)).toMatchObject({ my_response: 'needs_action', sequence: 1 });
    expect(await messages(event)).toEqual([
      ['REQUEST', 'zoe@outside.example', '', 0],
      ['REQUEST', 'zoe@outside.example', '', 0],
    ]);
    await ann.api.put(eventPath(calendar, event), { attendees: [bob.id] });
    expect((await messages(event)).at(-1)).toEqual(['CANCEL', 'zoe@outside.example', '', 2]);
  });

  test('responses to one instance, to later ones and to all; moving one instance resets its responses only', async () => {
    const event = await newEvent(ann, calendar, {
      title: 'R',
      start: at('2026-04-06T09:00:00'),
      rrule: 'FREQ=DAILY;COUNT=5',
      attendees: [bob.id],
    });
    const path = eventPath(bobs, event);
    await bob.api.put(`${path}/rsvp`, { response: 'accepted' });
    await bob.api.put(`${path}_20260407T070000Z/rsvp`, { response: 'declined' });
    await bob.api.put(`${path}/rsvp`, {
      response: 'tentative',
      scope: 'this_and_following',
      recurrence_id: at('2026-04-09T09:00:00'),
    });
    const mine = async (of = bobs) =>
      (await instancesOf(bob, of, '2026-04-06', '2026-04-12'))
        .filter(({ title }) => title === 'R')
        .map(({ my_response }) => my_response);
    expect(await mine()).toEqual(['accepted', 'declined', 'accepted', 'tentative', 'tentative']);
    await ann.api.put(`${eventPath(calendar, event)}_20260408T070000Z`, { start: at('2026-04-08T15:00:00') });
    expect(await mine()).toEqual(['accepted', 'declined', 'needs_action', 'tentative', 'tentative']);
    // Responses go with their part of a series that is split.
    const split = await ann.api.put(`${eventPath(calendar, event)}_20260409T070000Z`, {
      scope: 'this_and_following',
      title: 'R',
    });
    expect(split.body.new_event.attendees).toMatchObject([{ user_id: bob.id, response: 'tentative' }]);
    expect(await mine()).toEqual(['accepted', 'declined', 'needs_action', 'tentative', 'tentative']);
    await bob.api.put(`${path}/rsvp`, { response: 'declined' });
    expect(await mine()).toEqual(['declined', 'declined', 'declined', 'tentative', 'tentative']);
  });

  test('the organizer cancels, attendees decline by deleting', async () => {
    const event = await newEvent(ann, calendar, {
      start: at('2026-03-05T09:00:00'),
      attendees: [bob.id, eve.id, 'zoe@outside.example'],
    });
    expect((await bob.api.delete(eventPath(bobs, event))).status).toBe(200);
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(404);
    expect(responsesOf(await seenBy(ann, calendar, event))).toMatchObject({ bob: 'declined' });
    await ann.api.put(eventPath(calendar, event), { title: 'Still on' });
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(404);
    expect((await ann.api.delete(eventPath(calendar, event), { comment: 'Sorry' })).status).toBe(200);
    expect(await seenBy(eve, eves, event)).toMatchObject({
      status: 'cancelled',
      permissions: { rsvp: false, edit: false },
    });
    expect((await eve.api.put(`${eventPath(eves, event)}/rsvp`, { response: 'accepted' })).body.error).toBe(
      'event_cancelled',
    );
    expect((await instancesOf(eve, eves, '2026-03-05', '2026-03-06')).map(({ id }) => id)).not.toContain(
      event.id,
    );
    expect((await messages(event)).at(-1)).toEqual(['CANCEL', 'zoe@outside.example', '', 1]);
    expect((await eve.api.delete(eventPath(eves, event))).status).toBe(200);
    expect((await eve.api.get(eventPath(eves, event))).status).toBe(404);
  });

  test('proposals: accepted ones move the event, others become outdated', async () => {
    const event = await newEvent(ann, calendar, {
      start: at('2026-03-06T09:00:00'),
      duration: 'PT1H',
      attendees: [bob.id, eve.id],
    });
    const propose = (person: TestUser, of: string, fields: object) =>
      person.api.post(`${eventPath(of, event)}/proposals`, fields);
    const later = { start: at('2026-03-06T11:00:00'), end: at('2026-03-06T12:00:00'), comment: 'Later?' };
    const first = await propose(bob, bobs, later);
    expect([first.status, first.body.proposal.status, first.body.event.my_response]).toEqual([
      201,
      'pending',
      'tentative',
    ]);
    const second = await eve.api.put(`${eventPath(eves, event)}/rsvp`, {
      response: 'tentative',
      proposed: { start: at('2026-03-06T14:00:00'), end: at('2026-03-06T15:00:00') },
    });
    expect(second.status).toBe(200);
    expect(
      (await propose(bob, bobs, { start: at('2026-03-06T09:00:00'), end: at('2026-03-06T10:00:00') })).body
        .error,
    ).toBe('same_time');
    expect((await propose(ann, calendar, later)).body.error).toBe('not_attendee');
    const proposal_id = first.body.proposal.id;
    expect((await propose(eve, eves, { proposal_id, action: 'accept' })).status).toBe(403);
    expect((await propose(ann, calendar, { proposal_id, action: 'what' })).status).toBe(422);
    expect((await propose(ann, calendar, { proposal_id: event.id, action: 'accept' })).status).toBe(404);
    const accepted = await propose(ann, calendar, { proposal_id, action: 'accept' });
    expect([accepted.status, accepted.body.proposal.status]).toEqual([200, 'accepted']);
    expect(accepted.body.event).toMatchObject({ start: at('2026-03-06T11:00:00'), sequence: 1 });
    const all = (await ann.api.get(`${eventPath(calendar, event)}?include=proposals`)).body.event.proposals;
    expect(all.map(({ status }: any) => status)).toEqual(['accepted', 'outdated']);
    expect((await propose(ann, calendar, { proposal_id, action: 'decline' })).body.error).toBe(
      'proposal_closed',
    );
    await ann.api.put(eventPath(calendar, event), { proposals_allowed: false });
    expect((await propose(bob, bobs, { ...later, start: at('2026-03-06T11:30:00') })).body.error).toBe(
      'proposals_disabled',
    );
  });

  test('proposals for instances that are removed, or continue in another series, are outdated', async () => {
    const event = await newEvent(ann, calendar, {
      start: at('2026-03-02T09:00:00'),
      duration: 'PT1H',
      recurrence: { rules: ['FREQ=WEEKLY;COUNT=5'] },
      attendees: [bob.id],
    });
    const path = eventPath(calendar, event);
    const proposed: string[] = [];
    for (const day of ['2026-03-02', '2026-03-09', '2026-03-23']) {
      const { body } = await bob.api.post(`${eventPath(bobs, event)}/proposals`, {
        recurrence_id: at(`${day}T09:00:00`),
        start: at(`${day}T11:00:00`),
        end: at(`${day}T12:00:00`),
      });
      proposed.push(body.proposal.id);
    }
    await ann.api.delete(path, { scope: 'this', recurrence_id: at('2026-03-09T09:00:00') });
    await ann.api.put(path, {
      scope: 'this_and_following',
      recurrence_id: at('2026-03-16T09:00:00'),
      title: 'Later part',
    });
    const errors: unknown[] = [];
    for (const proposal_id of proposed.toReversed())
      errors.push((await ann.api.post(`${path}/proposals`, { proposal_id, action: 'accept' })).body.error);
    expect(errors).toEqual(['proposal_closed', 'proposal_closed', undefined]);
  });

  test('an attendee sends an event or an instance back as it was read, with own settings', async () => {
    const event = await newEvent(ann, calendar, {
      title: 'Review',
      description: 'Agenda',
      start: at('2026-03-27T09:00:00'),
      duration: 'PT90M',
      recurrence: { rules: ['FREQ=DAILY;COUNT=5'], excluded: [at('2026-03-28T09:00:00')] },
      attendees: [bob.id, { email: eve.email, role: 'optional' }, 'zoe@outside.example'],
    });
    const path = eventPath(bobs, event);
    const reminders = { overrides: [{ method: 'popup', minutes: 5 }] };
    for (const item of [path, `${path}_20260329T070000Z`]) {
      const read = (await bob.api.get(item)).body.event;
      const back = await bob.api.put(item, { ...read, reminders });
      expect([back.status, back.body.error, back.body.revision]).toEqual([200, undefined, read.revision]);
      expect(back.body.event.reminders).toEqual({ use_default: false, ...reminders });
      for (const change of [
        { title: 'Mine' },
        { start: at('2026-03-27T10:00:00'), end: at('2026-03-27T11:00:00') },
        { recurrence: { rules: ['FREQ=DAILY;COUNT=6'] } },
        { attendees: [bob.id] },
        { attendees: [...read.attendees.slice(1), { ...read.attendees[0], role: 'chair' }] },
        { proposals_allowed: false },
      ])
        expect((await bob.api.put(item, { ...read, ...change })).body.error).toBe('not_organizer');
    }
    // Values that the request repeats still follow the event.
    await ann.api.put(eventPath(calendar, event), { show_as: 'free', color: '#112233' });
    expect(await seenBy(bob, bobs, event)).toMatchObject({ show_as: 'free', color: '#112233' });
  });

  test('an attendee who has left the workspace, or has another address now, stays as the event is changed', async () => {
    const [owner, uma, vic, wim] = await app.tenant('echo', 'owner', 'uma', 'vic', 'wim');
    const umas = await newCalendar(uma, 'Work');
    const event = await newEvent(uma, umas, {
      title: 'Weekly',
      start: at('2026-03-02T09:00:00'),
      attendees: [vic.id, wim.id],
    });
    await wim.api.put(`${eventPath(await defaultCalendar(wim), event)}/rsvp`, { response: 'accepted' });
    await owner.api.post(`/tenant/members/${vic.id}/deactivate`);
    await app.sql('UPDATE tenant_members SET email = $2 WHERE user_id = $1', [wim.id, 'wim@new.example']);
    const read = await seenBy(uma, umas, event);
    const expected = [
      { email: vic.email, user_id: vic.id, delivery: 'internal' },
      { email: wim.email, user_id: wim.id, response: 'accepted' },
    ];
    for (const attendees of [read.attendees, [vic.email, 'wim@new.example']]) {
      const { status, body } = await uma.api.put(eventPath(umas, event), {
        ...read,
        title: 'New',
        attendees,
      });
      expect([status, body.event?.attendees]).toEqual([
        200,
        expected.map((each) => expect.objectContaining(each)),
      ]);
    }
    expect(await messages(event)).toEqual([]);
    const invited = await uma.api.post(`/calendar/${umas}/events`, {
      start: at('2026-03-02T09:00:00'),
      attendees: [vic.id],
    });
    expect(invited.body.error).toBe('unknown_user');
  });

  test('cancelled events are purged after their time, with a removal for the attendees', async () => {
    const { CalendarHousekeeping } = await import('../../../src/modules/calendar/calendar-housekeeping.js');
    const event = await newEvent(ann, calendar, { start: at('2026-03-07T09:00:00'), attendees: [bob.id] });
    const token = (await bob.api.post(`/calendar/${bobs}/sync`, {})).body.sync_token;
    await ann.api.delete(eventPath(calendar, event));
    const future = new Date(Date.now() + 60_000);
    // A run leaves events that are being indexed to the next one.
    await until('the purge', async () => {
      const purged = await app.inCells(() => app.get(CalendarHousekeeping).purge(future));
      return purged.some((count) => count > 0);
    });
    expect(await app.sql('SELECT id FROM calendar_events WHERE id = $1', [event.id])).toEqual([]);
    const { changes } = (await bob.api.post(`/calendar/${bobs}/sync`, { sync_token: token })).body;
    expect(changes).toContainEqual({ op: 'delete', event_id: event.id, uid: event.uid });
    await app.get(CalendarHousekeeping).forget(future);
    expect((await bob.api.post(`/calendar/${bobs}/sync`, { sync_token: token })).body.error).toBe(
      'cursor_expired',
    );
  });

  test('an invitation does not move into a calendar that contains its uid; one that was removed keeps the uid', async () => {
    const other = await newCalendar(bob, 'Other');
    const uid = 'meeting-1@example.com';
    const copy = await newEvent(bob, other, { title: 'Copy', uid, start: '2026-03-02' });
    const event = await newEvent(ann, calendar, {
      title: 'Meeting',
      uid,
      start: at('2026-03-02T09:00:00'),
      attendees: [bob.id],
    });
    const moved = await bob.api.put(eventPath(bobs, event), { calendar_id: other });
    expect([moved.status, moved.body.error, moved.body.event.id]).toEqual([409, 'duplicate_uid', copy.id]);
    const operations = [{ op: 'update', event_id: event.id, event: { calendar_id: other } }];
    const [result] = (await bob.api.post(`/calendar/${bobs}/events/batch`, { operations })).body.results;
    expect([result.status, result.error.error, result.error.event?.id]).toEqual([
      409,
      'duplicate_uid',
      copy.id,
    ]);
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(200);

    await bob.api.delete(eventPath(bobs, event));
    const again = await bob.api.post(`/calendar/${bobs}/events`, { title: 'Own', uid, start: '2026-03-02' });
    expect([again.status, again.body.error, again.body.event]).toEqual([409, 'duplicate_uid', null]);
  });

  test('a meeting that was deleted and is made again with its uid reaches the attendees', async () => {
    const deleted = await newEvent(ann, calendar, {
      start: at('2026-03-09T09:00:00'),
      attendees: [bob.id, eve.id],
    });
    await eve.api.delete(eventPath(eves, deleted));
    const { sync_token } = (await bob.api.get(`/calendar/${bobs}/events`)).body;
    await ann.api.delete(eventPath(calendar, deleted));
    const again = await newEvent(ann, calendar, {
      title: 'Again',
      uid: deleted.uid,
      start: at('2026-03-09T10:00:00'),
      attendees: [bob.id, eve.id],
    });
    for (const [person, of] of [
      [bob, bobs],
      [eve, eves],
    ] as const)
      expect(await seenBy(person, of, again)).toMatchObject({ title: 'Again', my_response: 'needs_action' });
    const { changes } = (await bob.api.post(`/calendar/${bobs}/sync`, { sync_token })).body;
    expect(changes.map(({ op, event_id, event }: any) => [op, event?.id ?? event_id])).toEqual([
      ['delete', deleted.id],
      ['upsert', again.id],
    ]);
  });

  test('a deleted meeting stays with its attendees when another member makes one with its uid', async () => {
    const deleted = await newEvent(ann, calendar, { start: at('2026-03-09T09:00:00'), attendees: [bob.id] });
    await ann.api.delete(eventPath(calendar, deleted));
    const { uid } = deleted;
    const other = await newEvent(eve, eves, { uid, start: '2026-03-09', attendees: [bob.id] });
    expect(await seenBy(bob, bobs, deleted)).toMatchObject({ status: 'cancelled' });
    expect((await bob.api.get(eventPath(bobs, other))).status).toBe(404);
  });

  test('an attendee who removed a meeting is asked again, and sees it, after it moved', async () => {
    const event = await newEvent(ann, calendar, { start: at('2026-03-10T09:00:00'), attendees: [bob.id] });
    await bob.api.delete(eventPath(bobs, event));
    await ann.api.put(eventPath(calendar, event), { title: 'New' });
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(404);
    await ann.api.put(eventPath(calendar, event), { start: at('2026-03-11T09:00:00') });
    expect(await seenBy(bob, bobs, event)).toMatchObject({ my_response: 'needs_action' });
    expect((await instancesOf(bob, bobs, '2026-03-11', '2026-03-12')).map(({ id }) => id)).toContain(
      event.id,
    );
  });
});
