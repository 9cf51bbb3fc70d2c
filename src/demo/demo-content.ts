import { randomUUID } from 'node:crypto';
import {
  CONTACTS,
  DEMO_ADDRESSBOOK,
  type DemoNote,
  type DemoTask,
  NOTE_FOLDERS,
  NOTES,
  PHONE_CONTACTS,
  ROOMS,
  SELF_CARD,
  TASK_FOLDER,
  TASKS,
} from './data/content.js';
import { type Created, type DemoClient, type DemoName, GROUPS, SIGNATURE } from './demo-client.js';

const DAY_MS = 86_400_000;
const ZONE = 'Europe/Berlin';
/** The stand-up began 40 weeks ago, so that clock changes occur before and after today. */
const STANDUP_DAYS = -40 * 7;

/** The day `inDays` days from today; the following Monday for a Saturday or Sunday. */
function workday(inDays: number): string {
  const day = new Date(Date.now() + inDays * DAY_MS);
  const weekend = { 0: 1, 6: 2 }[day.getUTCDay()] ?? 0;
  return new Date(day.getTime() + weekend * DAY_MS).toISOString().slice(0, 10);
}

const at = (day: string, time: string) => ({ date_time: `${day}T${time}:00`, time_zone: ZONE });

/** Calendars: a shared one of the team with a daily stand-up, a meeting with responses, a trip, and private time. */
export async function createCalendars(clients: Record<DemoName, DemoClient>): Promise<void> {
  const { alice, bob, carol } = clients;
  const { calendar } = await alice.post<Created<'calendar'>>('/calendar', {
    name: 'Team',
    description: 'Meetings of the team',
    color: '#27ae60',
    time_zone: ZONE,
    shares: [
      { user_id: bob.id, role: 'writer' },
      { user_id: carol.id, role: 'reader' },
    ],
  });
  const events = `/calendar/${calendar.id}/events`;
  const standUp = await alice.post<Created<'event'>>(events, {
    title: 'Stand-up',
    description: 'Yesterday, today, obstacles.',
    start: at(workday(STANDUP_DAYS), '09:15'),
    duration: 'PT15M',
    recurrence: { rules: ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'] },
    conference: { url: 'https://meet.demo.example/team' },
    categories: ['team'],
  });
  const moved = workday(7);
  await alice.put(`${events}/${standUp.event.id}`, {
    scope: 'this',
    recurrence_id: at(moved, '09:15'),
    title: 'Stand-up in the afternoon',
    start: at(moved, '15:00'),
  });
  await bob.post(events, {
    title: 'Release 2.0',
    start: workday(21),
    show_as: 'free',
    categories: ['milestone'],
  });
  await meeting(clients);
  const { poll } = await alice.post<Created<'poll'>>('/calendar/polls', {
    title: 'Team dinner',
    time_zone: ZONE,
    duration_minutes: 120,
    options: [10, 17, 24].map((days) => ({ start: `${workday(days)}T19:00:00` })),
    participants: [{ user_id: bob.id }, { user_id: carol.id }],
  });
  const { poll: read } = await bob.call<{ poll: { options: { id: string }[] } }>(
    'GET',
    `/calendar/polls/${poll.id}`,
  );
  await bob.post(`/calendar/polls/${poll.id}/vote`, {
    votes: read.options.map(({ id }, n) => ({ option_id: id, answer: n === 1 ? 'yes' : 'if_needed' })),
  });
  await carol.post(`/calendar/${await ownCalendar(carol)}/events`, {
    title: 'Trip to Lisbon',
    location: 'Lisbon',
    start: workday(14),
    duration: 'P3D',
    show_as: 'out_of_office',
  });
  await bob.post(`/calendar/${await ownCalendar(bob)}/events`, {
    title: 'Focus time',
    start: at(workday(1), '13:00'),
    duration: 'PT2H',
    recurrence: { rules: ['FREQ=WEEKLY;COUNT=26'] },
    visibility: 'private',
  });
}

/** A meeting that Bob has accepted and for which Carol proposes another time. */
async function meeting({ alice, bob, carol }: Record<DemoName, DemoClient>): Promise<void> {
  const day = workday(3);
  const { event } = await alice.post<Created<'event'>>(`/calendar/${await ownCalendar(alice)}/events`, {
    title: 'Quarterly review',
    description: 'Agenda: figures, plans, questions.',
    location: 'Room 1',
    start: at(day, '10:00'),
    duration: 'PT1H',
    attendees: [{ user_id: bob.id }, { user_id: carol.id, role: 'optional' }],
  });
  await bob.put(`/calendar/${await ownCalendar(bob)}/events/${event.id}/rsvp`, {
    response: 'accepted',
    comment: 'I bring the figures.',
  });
  await carol.post(`/calendar/${await ownCalendar(carol)}/events/${event.id}/proposals`, {
    start: at(day, '14:00'),
    end: at(day, '15:00'),
    comment: 'My train arrives at noon.',
  });
}

async function ownCalendar(client: DemoClient): Promise<string> {
  const { calendars } = await client.call<{ calendars: { id: string; is_default: boolean }[] }>(
    'GET',
    '/calendar',
  );
  return calendars.find(({ is_default }) => is_default)?.id as string;
}

export type DemoClients = Record<DemoName, DemoClient>;

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
