import { randomUUID } from 'node:crypto';
import { QUOTAS } from '../../../src/platform/quotas/quotas.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import {
  eventPath,
  icsFile,
  importFile,
  newCalendar,
  newEvent,
  vevent,
} from '../../support/domains/calendars.ts';
import { ok } from '../../support/domains/forms.ts';
import { expectFull, lowerQuotas } from '../../support/domains/quotas.ts';

describe('quotas of events, comments and messages', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  const LIMIT = 3;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    await lowerQuotas(app, { 'item.events_of_calendar': LIMIT });
  });
  afterAll(() => app?.stop());

  const EVENT = { title: 'Planning', start: '2030-03-01' };
  const full = async (user = ann): Promise<{ calendar: string; event: any }> => {
    const calendar = await newCalendar(user, randomUUID());
    const event = await newEvent(user, calendar, EVENT);
    for (let n = 1; n < LIMIT; n += 1) await newEvent(user, calendar, EVENT);
    return { calendar, event };
  };

  describe('a full calendar', () => {
    test('takes no event, also after changes, until one is deleted', async () => {
      const { calendar, event } = await full();
      const path = `/calendar/${calendar}/events`;
      expectFull(await ann.api.post(path, EVENT), 'item.events_of_calendar');
      ok(await ann.api.put(eventPath(calendar, event), { title: 'Changed' }), 200);
      expectFull(await ann.api.post(path, EVENT), 'item.events_of_calendar');
      ok(await ann.api.delete(eventPath(calendar, event)), 200);
      await newEvent(ann, calendar, EVENT);
      expectFull(await ann.api.post(path, EVENT), 'item.events_of_calendar');
    });

    test('concurrent creations do not pass the limit', async () => {
      const calendar = await newCalendar(ann, randomUUID());
      const replies = await Promise.all(
        Array.from({ length: 6 }, () => ann.api.post(`/calendar/${calendar}/events`, EVENT)),
      );
      expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409, 409]);
    });

    test('a batch has a result for each event, a file none beyond the limit', async () => {
      const { calendar, event } = await full();
      ok(await ann.api.delete(eventPath(calendar, event)), 200);
      const { results } = ok(
        await ann.api.post(`/calendar/${calendar}/events/batch`, { events: [EVENT, EVENT] }),
        200,
      );
      expect(results.map(({ status, error }: any) => [status, error?.error])).toEqual([
        [201, undefined],
        [409, 'quota_exceeded'],
      ]);
      const lines = vevent('UID:file@far.example', 'DTSTART:20300301T090000Z', 'SUMMARY:From a file');
      expectFull(await importFile(ann, calendar, icsFile(...lines)), 'item.events_of_calendar');
    });

    test('a series is not split, an event not moved into it, nor those of a deleted calendar', async () => {
      const { calendar } = await full();
      const other = await newCalendar(ann, randomUUID());
      const event = await newEvent(ann, other, EVENT);
      const moved = await ann.api.put(eventPath(other, event), { calendar_id: calendar });
      expectFull(moved, 'item.events_of_calendar');
      expectFull(
        await ann.api.delete(`/calendar/${other}?move_events_to=${calendar}`),
        'item.events_of_calendar',
      );
      expect(ok(await ann.api.get(eventPath(other, event)), 200).event.title).toBe('Planning');

      const series = await newEvent(ann, other, { ...EVENT, recurrence: { rules: ['FREQ=DAILY;COUNT=9'] } });
      await newEvent(ann, other, EVENT);
      const split = await ann.api.put(`${eventPath(other, series)}_20300303`, {
        title: 'Later',
        scope: 'this_and_following',
      });
      expectFull(split, 'item.events_of_calendar');
    });

    test('invitations of colleagues appear in it; those from outside are rejected', async () => {
      const { calendar } = await full(bob);
      ok(await bob.api.put(`/calendar/${calendar}`, { is_default: true }), 200);
      const anns = await newCalendar(ann, randomUUID());
      const event = await newEvent(ann, anns, { ...EVENT, attendees: [{ email: bob.email }] });
      expect((await bob.api.get(eventPath(calendar, event))).status).toBe(200);
      const lines = [
        ...vevent(
          'UID:full@far.example',
          'DTSTAMP:20270101T100000Z',
          'DTSTART:20300301T090000Z',
          'SUMMARY:From outside',
          'ORGANIZER:mailto:zoe@far.example',
          `ATTENDEE:mailto:${bob.email}`,
        ),
      ];
      const posted = await bob.api.post(`/calendar/${calendar}/scheduling/inbox`, {
        ics: icsFile('METHOD:REQUEST', ...lines),
        from: 'zoe@far.example',
      });
      expect(posted.body.message).toMatchObject({ result: 'rejected', reason: 'quota_exceeded' });
    });
  });

  test('a full task takes no comment until one is deleted', async () => {
    const { task } = ok(await ann.api.post('/tasks', { title: 'Discussed' }), 201);
    const path = `/tasks/${task.id}/comments`;
    const { comment } = ok(await ann.api.post(path, { body: 'First' }), 201);
    await app.sql('UPDATE tasks SET comments_count = $2 WHERE id = $1', [
      task.id,
      QUOTAS.item.comments_of_task,
    ]);
    expectFull(await ann.api.post(path, { body: 'One more' }), 'item.comments_of_task');
    ok(await ann.api.delete(`${path}/${comment.id}`), 200);
    ok(await ann.api.post(path, { body: 'Again' }), 201);
  });

  test('a full room takes no message; changes of it are still reported, a repeated request is no new message', async () => {
    const body = { type: 'group', name: 'Busy', member_ids: [bob.id] };
    const { room } = ok(await ann.api.post('/chat/rooms', body), 201);
    const path = `/chat/rooms/${room.id}`;
    const first = { client_msg_id: randomUUID(), body: 'First' };
    ok(await ann.api.post(`${path}/messages`, first), 201);
    await app.sql('UPDATE chat_rooms SET last_seq = $2 WHERE id = $1', [
      room.id,
      QUOTAS.item.messages_of_chat_room - 1,
    ]);
    const send = () => bob.api.post(`${path}/messages`, { client_msg_id: randomUUID(), body: 'More' });
    const sent = await Promise.all([send(), send(), send()]);
    expect(sent.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const rejected of sent.filter(({ status }) => status !== 201))
      expectFull(rejected, 'item.messages_of_chat_room');
    ok(await ann.api.put(path, { name: 'Full' }), 200);
    ok(await ann.api.post(`${path}/messages`, first), 200);
    const { messages } = ok(await ann.api.get(`${path}/messages`), 200);
    expect(messages.at(-1).kind).toBe('system');
  });
});
