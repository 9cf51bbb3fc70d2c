import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { Outbox } from '../../../src/platform/events/outbox.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { Client } from '../../support/network/client.ts';
import { form, SlowRequest, upload } from '../../support/network/multipart.ts';
import { freePort } from '../../support/network/ports.ts';
import { purgeTask } from '../../support/domains/trash.ts';
import { until } from '../../support/until.ts';
import { childEnv } from '../../support/installation/child-env.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const MAX = 20 * 1024 * 1024;

describe('attachments of tasks', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let eve: TestUser;
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol] = await app.tenant('acme', 'alice', 'bob', 'carol');
    [eve] = await app.tenant('globex', 'eve');
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await app?.stop();
  });

  const newTask = async (fields = {}): Promise<string> => {
    const { status, body } = await alice.api.post('/tasks', { title: 'Book the rooms', ...fields });
    expect({ status, body }).toMatchObject({ status: 201 });
    return body.task.id;
  };
  const attach = async (task: string, content: string | Buffer = 'hello', part = {}): Promise<any> => {
    const { status, body } = await upload(alice.api, `/tasks/${task}/attachments`, content, part);
    expect({ status, body }).toMatchObject({ status: 201 });
    return body.attachment;
  };
  const read = async (task: string): Promise<any> => (await alice.api.get(`/tasks/${task}`)).body.task;
  const files = (): string[] => {
    const directory = path.join(app.dataDir, 'blobs');
    if (!existsSync(directory)) return [];
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  const blobOf = async (attachment: string): Promise<string> =>
    (await app.sql('SELECT blob_id FROM task_attachments WHERE id = $1', [attachment]))[0]?.blob_id;
  const seq = async (user: TestUser, task: string): Promise<number> =>
    Number(
      (await app.sql('SELECT seq FROM task_members WHERE user_id = $1 AND task_id = $2', [user.id, task]))[0]
        .seq,
    );

  test('a file is added, shown, downloaded and removed; all members of the task see each step', async () => {
    const task = await newTask({ assignees: [bob.id] });
    const before = { task: await read(task), seqs: [await seq(alice, task), await seq(bob, task)] };
    // Zeros first: the beginning of random bytes may be that of a known type.
    const content = Buffer.concat([Buffer.alloc(64), randomBytes(69_936)]);
    const body = form({ field: 'anything', filename: 'plan “A”.bin', content });
    const added = await bob.api.request('POST', `/tasks/${task}/attachments`, body);
    const { id } = added.body.attachment;
    const attachment = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'plan “A”.bin',
      size: 70_000,
      content_type: 'application/octet-stream',
      sha256: createHash('sha256').update(content).digest('hex'),
      url: `/apis/v1/tasks/${task}/attachments/${id}`,
      created_by: bob.id,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    };
    expect(added).toMatchObject({ status: 201, body: { attachment, task: { id: task, revision: 1 } } });
    expect(added.headers.get('etag')).toBe(`"task:${task}:r1"`);
    expect(added.headers.get('location')).toBe(attachment.url);
    expect(added.body.task.attachments).toEqual([attachment]);
    expect(await read(task)).toMatchObject({ revision: 1, attachments: [attachment] });
    expect((await alice.api.get(`/tasks/${task}/attachments`)).body).toEqual({
      attachments: [attachment],
      next: null,
    });
    const seqs = [await seq(alice, task), await seq(bob, task)];
    expect(seqs.every((now, n) => now > before.seqs[n]!)).toBe(true);

    const response = await fetch(app.base + attachment.url, {
      headers: { authorization: `Bearer ${alice.token}` },
    });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(/^attachment; /),
      'content-security-policy': expect.stringContaining('sandbox'),
      'x-content-type-options': 'nosniff',
      etag: `"${attachment.sha256}"`,
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    const head = await alice.api.request('HEAD', `/tasks/${task}/attachments/${id}`);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '70000']);
    const part = await alice.api.get(`/tasks/${task}/attachments/${id}`, { headers: { range: 'bytes=-5' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 69995-69999/70000']);

    const blob = await blobOf(id);
    const removed = await alice.api.delete(`/tasks/${task}/attachments/${id}`);
    expect(removed).toMatchObject({
      status: 200,
      body: { deleted: true, task: { revision: 1, attachments: [] } },
    });
    expect((await alice.api.get(`/tasks/${task}/attachments/${id}`)).status).toBe(404);
    expect((await alice.api.delete(`/tasks/${task}/attachments/${id}`)).status).toBe(404);
    await app.get(BlobCollector).collect();
    expect(files()).not.toContain(blob);

    const activity = await app.sql(
      'SELECT type, actor_id, data FROM task_activity WHERE task_id = $1 ORDER BY n',
      [task],
    );
    expect(activity.slice(1)).toEqual([
      { type: 'attachment_added', actor_id: bob.id, data: { id, name: 'plan “A”.bin' } },
      { type: 'attachment_deleted', actor_id: alice.id, data: { id, name: 'plan “A”.bin' } },
    ]);
  });

  test('each change has its event with recipients, in its transaction', async () => {
    const heard: Record<string, unknown>[] = [];
    const outbox = app.get(Outbox);
    outbox.subscribe('task.updated', 'test', async ({ payload }) => void heard.push(payload));
    const task = await newTask();
    const { id } = await attach(task);
    await alice.api.delete(`/tasks/${task}/attachments/${id}`);
    const ours = () => heard.filter(({ task_id }) => task_id === task);
    await until('the events', async () => {
      await app.get(OutboxWorker).drain();
      return ours().length >= 2;
    });
    const change = { task_id: task, actor_id: alice.id, revision: 1, changed: ['attachments'] };
    expect(ours()).toEqual([change, change]);
  });

  test('HTML is accepted and never served as HTML', async () => {
    const task = await newTask();
    const { id, content_type } = await attach(task, '<!doctype html><script>alert(1)</script>', {
      filename: 'page.html',
      type: 'text/html',
    });
    expect(content_type).toBe('application/octet-stream');
    const { headers } = await alice.api.get(`/tasks/${task}/attachments/${id}`);
    expect(headers.get('content-disposition')).toBe('attachment; filename=page.html');
    expect(headers.get('content-security-policy')).toContain("sandbox; default-src 'none'");
  });

  test('exactly 20 MiB are accepted, one byte more is not', async () => {
    const task = await newTask();
    const content = Buffer.alloc(MAX + 1, 'x');
    expect((await attach(task, content.subarray(0, MAX))).size).toBe(MAX);
    const rejected = await upload(alice.api, `/tasks/${task}/attachments`, content);
    expect(rejected).toMatchObject({ status: 413, body: { error: 'file_too_large' } });
    expect((await read(task)).attachments).toHaveLength(1);
  });

  describe('permissions', () => {
    let task: string;
    let id: string;
    beforeAll(async () => {
      task = await newTask();
      ({ id } = await attach(task));
      await makeViewer(carol);
    });

    /** Makes a user a viewer of the task, as a shared folder does. */
    const makeViewer = async (user: TestUser) => {
      await app.sql(
        `INSERT INTO task_members (tenant_id, task_id, user_id, role, seq, listed_at, position, due_on, open, assigned, trashed)
         SELECT tenant_id, task_id, $2, 'viewer', 999999, listed_at, position, due_on, open, false, false FROM task_members WHERE task_id = $1 LIMIT 1`,
        [task, user.id],
      );
    };

    test('readers download, and neither add nor remove', async () => {
      expect((await carol.api.get(`/tasks/${task}/attachments/${id}`)).text).toBe('hello');
      expect(await upload(carol.api, `/tasks/${task}/attachments`, 'x')).toMatchObject({
        status: 403,
        body: { error: 'forbidden' },
      });
      expect(await carol.api.delete(`/tasks/${task}/attachments/${id}`)).toMatchObject({ status: 403 });
    });

    test('others and other workspaces find nothing, and their files are not read', async () => {
      for (const user of [bob, eve]) {
        for (const [method, target] of [
          ['GET', `/tasks/${task}/attachments/${id}`],
          ['HEAD', `/tasks/${task}/attachments/${id}`],
          ['GET', `/tasks/${task}/attachments`],
          ['DELETE', `/tasks/${task}/attachments/${id}`],
        ] as const) {
          expect((await user.api.request(method, target)).status).toBe(404);
        }
        const { headers } = form();
        const request = new SlowRequest(user.api, 'POST', `/tasks/${task}/attachments`, {
          ...headers,
          'content-length': MAX,
        });
        expect(await request.response).toMatchObject({ status: 404, body: { error: 'not_found' } });
        request.abort();
      }
      expect((await alice.api.get(`/tasks/${task}/attachments/${id}`)).text).toBe('hello');
    });

    test('an attachment belongs to its task', async () => {
      const other = await newTask();
      expect((await alice.api.get(`/tasks/${other}/attachments/${id}`)).status).toBe(404);
      expect((await alice.api.delete(`/tasks/${other}/attachments/${id}`)).status).toBe(404);
      expect((await alice.api.get(`/tasks/${task}/attachments/none`)).body.error).toBe('invalid_id');
    });
  });

  test('a form without one file, and no form at all, change nothing', async () => {
    const task = await newTask();
    const target = `/tasks/${task}/attachments`;
    const file = { filename: 'a', content: 'x' };
    const cases = [
      [form({ field: 'note', content: 'x' }), 422],
      [form(file, file), 422],
      [{ raw: '{}' }, 415],
      [{ raw: 'x', headers: { 'content-type': 'multipart/form-data; boundary=b' } }, 400],
    ] as const;
    for (const [options, status] of cases) {
      expect((await alice.api.request('POST', target, options)).status).toBe(status);
    }
    expect(await read(task)).toMatchObject({ revision: 1, attachments: [] });
  });

  test('a task in the trash keeps its files, and accepts no more', async () => {
    const task = await newTask();
    const { id } = await attach(task);
    expect((await alice.api.delete(`/tasks/${task}`)).status).toBe(200);
    expect(await upload(alice.api, `/tasks/${task}/attachments`, 'x')).toMatchObject({
      status: 409,
      body: { error: 'deleted', revision: 1 },
    });
    expect(await alice.api.delete(`/tasks/${task}/attachments/${id}`)).toMatchObject({ status: 409 });
    expect((await alice.api.get(`/tasks/${task}/attachments/${id}`)).text).toBe('hello');
  });

  test('a purge of the task removes its files', async () => {
    const task = await newTask();
    const blobs = [await blobOf((await attach(task)).id), await blobOf((await attach(task)).id)];
    await alice.api.delete(`/tasks/${task}`);
    await purgeTask(app, task);
    await app.get(BlobCollector).collect();
    expect(files().filter((name) => blobs.includes(name))).toEqual([]);
    expect(await app.sql('SELECT id FROM blobs WHERE id = ANY ($1)', [blobs])).toEqual([]);
  });

  test('fifty at most, also with concurrent uploads', async () => {
    const task = await newTask();
    for (let n = 0; n < 46; n += 1) await attach(task, String(n));
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => upload(alice.api, `/tasks/${task}/attachments`, 'x')),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 422, 422, 422, 422]);
    expect(responses.find(({ status }) => status === 422)?.body.error).toBe('too_many_attachments');
    expect((await read(task)).attachments).toHaveLength(50);
    const stored = await app.sql(
      `SELECT count(*)::int AS n FROM blobs b JOIN task_attachments a ON (a.tenant_id, a.blob_id) = (b.tenant_id, b.id)
        WHERE a.task_id = $1 AND b.state = 'kept'`,
      [task],
    );
    expect(stored[0].n).toBe(50);
    expect((await app.sql(`SELECT id FROM blobs WHERE state = 'pending'`)).length).toBe(0);
  });

  test('the same file twice with one Idempotency-Key is one attachment', async () => {
    const task = await newTask();
    const send = (content: string) => {
      const { raw, headers } = form({ filename: 'a.txt', content });
      return alice.api.request('POST', `/tasks/${task}/attachments`, {
        raw,
        headers: { ...headers, 'idempotency-key': 'k1' },
      });
    };
    const [one, two] = [await send('x'), await send('x')];
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(two.body).toEqual(one.body);
    expect((await read(task)).attachments).toHaveLength(1);
    expect(await send('y')).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } });
    expect(await app.sql(`SELECT id FROM blobs WHERE state = 'pending'`)).toEqual([]);
  });

  test('a server killed while it receives a file leaves nothing behind', async () => {
    const task = await newTask();
    const port = await freePort();
    const env = {
      DATABASE_URL: app.databaseUrl,
      DATA_DIR: app.dataDir,
      DEMO: 'false',
      LOG_LEVEL: 'error',
      PORT: String(port),
    };
    const server = spawn(process.execPath, [path.join(ROOT, 'dist', 'main.js')], {
      cwd: ROOT,
      env: { ...childEnv(), ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.add(server);
    const api = new Client(`http://127.0.0.1:${port}`, alice.token);
    await until('the server', () =>
      api.get('/health/ready').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    const before = files();
    const { raw, headers } = form({ filename: 'a', content: Buffer.alloc(5_000_000, 'x') });
    const request = new SlowRequest(api, 'POST', `/tasks/${task}/attachments`, {
      ...headers,
      'content-length': raw.length,
    });
    await request.write(raw.subarray(0, 3_000_000));
    await until('the upload to run', () => files().some((name) => name.endsWith('.unfinished')));
    const closed = new Promise((resolve) => server.once('close', resolve));
    server.kill('SIGKILL');
    await closed;
    await expect(request.response).rejects.toThrow();
    expect(files().length).toBe(before.length + 1);
    await app.sql('UPDATE blobs SET due_at = now() - make_interval(secs => 1) WHERE due_at IS NOT NULL');
    await app.get(BlobCollector).collect();
    expect(files().sort()).toEqual(before.sort());
    expect((await read(task)).attachments).toEqual([]);
  });
});
