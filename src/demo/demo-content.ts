import { randomUUID } from 'node:crypto';
import { createCalendars } from './demo-calendar.js';
import type { Created, DemoClient } from './demo-client.js';
import { CONTACTS, DEMO_ADDRESSBOOK, PHONE_CONTACTS, SELF_CARD } from './data/contacts.js';
import { type DemoNote, NOTE_FOLDERS, NOTES } from './data/notes.js';
import { ROOMS } from './data/rooms.js';
import { type DemoTask, TASK_FOLDER, TASKS } from './data/tasks.js';
import { type DemoName, GROUPS, SIGNATURE } from './demo-data.js';

export type DemoClients = Record<DemoName, DemoClient>;

const DAY_MS = 86_400_000;

/** Creates the content of the demo except mail. Users work concurrently, each in order. */
export async function createContent(clients: DemoClients): Promise<void> {
  const names = Object.keys(clients) as DemoName[];
  const { folder } = await clients.alice.post<Created<'folder'>>('/task_folders', {
    ...TASK_FOLDER,
    members: [
      { id: clients.bob.id, role: 'editor' },
      { id: clients.carol.id, role: 'viewer' },
    ],
  });
  await Promise.all([
    ...names.map((name) => createNotes(clients, name)),
    ...names.map((name) => createTasks(clients, name, folder.id)),
    ...names.map((name) => createSettings(clients[name])),
    createContacts(clients),
    createWorkspaceSettings(clients),
    createRooms(clients),
    createCalendars(clients),
  ]);
}

async function createNotes(clients: DemoClients, owner: DemoName): Promise<void> {
  const folders = new Map<string, string>();
  for (const name of NOTE_FOLDERS[owner]) {
    const { folder } = await clients[owner].post<Created<'folder'>>('/note_folders', { name });
    folders.set(name, folder.id);
  }
  for (const note of NOTES.filter((each) => each.owner === owner)) await createNote(clients, note, folders);
}

async function createNote(clients: DemoClients, demo: DemoNote, folders: Map<string, string>): Promise<void> {
  const { owner, title, content, labels, folder, invited = [], revisions = [], trashed } = demo;
  const client = clients[owner];
  const { note } = await client.post<Created<'note'>>('/notes', {
    title,
    content,
    labels,
    folder_id: folder === undefined ? null : folders.get(folder),
    device_id: 'demo',
  });
  const path = `/notes/${note.id}`;
  for (const [n, text] of revisions.entries())
    await client.call('PATCH', path, { content: text, base_revision: n + 1, device_id: 'demo' });
  if (invited.length > 0)
    await client.put(`${path}/invited`, { invited: invited.map((name) => clients[name].id) });
  if (title === 'Team offsite') {
    await client.post(`${path}/share`, { role: 'viewer' });
    await client.post(`${path}/task`, { title: 'Read the agenda', assignees: [clients.carol.id] });
  }
  if (trashed) await client.call('DELETE', path, { base_revision: 1 });
}

async function createTasks(clients: DemoClients, owner: DemoName, folderId: string): Promise<void> {
  for (const task of TASKS.filter((each) => each.owner === owner)) await createTask(clients, task, folderId);
}

async function createTask(clients: DemoClients, demo: DemoTask, folderId: string): Promise<void> {
  const { owner, inDays, fields, shared, assignees = [], recurrence, done, trashed } = demo;
  const client = clients[owner];
  const day = new Date(Date.now() + inDays * DAY_MS).toISOString().slice(0, 10);
  const { task } = await client.post<Created<'task'>>('/tasks', {
    ...fields,
    due_at: `${day}T10:00:00Z`,
    reminders: [{ minutes_before: 60 }],
    assignees: assignees.map((name) => clients[name].id),
    ...(shared && { folder_id: folderId }),
    ...(recurrence !== undefined && { recurrence }),
  });
  const path = `/tasks/${task.id}`;
  await addParts(clients, demo, path);
  if (done) await client.call('PATCH', path, { done: true });
  if (trashed) await client.call('DELETE', path);
}

