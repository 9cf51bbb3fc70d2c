import { randomUUID } from 'node:crypto';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { PERMISSIONS } from '../../../src/modules/access/index.js';
import type { TestUser, TestApp } from '../../support/app.ts';
import { upload } from '../../support/network/multipart.ts';
import { PushDevice } from '../../support/network/push-service.ts';
import { GROUP_SCHEMA, ScimClient } from '../../support/sign-in/scim.ts';
import { makeCalls } from './calls.ts';

const EXPENDABLE_SESSIONS = 10;
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** A workspace with objects of each kind that a path can name. */
export interface FuzzWorkspace {
  owner: string;
  member: string;
  /** Tokens of a user who may lose their account. */
  expendable: string[];
  /** Token of an identity provider, of a workspace of its own: it may deactivate each user. */
  scim: string;
  /** Ids by the path segment before them, or by the domain and that segment where domains use it for different kinds. */
  ids: Record<string, string[]>;
  allIds: string[];
  /** Sessions of guests with the first token in `ids.external`. */
  guestSessions: string[];
  /** A small PNG. */
  image: Buffer;
}

export async function makeWorkspace(app: TestApp, slug: string): Promise<FuzzWorkspace> {
  const [owner, member, leaver] = await app.tenant(slug, 'owner', 'member', 'leaver');
  const request = { accountId: leaver.id, tenantId: leaver.tenantId };
  const sessions = Array.from({ length: EXPENDABLE_SESSIONS }, () => request);
  const expendable = await app.get<IdentityApi>(IdentityApi).issueTokens(sessions, 'fuzz');
  const calls = await makeCalls(app, owner, member);
  const chat = await makeChat(owner, member);
  const scim = await makeScim(app, slug);
  const ids = {
    ...(await makeNotes(owner, member)),
    ...(await makeTasks(owner, member)),
    ...(await makeSettings(owner)),
    ...(await makeMail(owner)),
    ...(await makeCalendars(owner, member)),
    ...(await makeContacts(owner, member)),
    ...(await makeForms(owner, member)),
    ...chat,
    ...calls.ids,
    rooms: [...chat.rooms, calls.room],
    ...(await makeTenant(app, owner)),
    ...scim.ids,
    ...(await makeNotifications(app, owner)),
    ...(await makePrograms(owner, chat.rooms)),
    // Without the other users: later requests need their roles and sessions.
    members: [leaver.id, leaver.id, member.id],
    permissions: Object.keys(PERMISSIONS).slice(0, 5),
    revisions: ['1', '2'],
    sessions: (await leaver.api.get('/settings/security')).body.sessions.map(({ id }: { id: string }) => id),
  };
  return {
    owner: owner.token,
    member: member.token,
    expendable,
    scim: scim.token,
    ids,
    allIds: [
      owner.id,
      member.id,
      leaver.id,
      ...ids.notes,
      ...ids.note_folders,
      ...ids.tasks,
      ...ids.task_folders,
      ...ids.calendar,
      ...ids.forms,
      ...ids.rooms,
      ...ids.addressbooks,
      ...ids.call,
    ],
    guestSessions: calls.guestSessions,
    image: PNG,
  };
}

async function makeTenant(app: TestApp, owner: TestUser) {
  const invitations = [];
  for (const name of ['ann', 'ben', 'cem']) {
    const { body } = await owner.api.post('/tenant/invitations', { email: `${name}@far.example` });
    invitations.push(body.invitation.id);
  }
  const domains = ['a.example', 'b.example', 'c.example'];
  for (const domain of domains) await owner.api.post('/tenant/domains', { domain });
  const tokens: string[] = [];
  for (const name of ['Entra', 'Okta', 'Keycloak'])
    tokens.push((await owner.api.post('/tenant/scim/tokens', { name })).body.scim_token.id);
  const clients = [];
  for (const name of ['CRM', 'Backup', 'Reports']) {
    const { body } = await owner.api.post('/tenant/clients', { name, kind: 'service' });
    clients.push(body.client.id);
  }
  const issuers = [];
  for (const name of ['Acme', 'Entra', 'Google']) {
    // A domain belongs to one workspace.
    const domain = `${name.toLowerCase()}.${owner.tenantId}.example`;
    await app.sql(`INSERT INTO tenant_domains (tenant_id, domain, verified_at) VALUES ($1, $2, now())`, [
      owner.tenantId,
      domain,
    ]);
    const issuer = { name, issuer: 'http://127.0.0.1:9', client_id: name, domains: [domain] };
    issuers.push((await owner.api.post('/tenant/issuers', issuer)).body.issuer.id);
  }
  return {
    'tenant issuers': issuers as string[],
    'tenant invitations': invitations as string[],
    'tenant domains': domains,
    'tenant clients': clients as string[],
    'tenant tokens': tokens,
  };
}

