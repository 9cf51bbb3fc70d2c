import { randomUUID } from 'node:crypto';
import type { TestUser } from '../app.ts';
import { PushDevice } from '../network/push-service.ts';
import type { ApiResponse } from '../network/client.ts';
import { definitionOf, ok, published } from './forms.ts';
import { upload } from '../network/multipart.ts';

export const accepted = ({ status, body }: ApiResponse): void =>
  expect([status < 300, status < 300 ? null : body]).toEqual([true, null]);

/** Writes a text with the marker in each domain, all of it private. */
export async function writeEverywhere(user: TestUser, mark: (domain: string) => string): Promise<void> {
  const { api } = user;
  ok(await api.put('/settings/profile', { title: mark('profile') }));
  ok(await api.post('/settings/signatures', { name: mark('signature'), html: '<p>x</p>' }), 201);
  const hook = {
    scope: 'user',
    url: 'https://partner.example',
    event_types: ['task.completed'],
    active: false,
  };
  ok(await api.post('/webhooks', { ...hook, description: mark('webhook') }), 201);
  const { subscription } = new PushDevice('https://push.example/device');
  ok(
    await api.post('/notifications/push-subscriptions', { ...subscription, description: mark('push') }),
    201,
  );
  const { calendars } = ok(await api.get('/calendar'));
  const address = { name: mark('hook'), target: { type: 'calendar', id: calendars[0].id } };
  ok(await api.post('/incoming-webhooks', address), 201);
  ok(await api.post('/note_folders', { name: mark('note-folder') }), 201);
  ok(await api.post('/notes', { title: mark('note'), content: `<p>${mark('note-content')}</p>` }), 201);
  const { task } = ok(
    await api.post('/tasks', {
      title: mark('task'),
      description: mark('description'),
      references: [{ type: 'url', url: 'https://plan.example', title: mark('reference') }],
    }),
    201,
  );
  ok(await api.post('/task_folders', { name: mark('task-folder') }), 201);
  ok(await api.post(`/tasks/${task.id}/comments`, { body: mark('comment') }), 201);
  ok(
    await upload(api, `/tasks/${task.id}/attachments`, mark('attachment'), {
      filename: `${mark('file')}.txt`,
    }),
    201,
  );
  const [calendar] = ok(await api.get('/calendar')).calendars;
  const poll = {
    title: mark('poll'),
    time_zone: 'Europe/Berlin',
    options: [{ start: '2027-03-02T09:00:00' }, { start: '2027-03-03T14:00:00' }],
    participants: ['zoe@outside.example'],
  };
  ok(await api.post('/calendar/polls', poll), 201);
  const event = { title: mark('event'), start: '2026-03-02T09:00:00Z', end: '2026-03-02T10:00:00Z' };
  ok(await api.post(`/calendar/${calendar.id}/events`, event), 201);
  const book = ok(await api.get('/contact/addressbooks')).addressbooks.find(
    (each: any) => each.role === 'owner',
  );
  ok(await api.post(`/contact/addressbooks/${book.id}/contacts`, { full_name: mark('contact') }), 201);
  ok(await api.put('/contact/self', { notes: mark('own-card') }));
  const form = await published(user, definitionOf([{ id: 'q', type: 'short_text', title: mark('form') }]));
  accepted(await api.post(`/forms/${form.id}/submit`, { answers: { q: mark('response') } }));
  accepted(await api.put('/presence/me', { status: 'dnd', text: mark('presence') }));
  const { room } = ok(await api.post('/chat/rooms', { type: 'group', name: mark('room') }), 201);
  accepted(
    await api.post(`/chat/rooms/${room.id}/messages`, { client_msg_id: randomUUID(), body: mark('message') }),
  );
}
