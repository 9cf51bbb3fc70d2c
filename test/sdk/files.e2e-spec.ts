import { openAsBlob, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createClient, type Progress, unwrap, type WorkspaceClient } from '@workspace-backend/client';
import { type TestUser, TestApp } from '../support/app.ts';
import { DisturbedNetwork } from '../support/sdk/network.ts';

const CONTENT = Buffer.alloc(300_000, 'workspace ');

describe('the files of the client library', () => {
  let app: TestApp;
  let alice: TestUser;
  let client: WorkspaceClient;
  let network: DisturbedNetwork;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());
  beforeEach(() => {
    network = new DisturbedNetwork();
    client = createClient({ url: app.base, token: () => alice.token, fetch: network.fetch });
  });

  const newTask = async () => unwrap(await client.POST('/tasks', { body: { title: 'With a file' } })).task.id;
  const attachments = async (id: string) =>
    unwrap(await client.GET('/tasks/{task_id}/attachments', { params: { path: { task_id: id } } }))
      .attachments;
  const upload = async (taskId: string, onProgress?: (progress: Progress) => void) => {
    const params = { path: { task_id: taskId } };
    const file = new Blob([CONTENT], { type: 'text/plain' });
    return client.upload('/tasks/{task_id}/attachments', { params, file, name: 'plan.txt', onProgress });
  };
  const readAll = async (stream: ReadableStream<Uint8Array> | null | undefined) =>
    Buffer.from(await new Response(stream).arrayBuffer());

  test('are sent with their progress, and read with theirs', async () => {
    const sent: Progress[] = [];
    const task_id = await newTask();
    const { attachment } = unwrap(await upload(task_id, (progress) => sent.push(progress)));
    expect(attachment).toMatchObject({ name: 'plan.txt', size: CONTENT.length });
    expect(sent.at(-1)).toEqual({ loaded: CONTENT.length, total: CONTENT.length });
    expect(sent.map(({ loaded }) => loaded)).toEqual(
      sent.map(({ loaded }) => loaded).toSorted((a, b) => a - b),
    );
    const read: Progress[] = [];
    const params = { path: { task_id, id: attachment.id } };
    const onProgress = (progress: Progress) => void read.push(progress);
    const { data } = await client.download('/tasks/{task_id}/attachments/{id}', { params, onProgress });
    expect((await readAll(data)).equals(CONTENT)).toBe(true);
    expect(read.at(-1)?.loaded).toBe(CONTENT.length);
  });

  test.each(['Übersicht.txt', '計画 100%.txt'])('keep the name %s', async (name) => {
    const params = { path: { task_id: await newTask() } };
    const file = new Blob([CONTENT]);
    const sent = await client.upload('/tasks/{task_id}/attachments', { params, file, name });
    expect(unwrap(sent).attachment.name).toBe(name);
  });

  test('are sent without progress too', async () => {
    const task_id = await newTask();
    expect((await upload(task_id)).response.status).toBe(201);
    expect(await attachments(task_id)).toHaveLength(1);
  });

  test('are stored once, although the response is lost', async () => {
    const task_id = await newTask();
    network.loseResponse('POST /tasks/');
    unwrap(await upload(task_id, () => undefined));
    expect(network.named('POST /tasks/')).toHaveLength(2);
    expect(await attachments(task_id)).toHaveLength(1);
  });

  test('are read from the disk while they are sent', async () => {
    const file = path.join(process.env['TEST_FILES']!, 'sdk-upload.txt');
    writeFileSync(file, CONTENT);
    const params = { path: { task_id: await newTask() } };
    const blob = await openAsBlob(file);
    const result = await client.upload('/tasks/{task_id}/attachments', {
      params,
      file: blob,
      name: 'disk.txt',
    });
    expect(unwrap(result).attachment.size).toBe(CONTENT.length);
  });

  test('stop when the signal aborts', async () => {
    const task_id = await newTask();
    const abort = new AbortController();
    const params = { path: { task_id } };
    const file = new Blob([CONTENT]);
    const onProgress = () => abort.abort();
    const call = client.upload('/tasks/{task_id}/attachments', {
      params,
      file,
      onProgress,
      signal: abort.signal,
    });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(await attachments(task_id)).toEqual([]);
  });

  test('report errors as calls do', async () => {
    const params = { path: { task_id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000' } };
    const { error } = await client.upload('/tasks/{task_id}/attachments', { params, file: new Blob(['x']) });
    expect(error?.error).toBe('not_found');
  });
});