/** A workspace with users and groups of an identity provider. */
async function makeScim(app: TestApp, slug: string) {
  const [owner] = await app.tenant(`${slug}-scim`, 'owner');
  const scim = await ScimClient.of(app, owner, 'acme.example');
  const users: string[] = [];
  for (let n = 0; n < 6; n += 1) users.push((await scim.user(`${slug}-${n}@acme.example`)).id);
  const groups: string[] = [];
  for (const displayName of ['Writers', 'Readers', 'Testers']) {
    const members = users.map((value) => ({ value }));
    groups.push((await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName, members })).body.id);
  }
  return { token: scim.token, ids: { 'scim Users': users, 'scim Groups': groups } };
}

/** Notifications about the objects created before: comments, shares, responses. */
async function makeNotifications(app: TestApp, owner: TestUser) {
  await app.get(OutboxWorker).drain();
  const { notifications } = (await owner.api.get('/notifications')).body;
  return { notifications: notifications.map(({ id }: { id: string }) => id) };
}

async function makeNotes(owner: TestUser, member: TestUser) {
  const folders = [];
  for (const name of ['Projects', 'Archive'])
    folders.push((await owner.api.post('/note_folders', { name })).body.folder.id);
  const notes = [];
  for (const title of ['Plan', 'Minutes', 'Ideas', 'Old']) {
    const { note } = (
      await owner.api.post('/notes', { title, content: `<p>${title}</p>`, folder_id: folders[0] })
    ).body;
    notes.push(note.id);
  }
  await owner.api.put(`/notes/${notes[0]}/invited`, { invited: [member.id] });
  await owner.api.post(`/notes/${notes[1]}/share`, { role: 'viewer' });
  await owner.api.delete(`/notes/${notes[3]}`, { base_revision: 1 });
  return { notes: notes as string[], note_folders: folders as string[] };
}

async function makeTasks(owner: TestUser, member: TestUser) {
  const { folder } = (await owner.api.post('/task_folders', { name: 'Launch', members: [member.id] })).body;
  const tasks = [];
  for (const title of ['Book rooms', 'Write agenda', 'Report'])
    tasks.push(
      (
        await owner.api.post('/tasks', {
          title,
          folder_id: folder.id,
          assignees: [member.id],
          due_at: '2099-01-04T09:00:00Z',
          recurrence: 'FREQ=WEEKLY',
        })
      ).body.task.id,
    );
  const path = `/tasks/${tasks[0]}`;
  const { subtask } = (await owner.api.post(`${path}/subtasks`, { title: 'Ask for a quote' })).body;
  const { comment } = (await owner.api.post(`${path}/comments`, { body: 'Done soon' })).body;
  const { attachment } = (await upload(owner.api, `${path}/attachments`, 'content')).body;
  return {
    tasks: tasks as string[],
    task_folders: [folder.id] as string[],
    subtasks: [subtask.id],
    comments: [comment.id],
    attachments: [attachment.id],
  };
}

async function makeContacts(owner: TestUser, member: TestUser) {
  const books = (await owner.api.get('/contact/addressbooks')).body.addressbooks;
  const shares = [{ user_id: member.id, role: 'writer' }];
  books.push((await owner.api.post('/contact/addressbooks', { name: 'Customers', shares })).body.addressbook);
  const contacts = ['phone-1', 'phone-2', 'phone-3'];
  for (const external_id of contacts)
    await owner.api.post(`/contact/addressbooks/${books[1].id}/contacts`, {
      external_id,
      full_name: external_id,
      emails: [`${external_id}@example.com`],
    });
  for (const external_id of contacts)
    await owner.api.request('PUT', `/contact/addressbooks/${books[1].id}/contacts/${external_id}/photo`, {
      headers: { 'content-type': 'image/png' },
      raw: PNG,
    });
  const [first, second] = books.map(({ id }: { id: string }) => id);
  return { addressbooks: [first, second, second, second] as string[], contacts };
}

async function makeSettings(owner: TestUser) {
  const { group } = (await owner.api.post('/rbac/groups', { name: 'Helpers' })).body;
  const signatures = [];
  for (const name of ['Short', 'Long'])
    signatures.push(
      (await owner.api.post('/settings/signatures', { name, html: '<p>x</p>' })).body.signature.id,
    );
  const made = await owner.api.post('/settings/application-passwords', {
    description: 'phone',
    scopes: ['imap'],
  });
  return { groups: [group.id], signatures, 'application-passwords': [made.body.application_password.id] };
}

async function makeMail(owner: TestUser) {
  const { results } = (await owner.api.get('/mail/users/me/mailboxes')).body;
  const drafts = results.find(({ path }: { path: string }) => path === 'Drafts').id;
  for (const subject of ['One', 'Two'])
    await owner.api.post(`/mail/users/me/mailboxes/${drafts}/messages`, {
      draft: true,
      subject,
      text: 'text',
    });
  const { body: made } = await owner.api.post('/mail/users/me/mailboxes', { path: 'Projects' });
  return {
    mailboxes: [drafts, drafts, made.id, ...results.map(({ id }: { id: string }) => id)],
    messages: ['1', '2', '3'],
  };
}