async function addParts(clients: DemoClients, demo: DemoTask, path: string): Promise<void> {
  const client = clients[demo.owner];
  for (const subtask of demo.subtasks ?? []) await client.post(`${path}/subtasks`, subtask);
  for (const [name, body] of demo.comments ?? []) await clients[name].post(`${path}/comments`, { body });
  if (!demo.attachment) return;
  const { name, type, content } = demo.attachment;
  const form = new FormData();
  form.append('file', new Blob([content], { type }), name);
  await client.post(`${path}/attachments`, form);
}

async function createContacts({ alice, bob }: DemoClients): Promise<void> {
  const { addressbooks } = await alice.call<{ addressbooks: { id: string }[] }>(
    'GET',
    '/contact/addressbooks',
  );
  const shares = [{ user_id: bob.id, role: 'writer' }];
  const { addressbook } = await alice.post<Created<'addressbook'>>('/contact/addressbooks', {
    ...DEMO_ADDRESSBOOK,
    shares,
  });
  for (const contact of CONTACTS) {
    const bookId = contact.categories.includes('partners') ? addressbook.id : addressbooks[0]?.id;
    await alice.post(`/contact/addressbooks/${bookId}/contacts`, contact);
  }
  await alice.put('/contact/self', SELF_CARD);
}

async function createSettings(client: DemoClient): Promise<void> {
  const { profile } = await client.call<{ profile: { display_name: string } }>('GET', '/settings/profile');
  await client.put('/settings/profile', { timezone: 'Europe/Berlin' });
  await client.post('/settings/signatures', {
    name: 'Work',
    html: SIGNATURE(profile.display_name),
    is_default: true,
  });
  await client.post('/webhooks', {
    scope: 'user',
    url: 'https://partner.example/hooks/workspace',
    description: 'Example of a webhook, inactive',
    event_types: ['task.completed'],
    active: false,
  });
  const { calendars } = await client.call<{ calendars: { id: string; role: string }[] }>('GET', '/calendar');
  await client.post('/incoming-webhooks', {
    name: 'Release plan',
    target: { type: 'calendar', id: calendars.find(({ role }) => role === 'owner')?.id },
  });
  const { application_password_protocols: protocols } = await client.call<{
    application_password_protocols: string[];
  }>('GET', '/settings/security');
  if (protocols.length > 0)
    await client.post('/settings/application-passwords', {
      description: 'Programs on the phone',
      scopes: protocols,
    });
  await client.put('/calendar/holiday-subscriptions', {
    subscriptions: [{ country: 'PT', types: ['public'] }],
  });
  await client.post('/contact/phone-sync/import', { device_id: 'phone', contacts: PHONE_CONTACTS });
}

async function createWorkspaceSettings(clients: DemoClients): Promise<void> {
  const { alice } = clients;
  await alice.put('/tenant', { branding: { primary_color: '#2f80ed' } });
  await alice.put('/calendar/holiday-subscriptions/tenant', {
    subscriptions: [{ country: 'DE', region: 'BY', types: ['public'], language: 'en' }],
  });
  for (const { name, permissions, members } of GROUPS) {
    const { group } = await alice.post<Created<'group'>>('/rbac/groups', { name, permissions });
    for (const member of members)
      await alice.post(`/rbac/groups/${group.id}/members`, { user_id: clients[member].id });
  }
}

async function createRooms(clients: DemoClients): Promise<void> {
  for (const { fields, members, messages } of ROOMS) {
    const [owner, ...others] = members;
    const { room } = await clients[owner].post<Created<'room'>>('/chat/rooms', {
      ...fields,
      member_ids: others.map((name) => clients[name].id),
    });
    for (const [sender, body] of messages)
      await clients[sender].post(`/chat/rooms/${room.id}/messages`, { client_msg_id: randomUUID(), body });
  }
}
