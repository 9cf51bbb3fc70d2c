import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { TenantFiles } from '../../../src/modules/tenants/index.js';
import { FileLimits, FileUsageRepository } from '../../../src/platform/blobs/file-limits.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { json, workspace } from '../../support/installation/cli.ts';
import { upload } from '../../support/network/multipart.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('limits for files', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let n = 0;

  beforeAll(async () => {
    app = await TestApp.start({ FILES_LIMIT_MB: '3', FILES_USER_LIMIT_MB: '2' });
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    [ann, bob] = await app.tenant(`files${(n += 1)}`, 'ann', 'bob');
  });

  const bytes = (kib: number): Buffer => randomBytes(kib * KIB);
  const task = async ({ api }: TestUser): Promise<string> =>
    (await api.post('/tasks', { title: 'Files' })).body.task.id;
  const attach = async (person: TestUser, of: string, kib: number) =>
    upload(person.api, `/tasks/${of}/attachments`, bytes(kib));
  const send = (person: TestUser, kib: number) => upload(person.api, '/chat/attachments', bytes(kib));
  const use = async ({ api }: TestUser) => (await api.get('/tenant')).body.tenant.files;
  const operator = (limits: object) =>
    app.get(TenantFiles).change({ tenantId: ann.tenantId!, userId: null, origin: 'cli' }, limits);
  const rejected = ({ status, body }: { status: number; body: any }) => [status, body.error, body.scope];

  test('each member sees use and limits; kept files count, temporary and removed ones do not', async () => {
    expect(await use(ann)).toEqual({
      bytes: 0,
      count: 0,
      limit_bytes: 3 * MIB,
      own_bytes: 0,
      own_count: 0,
      user_limit_bytes: 2 * MIB,
    });
    const id = await task(ann);
    const { attachment } = (await attach(ann, id, 100)).body;
    await send(bob, 50);
    expect(await use(ann)).toMatchObject({ bytes: 150 * KIB, count: 2, own_bytes: 100 * KIB, own_count: 1 });
    expect((await bob.api.get('/tenant/files')).body.files).toMatchObject({ own_bytes: 50 * KIB });
    // A file that is read and not kept.
    const { calendars } = (await ann.api.get('/calendar')).body;
    await ann.api.request('POST', `/calendar/${calendars[0].id}/events/batch`, {
      raw: Buffer.from('BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'),
      headers: { 'content-type': 'text/calendar' },
    });
    expect(await use(ann)).toMatchObject({ count: 2 });
    await ann.api.delete(`/tasks/${id}/attachments/${attachment.id}`);
    expect(await use(ann)).toMatchObject({ bytes: 50 * KIB, count: 1, own_bytes: 0, own_count: 0 });
  });

  test('the limit of a user and that of the workspace reject uploads with 507 and store nothing', async () => {
    const id = await task(ann);
    expect((await attach(ann, id, 1_500)).status).toBe(201);
    const over = await attach(ann, id, 600);
    expect(rejected(over)).toEqual([507, 'file_limit_reached', 'user']);
    expect(over.body).toMatchObject({ used_bytes: 1_500 * KIB, limit_bytes: 2 * MIB });
    expect(rejected(await send(ann, 600))).toEqual([507, 'file_limit_reached', 'user']);
    expect((await attach(ann, id, 548)).status).toBe(201);
    expect(rejected(await attach(ann, id, 1))).toEqual([507, 'file_limit_reached', 'user']);
    expect((await send(bob, 1_000)).status).toBe(201);
    expect(rejected(await send(bob, 100))).toEqual([507, 'file_limit_reached', 'workspace']);
    expect(await use(bob)).toMatchObject({ bytes: 3_048 * KIB, own_bytes: 1_000 * KIB });
    expect((await ann.api.get(`/tasks/${id}`)).body.task.attachments).toHaveLength(2);
    // Another workspace has its own counters. Members of a full workspace can still read and delete.
    const [other] = await app.tenant(`other${n}`, 'ann');
    expect((await send(other, 1_000)).status).toBe(201);
    const [{ id: attachment }] = (await ann.api.get(`/tasks/${id}`)).body.task.attachments;
    expect((await ann.api.get(`/tasks/${id}/attachments/${attachment}`)).status).toBe(200);
    await ann.api.delete(`/tasks/${id}/attachments/${attachment}`);
    expect((await send(bob, 100)).status).toBe(201);
  });

  test('parallel uploads never exceed a limit', async () => {
    const id = await task(ann);
    const sent = await Promise.all(
      Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? attach(ann, id, 300) : send(ann, 300))),
    );
    const statuses = sent.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(6);
    for (const response of sent.filter(({ status }) => status !== 201 && status !== 429))
      expect(rejected(response)).toEqual([507, 'file_limit_reached', 'user']);
    expect(await use(ann)).toMatchObject({ bytes: 1_800 * KIB, count: 6, own_bytes: 1_800 * KIB });
    // Concurrent deletions release the space of all files.
    const { attachments } = (await ann.api.get(`/tasks/${id}`)).body.task;
    await Promise.all(
      attachments.map(({ id: one }: any) => ann.api.delete(`/tasks/${id}/attachments/${one}`)),
    );
    expect(await use(ann)).toMatchObject({ bytes: (6 - attachments.length) * 300 * KIB });
  });

  test('an owner sets the limit of each user, the operator both; changes are audited', async () => {
    expect((await bob.api.put('/tenant/files', { user_limit_bytes: 1 })).status).toBe(403);
    const set = await ann.api.put('/tenant/files', { user_limit_bytes: 100 * KIB });
    expect([set.status, set.body.files]).toMatchObject([
      200,
      { user_limit_bytes: 100 * KIB, limit_bytes: 3 * MIB },
    ]);
    expect(rejected(await send(bob, 101))).toEqual([507, 'file_limit_reached', 'user']);
    expect((await ann.api.put('/tenant/files', { user_limit_bytes: 0 })).body.files.user_limit_bytes).toBe(0);
    expect((await send(bob, 2_100)).status).toBe(201);
    await operator({ limit_bytes: 2 * MIB });
    // Files above a new limit stay.
    expect(await use(ann)).toMatchObject({ bytes: 2_100 * KIB, limit_bytes: 2 * MIB });
    expect(rejected(await send(ann, 1))).toEqual([507, 'file_limit_reached', 'workspace']);
    await operator({ limit_bytes: 0, user_limit_bytes: null });
    expect(await use(ann)).toMatchObject({ limit_bytes: 0, user_limit_bytes: 2 * MIB });
    expect((await send(ann, 1)).status).toBe(201);
    const { events } = (await ann.api.get('/tenant/audit?action=tenant.file_limits.updated')).body;
    expect(events.map(({ data }: any) => Object.keys(data.after))).toEqual([
      ['limit_bytes', 'user_limit_bytes'],
      ['limit_bytes'],
      ['user_limit_bytes'],
      ['user_limit_bytes'],
    ]);
    for (const value of [-1, 1.5, '1', 2 ** 51])
      expect((await ann.api.put('/tenant/files', { user_limit_bytes: value })).status).toBe(422);
  });

  test('limits that are written back as they were read stay those of the deployment', async () => {
    const own = async () =>
      (await app.sql('SELECT user_limit_bytes::int FROM file_usage WHERE tenant_id = $1', [ann.tenantId]))[0]
        ?.user_limit_bytes ?? null;
    const writeBack = async () => {
      const { files } = (await ann.api.get('/tenant/files')).body;
      const { status, body } = await ann.api.put('/tenant/files', files);
      expect([status, body]).toEqual([200, { files }]);
    };
    await writeBack();
    expect(await own()).toBeNull();
    await ann.api.put('/tenant/files', { user_limit_bytes: 0 });
    await writeBack();
    expect(await own()).toBe(0);
    await ann.api.put('/tenant/files', { user_limit_bytes: null });
    expect([await own(), (await use(ann)).user_limit_bytes]).toEqual([null, 2 * MIB]);
  });

  test('the command shows and changes the limits of a workspace', async () => {
    const env = { DATABASE_URL: app.databaseUrl, FILES_LIMIT_MB: '3', FILES_USER_LIMIT_MB: '2' };
    const run = (...args: string[]) => workspace(env, 'tenant', 'limits', '--tenant', `files${n}`, ...args);
    await send(bob, 30);
    const shown = { slug: `files${n}`, bytes: 30 * KIB, count: 1 };
    const limits = [
      [[], { limit_bytes: 3 * MIB, user_limit_bytes: 2 * MIB }],
      [['--files', '5', '--user-files', 'none'], { limit_bytes: 5 * MIB, user_limit_bytes: 0 }],
      [['--user-files', 'default'], { limit_bytes: 5 * MIB, user_limit_bytes: 2 * MIB }],
    ] as const;
    for (const [args, expected] of limits) {
      const result = await run(...args);
      expect(result.stderr).toBe('');
      expect(json(result)).toEqual({ ...shown, ...expected });
    }
    expect(await use(ann)).toMatchObject({ limit_bytes: 5 * MIB });
    const wrong = await run('--files', '5MB');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('a number of MiB')]);
    expect((await workspace(env, 'tenant', 'limits', '--tenant', 'nowhere')).stderr).toContain(
      'The workspace "nowhere" does not exist.',
    );
  });

  test('the users with most bytes are listed in pages', async () => {
    await send(bob, 30);
    await send(ann, 10);
    const id = await task(ann);
    await attach(ann, id, 50);
    expect((await bob.api.get('/tenant/files/users')).status).toBe(403);
    const first = (await ann.api.get('/tenant/files/users?limit=1')).body;
    expect(first.users).toEqual([{ user_id: ann.id, bytes: 60 * KIB, count: 2 }]);
    const second = (await ann.api.get(`/tenant/files/users?limit=1&cursor=${first.next}`)).body;
    expect(second).toEqual({ users: [{ user_id: bob.id, bytes: 30 * KIB, count: 1 }], next: null });
  });

  test('a job corrects counters', async () => {
    await send(bob, 30);
    await app.sql('UPDATE file_usage SET bytes = 7 WHERE tenant_id = $1', [ann.tenantId]);
    await app.sql('DELETE FROM user_file_usage WHERE tenant_id = $1', [ann.tenantId]);
    await app.sql('INSERT INTO user_file_usage (tenant_id, user_id, bytes, files) VALUES ($1, $2, 5, 5)', [
      ann.tenantId,
      ann.id,
    ]);
    await app.get(FileLimits).recount();
    expect(await use(bob)).toMatchObject({ bytes: 30 * KIB, count: 1, own_bytes: 30 * KIB, own_count: 1 });
    expect(await use(ann)).toMatchObject({ own_bytes: 0, own_count: 0 });
  });

  test('the job goes on after a workspace whose count fails, and reports the failure', async () => {
    const failing = ann.tenantId;
    await send(ann, 10);
    const [cleo] = await app.tenant(`files${(n += 1)}`, 'cleo');
    await send(cleo, 20);
    await app.sql('UPDATE file_usage SET bytes = 7 WHERE tenant_id = ANY ($1)', [[failing, cleo.tenantId]]);
    const usages = app.get(FileUsageRepository);
    const recount = jest.spyOn(usages, 'recount').mockImplementation((tenantId) => {
      if (tenantId === failing) return Promise.reject(new Error('not countable'));
      return FileUsageRepository.prototype.recount.call(usages, tenantId);
    });
    await expect(app.get(FileLimits).recount()).rejects.toThrow('failed for 1 items');
    recount.mockRestore();
    expect([(await use(ann)).bytes, (await use(cleo)).bytes]).toEqual([7, 20 * KIB]);
  });
});
