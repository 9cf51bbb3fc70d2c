import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { build } from 'esbuild';
import type { TestApp, TestUser } from '../../support/app.ts';
import { startSignIn } from '../../support/sign-in/sign-in.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

describe('the client library', () => {
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    app = await startSignIn();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

  test('works with the Node of the machine, such as 20', async () => {
    const script = path.join(ROOT, 'test', 'sdk', 'platforms', 'application.mjs');
    // npm and the scripts of the project put another Node in front.
    const PATH = process.env['PATH']!.split(path.delimiter)
      .filter((directory) => !directory.includes('node_modules'))
      .join(path.delimiter);
    const { stdout } = await promisify(execFile)('node', [script, app.base, alice.token, alice.id], {
      env: { PATH },
      timeout: 120_000,
    });
    expect(stdout).toMatch(/^passed with Node (?:2\d|[3-9]\d)\./);
  });

  /** What React Native has, with the polyfills that the README names. */
  const realm = async (source: string): Promise<Record<string, any>> => {
    const { outputFiles } = await build({
      stdin: { contents: source, resolveDir: import.meta.dirname },
      bundle: true,
      write: false,
      format: 'iife',
      platform: 'browser',
      target: 'es2022',
    });
    const { fetch, Request, Headers, FormData, Blob, URL, URLSearchParams } = globalThis;
    const { AbortController, setTimeout, clearTimeout } = globalThis;
    const globals: Record<string, any> = {
      fetch: async (request: Request) => withoutStream(await fetch(request)),
      crypto: { getRandomValues: crypto.getRandomValues.bind(crypto) },
      Request,
      Headers,
      FormData,
      Blob,
      URL,
      URLSearchParams,
      AbortController,
      setTimeout,
      clearTimeout,
      console,
    };
    globals['globalThis'] = globals;
    vm.runInNewContext(outputFiles[0]!.text, globals);
    return globals['library'];
  };
  const withoutStream = (response: Response): object => ({
    status: response.status,
    ok: response.ok,
    headers: response.headers,
    text: () => response.text(),
    json: () => response.json(),
    clone: () => withoutStream(response.clone()),
  });
  const SOURCE = `
    import * as calls from '@workspace-backend/client';
    import * as sync from '@workspace-backend/client/sync';
    globalThis.library = { ...calls, ...sync, remove: (name) => delete globalThis[name] };
  `;

  test('works without Web Locks, channels, IndexedDB, streams and structuredClone', async () => {
    const library = await realm(SOURCE);
    const client = library['createClient']({ url: app.base, token: () => alice.token });
    const store = library['memoryStore']();
    const workspace = await library['openWorkspace']({
      client,
      store,
      user: alice.id,
      collections: ['notes'],
    });
    const notes = workspace.collection('notes');
    const shown: string[][] = [];
    notes.live({}, (items: any[]) => shown.push(items.map(({ title }) => title)));
    const id = await notes.create({ title: 'From a phone' });
    await workspace.sync();
    expect((await alice.api.get(`/notes/${id}`)).body.note.title).toBe('From a phone');
    expect(shown.at(-1)).toContain('From a phone');
    await workspace.close();
  });

  test('says what the platform lacks', async () => {
    const library = await realm(SOURCE);
    const client = library['createClient']({ url: app.base, token: () => alice.token });
    const { task } = (await client.POST('/tasks', { body: { title: 'With a file' } })).data;
    const params = { path: { task_id: task.id, id: task.id } };
    await expect(client.download('/settings/profile', { params: {} })).rejects.toThrow(
      "This platform has no streams. Read the file by GET with parseAs: 'blob'.",
    );
    expect((await client.GET('/tasks/{task_id}/attachments/{id}', { params })).response.status).toBe(404);
    library['remove']('crypto');
    await expect(client.POST('/tasks', { body: { title: 'Without a key' } })).rejects.toThrow(
      'This platform has no crypto.getRandomValues. Import a polyfill first, such as react-native-get-random-values.',
    );
  });
});
