import { v7 as uuidv7 } from 'uuid';
import type { TestUser } from '../app.ts';
import { ok, published } from './forms.ts';
import type { NotificationTest } from './notifications.ts';

/** An object that a notification is about. */
export interface Made {
  kind: string;
  id: string;
  data?: Record<string, string | number>;
  [more: string]: any;
}

export interface Scenario {
  make: () => Promise<Made>;
  /** Default: Bob. */
  recipient?: () => TestUser;
  /** How the object ends for the recipient, by what happens. */
  ends: Record<string, (made: Made) => Promise<unknown>>;
}

/** A room of Alice with Bob. @returns its id */
export const roomOf = async (at: NotificationTest): Promise<string> =>
  ok(await at.alice.api.post('/chat/rooms', { type: 'group', name: 'Jetty', member_ids: [at.bob.id] }), 201)
    .room.id;

export const messageOf = async (at: NotificationTest, id: string, mentions: string[]): Promise<any> =>
  ok(
    await at.alice.api.post(`/chat/rooms/${id}/messages`, { client_msg_id: uuidv7(), body: 'x', mentions }),
    201,
  ).message;

/** How what notifications are about ends, by the type of the notification. Alice owns the objects. */
export function notificationScenarios(at: NotificationTest): Record<string, Scenario> {
  const owner = () => at.alice.api;

  // ------------------------------------------------------------------------------------------------------------ chat

  const room = () => roomOf(at);
  const say = (id: string, mentions: string[]) => messageOf(at, id, mentions);
  const message = (mentions: () => string[]) => async (): Promise<Made> => {
    const id = await room();
    const { seq, id: message_id } = await say(id, mentions());
    return { kind: 'chat_room', id, data: { seq, message_id } };
  };
  const path = ({ id, data }: Made) => `/chat/rooms/${id}/messages/${data?.['message_id']}`;
  const roomEnds: Scenario['ends'] = {
    'the room is deleted': ({ id }) => owner().delete(`/chat/rooms/${id}`),
    'the recipient leaves the room': ({ id }) => at.bob.api.delete(`/chat/rooms/${id}/members/${at.bob.id}`),
  };
  const messageEnds: Scenario['ends'] = {
    'the message is deleted': (made) => owner().delete(path(made)),
    ...roomEnds,
  };

  // ----------------------------------------------------------------------------------------------------------- tasks

  const task = async (): Promise<Made> => ({ kind: 'task', ...(await at.task('Paint')) });
  const comment = async (): Promise<Made> => {
    const made = await task();
    const { id } = ok(await owner().post(`/tasks/${made.id}/comments`, { body: 'x' }), 201).comment;
    return { ...made, data: { comment_id: id } };
  };
  const accessEnds: Scenario['ends'] = {
    'the task is moved to the trash': ({ id }) => owner().delete(`/tasks/${id}`),
    'the recipient is no longer assigned': ({ id }) => owner().patch(`/tasks/${id}`, { assignees: [] }),
  };
  const taskEnds: Scenario['ends'] = {
    'the task is completed': ({ id }) => owner().patch(`/tasks/${id}`, { done: true }),
    'the task is cancelled': ({ id }) => owner().patch(`/tasks/${id}`, { status: 'cancelled' }),
    ...accessEnds,
  };
  const folder = async (): Promise<Made> => {
    const { id, revision } = ok(await owner().post('/task_folders', { name: 'Trip' }), 201).folder;
    const members = [{ user_id: at.bob.id, role: 'editor' }];
    ok(await owner().patch(`/task_folders/${id}`, { members, base_revision: revision }));
    return { kind: 'task_folder', id };
  };

  // ----------------------------------------------------------------------------------------------- notes, forms, events

  const note = async (): Promise<Made> => {
    const { id, revision } = await at.note('Plan');
    await at.invite(id, [at.bob]);
    return { kind: 'note', id, revision };
  };
  const form = async (): Promise<Made> => {
    const { id } = await published(at.alice);
    await owner().put(`/forms/${id}/access`, { access: [{ user_id: at.bob.id, role: 'editor' }] });
    return { kind: 'form', id };
  };
  const formEnds: Scenario['ends'] = {
    'the form is deleted': ({ id }) => owner().delete(`/forms/${id}`),
    'the recipient loses the access': ({ id }) => owner().put(`/forms/${id}/access`, { access: [] }),
  };
  const answered = async (): Promise<Made> => {
    const made = await form();
    const { response } = ok(await owner().post(`/forms/${made.id}/submit`, { answers: { name: 'x' } }), 201);
    return { ...made, response: response.id };
  };
  const set = (id: string, settings: object) => owner().patch(`/forms/${id}`, { settings });
  const formWith = async (settings: object, isAnswered = false): Promise<Made> => {
    const made = await (isAnswered ? answered() : form());
    ok(await set(made.id, settings));
    return made;
  };
  const closed = async (): Promise<Made> => {
    const made = await form();
    await owner().post(`/forms/${made.id}/accepting`, { accepting: false });
    return made;
  };
  const report = async (): Promise<Made> => {
    const made = await form();
    const definition = { columns: ['name'] };
    const { id } = ok(
      await owner().post(`/forms/${made.id}/reports`, { name: 'Weekly', definition }),
      201,
    ).report;
    const share = `/forms/${made.id}/reports/${id}/share`;
    ok(await owner().post(share, { viewers: [{ user_id: at.bob.id }] }));
    return { kind: 'report', id, form: made.id, share };
  };
  const event = async (): Promise<Made> => {
    const calendar = (await owner().get('/calendar')).body.calendars[0].id;
    const fields = { title: 'Offsite', start: '2027-03-01T10:00:00Z', end: '2027-03-01T11:00:00Z' };
    const attendees = [{ email: at.bob.email }];
    const { id } = ok(
      await owner().post(`/calendar/${calendar}/events`, { ...fields, attendees }),
      201,
    ).event;
    return { kind: 'calendar_event', id, path: `/calendar/${calendar}/events/${id}` };
  };
  const eventEnds: Scenario['ends'] = {
    'the event is cancelled': (made) => owner().delete(made['path']),
    'the recipient is no longer invited': (made) => owner().put(made['path'], { attendees: [] }),
  };

  // ------------------------------------------------------------------------------------------------------------ calls

  const insert = async (table: string, fields: object): Promise<string> => {
    const row = { tenant_id: at.alice.tenantId, id: uuidv7(), ...fields };
    const names = Object.keys(row);
    const values = names.map((_, index) => `$${index + 1}`);
    await at.app.sql(`INSERT INTO ${table} (${names.join()}) VALUES (${values.join()})`, Object.values(row));
    return row.id;
  };
  const call = async (): Promise<Made> => {
    const live = {
      title: 'Review',
      kind: 'meeting',
      state: 'live',
      host_id: at.alice.id,
      started_at: new Date(),
    };
    const id = await insert('calls', live);
    const member = [at.alice.tenantId, id, at.bob.id];
    await at.app.sql('INSERT INTO call_members (tenant_id, call_id, user_id) VALUES ($1, $2, $3)', member);
    return { kind: 'call', id, call: id };
  };
  const recording = async (): Promise<Made> => {
    const { id: call_id } = await call();
    const id = await insert('recordings', { call_id, requested_by: at.bob.id, state: 'failed', file: 'x' });
    return { kind: 'recording', id, call: call_id };
  };
  const callEnds: Scenario['ends'] = {
    'the recipient is no longer a member': (made) =>
      at.app.sql('DELETE FROM call_members WHERE call_id = $1', [made['call']]),
  };
  const recordingEnds: Scenario['ends'] = {
    'the recording is deleted': ({ id }) => at.app.sql('DELETE FROM recordings WHERE id = $1', [id]),
    ...callEnds,
  };
  const guest = async (): Promise<Made> => {
    const { id: call_id } = await call();
    const flags = { require_otp: false, require_approval: true, chat_allowed: true, max_uses: 1 };
    const invite_id = await insert('external_invites', {
      target_kind: 'call',
      call_id,
      kind: 'link',
      role: 'guest',
      token_hash: Buffer.from(uuidv7()),
      ...flags,
      created_by: at.alice.id,
      expires_at: new Date(Date.now() + 3_600_000),
    });
    const waiting = { state: 'waiting', waiting_since: new Date(), display_name: 'Gus' };
    const id = await insert('guests', {
      invite_id,
      call_id,
      role: 'guest',
      ...waiting,
      token_hash: Buffer.from(uuidv7()),
      session_expires_at: new Date(Date.now() + 3_600_000),
    });
    return { kind: 'guest_approval', id };
  };
  const domain = async (): Promise<Made> => {
    const request = { domain: `${uuidv7()}.example`, state: 'requested', requested_by: at.bob.id };
    return { kind: 'guest_approval', id: await insert('guest_domains', request) };
  };

  // With a reminder in the past and overdue for days.
  const dueTask = async (): Promise<Made> => {
    const made = await task();
    const fields = { due_at: '2026-03-02T09:00:00Z', reminders: [{ minutes_before: 10 }] };
    ok(await owner().patch(`/tasks/${made.id}`, fields));
    return made;
  };
  const due: Scenario = {
    make: dueTask,
    ends: {
      ...taskEnds,
      'the task is postponed': ({ id }) => owner().patch(`/tasks/${id}`, { due_at: '2999-03-02T09:00:00Z' }),
      'the task has no date any more': ({ id }) =>
        owner().patch(`/tasks/${id}`, { due_at: null, date: null, reminders: [] }),
    },
  };
  const invited: Scenario = { make: event, ends: eventEnds };
  const recorded: Scenario = { make: recording, ends: recordingEnds };
  return {
    'chat.message': { make: message(() => []), ends: messageEnds },
    'chat.mention': {
      make: message(() => [at.bob.id]),
      ends: {
        ...messageEnds,
        'an edit removes the mention': (made) => owner().patch(path(made), { body: 'y', mentions: [] }),
      },
    },
    'room.added': { make: async () => ({ kind: 'chat_room', id: await room() }), ends: roomEnds },
    'task.assigned': { make: task, ends: taskEnds },
    'task.reminder': {
      ...due,
      ends: {
        ...due.ends,
        'the reminder is removed': ({ id }) => owner().patch(`/tasks/${id}`, { reminders: [] }),
      },
    },
    'task.due': due,
    'task.overdue': due,
    'task.commented': {
      make: comment,
      ends: {
        ...accessEnds,
        'the comment is deleted': ({ id, data }) =>
          owner().delete(`/tasks/${id}/comments/${data?.['comment_id']}`),
      },
    },
    'task.folder_shared': {
      make: folder,
      ends: {
        'the folder is deleted': ({ id }) => owner().delete(`/task_folders/${id}`),
        'the folder is no longer shared': ({ id }) => owner().patch(`/task_folders/${id}`, { members: [] }),
      },
    },
    'note.shared': {
      make: note,
      ends: {
        'the note is moved to the trash': ({ id, revision }) =>
          owner().delete(`/notes/${id}`, { base_revision: revision }),
        'the note is no longer shared': ({ id }) => owner().put(`/notes/${id}/invited`, { invited: [] }),
      },
    },
    'form.response': {
      make: answered,
      ends: {
        ...formEnds,
        'the response is deleted': (made) =>
          owner().delete(`/forms/${made.id}/responses/${made['response']}`),
      },
    },
    'form.closed': {
      make: closed,
      ends: {
        ...formEnds,
        'the form accepts responses again': ({ id }) =>
          owner().post(`/forms/${id}/accepting`, { accepting: true }),
      },
    },
    'form.window_ended': {
      make: () => formWith({ closes_at: '2026-03-02T09:00:00.000Z' }),
      ends: {
        ...formEnds,
        'the window is open again': ({ id }) => set(id, { closes_at: '2999-03-02T09:00:00.000Z' }),
        'the window has no end any more': ({ id }) => set(id, { closes_at: null }),
      },
    },
    'form.quota_reached': {
      make: () => formWith({ max_responses: 1 }, true),
      ends: { ...formEnds, 'the quota is raised': ({ id }) => set(id, { max_responses: 9 }) },
    },
    'report.shared': {
      make: report,
      ends: {
        'the report is no longer shared': (made) => owner().post(made['share'], { viewers: [] }),
        'its form is deleted': (made) => owner().delete(`/forms/${made['form']}`),
      },
    },
    'calendar.invited': invited,
    'calendar.changed': invited,
    'calendar.reminder': {
      make: async () => ({ ...(await event()), data: { event_starts: '2027-03-01T10:00:00' } }),
      ends: {
        ...eventEnds,
        'the event is moved': (made) => owner().put(made['path'], { start: '2027-08-01T10:00:00Z' }),
      },
    },
    'calendar.cancelled': {
      make: async () => {
        const made = await event();
        ok(await owner().put(made['path'], { status: 'cancelled' }));
        return made;
      },
      ends: {
        'the event takes place again': (made) => owner().put(made['path'], { status: 'confirmed' }),
      },
    },
    'call.started': {
      make: call,
      ends: {
        ...callEnds,
        'the call ends': ({ id }) =>
          at.app.sql(`UPDATE calls SET state = 'ended', ended_at = now() WHERE id = $1`, [id]),
      },
    },
    'call.missed': { make: call, ends: callEnds },
    'recording.ready': recorded,
    'recording.failed': recorded,
    'guest.waiting': {
      make: guest,
      recipient: () => at.alice,
      ends: {
        'the guest is admitted': ({ id }) =>
          at.app.sql(`UPDATE guests SET state = 'admitted' WHERE id = $1`, [id]),
      },
    },
    'domain.requested': {
      make: domain,
      recipient: () => at.alice,
      ends: {
        'the domain is allowed': ({ id }) =>
          at.app.sql(`UPDATE guest_domains SET state = 'allowed' WHERE id = $1`, [id]),
      },
    },
  };
}