/** Webhooks in both directions, and devices for push messages. */
async function makePrograms(owner: TestUser, rooms: readonly string[]) {
  const webhooks: string[] = [];
  const incoming: string[] = [];
  const tokens: string[] = [];
  const devices: string[] = [];
  for (const name of ['One', 'Two', 'Three']) {
    const url = `http://127.0.0.1:9/${name}`;
    // Inactive: otherwise the other requests would cause deliveries.
    const webhook = { scope: 'user', url, event_types: ['task.created'], active: false };
    webhooks.push((await owner.api.post('/webhooks', webhook)).body.webhook.id);
    const hook = { name, target: { type: 'room', id: rooms[0] } };
    const made = (await owner.api.post('/incoming-webhooks', hook)).body.incoming_webhook;
    incoming.push(made.id);
    tokens.push(made.url.split('/').at(-1));
    const { subscription } = new PushDevice(url);
    const { body } = await owner.api.post('/notifications/push-subscriptions', subscription);
    devices.push(body.push_subscription.id);
  }
  return { webhooks, 'incoming-webhooks': incoming, hooks: tokens, 'push-subscriptions': devices };
}

async function makeChat(owner: TestUser, member: TestUser) {
  const { room } = (
    await owner.api.post('/chat/rooms', { type: 'group', name: 'Launch', member_ids: [member.id] })
  ).body;
  const { room: channel } = (
    await owner.api.post('/chat/rooms', { type: 'channel', name: 'All', visibility: 'tenant' })
  ).body;
  const { room: direct } = (await owner.api.post('/chat/rooms', { type: 'direct', member_ids: [member.id] }))
    .body;
  const messages = [];
  for (const body of ['Hello', 'The rooms are booked', 'Bye']) {
    const input = { client_msg_id: randomUUID(), body };
    messages.push((await owner.api.post(`/chat/rooms/${room.id}/messages`, input)).body.message.id);
  }
  const { attachment } = (await upload(owner.api, '/chat/attachments', 'content')).body;
  return {
    // The first room has the messages, so it is listed twice.
    rooms: [room.id, room.id, channel.id, direct.id] as string[],
    parties: [member.id, direct.id],
    'chat messages': messages as string[],
    'chat attachments': [attachment.id],
    'chat members': [member.id],
  };
}

async function makeCalendars(owner: TestUser, member: TestUser) {
  const { calendars } = (await owner.api.get('/calendar')).body;
  const shares = [{ user_id: member.id, role: 'writer' }];
  const { calendar } = (await owner.api.post('/calendar', { name: 'Team', shares })).body;
  const events = [];
  for (const recurrence of [null, { rules: ['FREQ=DAILY;COUNT=5'] }])
    events.push(
      (
        await owner.api.post(`/calendar/${calendar.id}/events`, {
          title: 'Stand-up',
          start: { date_time: '2026-03-02T09:00:00', time_zone: 'Europe/Berlin' },
          duration: 'PT30M',
          attendees: [{ email: member.email }],
          ...(recurrence && { recurrence }),
        })
      ).body.event.id,
    );
  const feeds: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { feed } = (await owner.api.post(`/calendar/${calendar.id}/feeds`, {})).body;
    feeds.push(feed.id, feed.url.split('/').at(-1));
  }
  const { poll } = (
    await owner.api.post('/calendar/polls', {
      title: 'Dinner',
      time_zone: 'Europe/Berlin',
      duration_minutes: 60,
      options: [{ start: '2099-03-02T19:00:00' }, { start: '2099-03-03T19:00:00' }],
      participants: [{ user_id: member.id }],
    })
  ).body;
  return {
    calendar: [calendar.id, calendar.id, calendar.id, calendars[0].id] as string[],
    events,
    polls: [poll.id] as string[],
    feeds,
  };
}

async function makeForms(owner: TestUser, member: TestUser) {
  const forms = [];
  const question = { id: 'stars', type: 'rating', title: 'Stars', settings: { max: 5 } };
  const definition = { sections: [{ id: 'all', title: 'All', questions: [question] }] };
  for (const title of ['Feedback', 'Survey', 'Archive'])
    forms.push((await owner.api.post('/forms', { title, definition })).body.form.id);
  const path = `/forms/${forms[0]}`;
  await owner.api.post(`${path}/publish`);
  const { response } = (await owner.api.post(`${path}/submit`, { answers: { stars: 4 } })).body;
  const { report } = (
    await owner.api.post(`${path}/reports`, { name: 'Stars', definition: { columns: ['stars'] } })
  ).body;
  await owner.api.post(`${path}/reports/${report.id}/share`, {
    viewers: [owner, member].map(({ id }) => ({ user_id: id })),
    expose: { form: true, responses: true },
  });
  return {
    // The first form has a response and a report, so it is listed three times.
    forms: [forms[0], forms[0], forms[0], forms[1], forms[2]] as string[],
    responses: [response.id] as string[],
    reports: [report.id] as string[],
    shared: [report.id] as string[],
  };
}
