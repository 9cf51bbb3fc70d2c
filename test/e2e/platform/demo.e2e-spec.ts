import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { jest } from '@jest/globals';
import { NOTES, ROOMS } from '../../../src/demo/data/content.js';
import { CellError } from '../../../src/platform/cells/cell-administration.js';
import { WorkspaceMoves } from '../../../src/platform/cells/move/workspace-moves.js';
import { createDemoWorkspace, demoToken } from '../../../src/demo/demo-workspace.js';
import { DEMO_PASSWORD, DEMO_USERS } from '../../../src/demo/demo-client.js';
import { QueueRepository } from '../../../src/mail-service/delivery/queue.repository.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp } from '../../support/app.ts';
import { inTransaction } from '../../support/database/locks.ts';
import { Client } from '../../support/network/client.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { describedOperations } from '../../support/contract/operations.ts';
import { childEnv } from '../../support/installation/child-env.ts';
import { until } from '../../support/until.ts';

const MAIN = path.resolve(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');

/** The first member of a response that is a list. */
const listOf = (body: object): unknown[] | undefined =>
  Object.values(body).find((value) => Array.isArray(value));

describe('the demo workspace', () => {
  let mail: TestMailService;
  let app: TestApp;
  const clients: Client[] = [];

  beforeAll(async () => {
    mail = await TestMailService.start();
    app = await TestApp.start(mail.settings);
    await createDemoWorkspace(app.served.nest, { mail: true });
    const users = DEMO_USERS.map((user) => ({ ...user, password: DEMO_PASSWORD }));
    const made = await provision(app.served.nest, { tenants: [{ slug: 'demo', users }] }, true);
    clients.push(...made.users.map(({ token }) => app.as(token as string)));
    // Events and mail are delivered after the writes; arrived mail makes events of its own.
    const deliverEvents = () => app.get<OutboxWorker>(OutboxWorker).drain();
    await deliverEvents();
    const queue = mail.get<QueueRepository>(QueueRepository);
    await until('the mail of the demo', async () =>
      (await queue.summary()).every(({ state }) => state !== 'due'),
    );
    await deliverEvents();
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  /** Values of required query parameters. */
  const QUERIES: Record<string, string> = {
    searchNotes: '?q=welcome',
    searchTasks: '?q=the',
    searchEvents: '?q=review',
    searchForms: '?q=canteen',
    searchDirectory: '?q=alice',
    listRelatedItems: '?q=review',
  };
  /**
   * Calls need a media server; presence needs an open connection; passkeys and push messages need a browser; applications, invitations and
   * tokens are the company's own.
   */
  const EMPTY = new Set([
    'listConnectedApps',
    'listExternalInvites',
    'listGuestApprovals',
    'listInvitations',
    'listIssuers',
    'listLiveMeetings',
    'listPasskeys',
    'listPresence',
    'listPushSubscriptions',
    'listRecordings',
    'listScimTokens',
    'listTenantClients',
  ]);
  const OWNERS = new Set(['listIssuers', 'listScimTokens']);
  /** Not found: the demo has no images and no exports. */
  const FILES = new Set(['readSelfPhoto', 'readTenantLogo', 'downloadExport']);
  // SCIM has tokens of its own.
  const plain = describedOperations().filter(
    ({ method, path, spec }) => method === 'GET' && !/\{|\/scim\/v2\//.test(path) && spec.security.length > 0,
  );
  const lists = plain.filter(({ path }) => !path.endsWith('attachment'));

  test.each(lists.map(({ path, spec }) => [spec.operationId as string, path.replace('/apis/v1', '')]))(
    '%s returns items to each user who may call it',
    async (operationId, path) => {
      for (const [n, client] of clients.entries()) {
        const who = DEMO_USERS[n]!.name;
        const { status, body, headers } = await client.get(`${path}${QUERIES[operationId] ?? ''}`);
        // Some lists are for administrators, some for owners only.
        if (status === 403 || (status === 404 && FILES.has(operationId))) {
          const mayNot = n === 2 || (n === 1 && OWNERS.has(operationId));
          expect([operationId, mayNot || status === 404]).toEqual([operationId, true]);
          continue;
        }
        expect([operationId, who, status]).toEqual([operationId, who, 200]);
        if (!String(headers.get('content-type')).startsWith('application/json') || !listOf(body)) continue;
        if (EMPTY.has(operationId)) continue;
        expect([operationId, who, listOf(body)]).not.toEqual([operationId, who, []]);
      }
    },
  );

  test('lists below single objects contain items too', async () => {
    const [alice] = clients as [Client];
    const first = async (path: string) => listOf((await alice.get(path)).body)![0] as any;
    const note = (await alice.get('/search/notes?q=agenda')).body.notes[0] ?? (await first('/notes'));
    const task = (await alice.get('/tasks?q=rooms')).body.tasks[0];
    const group = (await alice.get('/rbac/groups')).body.groups.find((each: any) => each.name === 'Research');
    const inbox = (await alice.get('/mail/users/me/mailboxes')).body.results.find(
      (box: any) => box.path === 'INBOX',
    );
    const paths = [
      `/notes/${note.id}/revisions`,
      `/tasks/${task.id}/comments`,
      `/tasks/${task.id}/attachments`,
      `/rbac/groups/${group.id}/members`,
      `/rbac/groups/${group.id}/permissions`,
      `/mail/users/me/mailboxes/${inbox.id}/messages`,
    ];
    for (const path of paths)
      expect([path, listOf((await alice.get(path)).body)!.length > 0]).toEqual([path, true]);
    expect([task.subtasks.length, task.comments_count]).toEqual([2, 3]);
    for (const list of ['/notes?state=trash', '/tasks?state=trash'])
      for (const client of clients) expect(listOf((await client.get(list)).body)).not.toEqual([]);
    const { tasks } = (await alice.get('/tasks')).body;
    expect(tasks.map((each: any) => each.recurrence?.rrule)).toContain('FREQ=WEEKLY');
  });

  test('a room has the history of a call, an invite, and a guest in its queue', async () => {
    const [alice] = clients as [Client];
    const { rooms } = (await alice.get('/chat/rooms')).body;
    const path = `/chat/rooms/${rooms.find(({ name }: any) => name === 'General').id}`;
    const { messages } = (await alice.get(`${path}/messages`)).body;
    const events = messages.filter(({ kind }: any) => kind === 'call').map(({ event }: any) => event);
    expect(events).toMatchObject([
      { type: 'call_started', title: 'Offsite planning' },
      { type: 'call_ended', duration_ms: expect.any(Number), participants: 0 },
    ]);
    expect(events[1].duration_ms).toBeGreaterThanOrEqual(25 * 60_000);
    const { call } = (await alice.get(`/call/${events[0].call_id}`)).body;
    expect(call).toMatchObject({ state: 'ended', participants: 0 });
    expect((await alice.get(`${path}/external_invites`)).body.invites).toMatchObject([
      { kind: 'link', state: 'active', uses: 1 },
    ]);
    const { approvals } = (await alice.get(`${path}/external_invites/approvals`)).body;
    expect(approvals).toMatchObject([{ state: 'waiting', guest: { name: 'Helena Hotel' } }]);
  });

  test('a conversation is in the mailboxes of all three users', async () => {
    for (const client of clients) {
      const { results } = (await client.get('/mail/users/me/mailboxes')).body;
      const inbox = results.find((box: any) => box.path === 'INBOX').id;
      const subjects = await until('the conversation', async () => {
        const { body } = await client.get(`/mail/users/me/mailboxes/${inbox}/messages`);
        return body.results.length >= 3 && body.results.map((message: any) => message.subject);
      });
      expect(subjects).toContain('Re: Offsite in May');
    }
  });

  test('waits for no other process when it exists', async () => {
    await inTransaction(app.databaseUrl, async (other) => {
      await other.query('SELECT pg_advisory_xact_lock(770612)');
      await createDemoWorkspace(app.served.nest, { mail: true });
    });
  });

  test('is created once', async () => {
    const count = () =>
      app.sql(
        'SELECT (SELECT count(*) FROM notes)::int AS notes, (SELECT count(*) FROM tasks)::int AS tasks',
      );
    const before = await count();
    await createDemoWorkspace(app.served.nest, { mail: true });
    expect(await count()).toEqual(before);
    const token = await demoToken(app.served.nest);
    expect((await app.as(token as string).get('/notes')).status).toBe(200);
  });
});

test('a demo workspace whose creation was interrupted stays as it is if the role may not empty it', async () => {
  const app = await TestApp.start();
  try {
    await app.sql(
      `INSERT INTO tenants (id, slug, name) VALUES (uuid_v7(), 'demo (unfinished)', 'Demo Workspace')`,
    );
    const denied = jest.spyOn(app.get<WorkspaceMoves>(WorkspaceMoves), 'empty');
    denied.mockRejectedValueOnce(new CellError('permission denied'));
    await createDemoWorkspace(app.served.nest, { mail: false });
    expect(denied).toHaveBeenCalledTimes(1);
    expect(await app.sql('SELECT slug FROM tenants')).toEqual([{ slug: 'demo' }]);
    expect(await app.sql('SELECT FROM accounts WHERE password_hash IS NOT NULL')).toHaveLength(
      DEMO_USERS.length,
    );
  } finally {
    await app.stop();
  }
});

describe('a demo workspace whose creation was interrupted', () => {
  let mail: TestMailService;
  let app: TestApp;
  let settings: Record<string, string>;

  beforeAll(async () => {
    mail = await TestMailService.start();
    settings = { ...mail.settings, MAIL_SERVICE_EMBEDDED: 'true' };
    // The roles of the schemas may not empty a workspace.
    const TEST_CELLS = process.env['TEST_CELLS'] === 'databases' ? 'databases' : '';
    app = await TestApp.start({ ...settings, TEST_CELLS });
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  const slugs = () => app.sql('SELECT slug FROM tenants');
  const has = async (sql: string) => (await app.sql(sql)).length > 0;

  test('is created again, without anything of the first attempt', async () => {
    const env = { DATABASE_URL: app.databaseUrl, DATA_DIR: app.dataDir, DEMO: 'true', LOG_LEVEL: 'silent' };
    const server = spawn(process.execPath, [MAIN], {
      env: { ...childEnv(), ...settings, ...env, PORT: '0' },
      stdio: 'ignore',
    });
    const ended = once(server, 'exit');
    await until('files of the demo', () => has('SELECT FROM blobs'));
    await until('mail accounts', () => has('SELECT FROM mail_accounts WHERE mail_user_id IS NOT NULL'));
    server.kill('SIGKILL');
    await ended;
    const active = `SELECT FROM pg_stat_activity
                     WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
    await until('the end of its last statements', async () => !(await has(active)));
    expect(await slugs()).not.toEqual([{ slug: 'demo' }]);

    await createDemoWorkspace(app.served.nest, { mail: true });
    expect(await slugs()).toEqual([{ slug: 'demo' }]);
    const numberIn = async (table: string) => (await app.sql(`SELECT FROM ${table}`)).length;
    expect(await Promise.all(['notes', 'chat_rooms', 'form_responses'].map(numberIn))).toEqual([
      NOTES.length,
      ROOMS.length,
      200,
    ]);
    expect(await app.sql('SELECT FROM accounts WHERE password_hash IS NULL')).toEqual([]);
    const kept = await numberIn(`blobs WHERE state = 'kept'`);
    expect([kept, kept > 0]).toEqual([await numberIn('task_attachments'), true]);
    expect(await app.sql('SELECT files FROM file_usage')).toEqual([{ files: kept }]);
  });
});
