import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { freePort } from '../../support/network/ports.ts';
import { until } from '../../support/until.ts';

const GUIDE = readFileSync(path.resolve(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8');
const isInstalled = (program: string, argument: string): boolean =>
  spawnSync(program, [argument]).status === 0;

const INSTALLED: Record<string, boolean> = {
  python: isInstalled('python3', '--version'),
  go: isInstalled('go', 'version'),
};

/** The receivers of docs/webhooks.md, as a partner copies them. */
const RECEIVERS = [
  { language: 'js', file: 'receiver.mjs', run: (file: string) => [process.execPath, file] },
  { language: 'python', file: 'receiver.py', run: (file: string) => ['python3', file] },
  { language: 'go', file: 'receiver.go', run: compiled },
].filter(({ language }) => language === 'js' || INSTALLED[language]);

/** Compiles a receiver. @returns its command */
function compiled(file: string): string[] {
  const program = file.replace(/\.go$/, '');
  const { status, stderr } = spawnSync('go', ['build', '-o', program, file], {
    env: { ...process.env, GO111MODULE: 'off', GOCACHE: path.join(path.dirname(file), 'cache') },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return [program];
}

const codeOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(GUIDE)?.[1] as string;

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });

describe('the guide of webhooks', () => {
  let app: TestApp;
  let ann: TestUser;
  let directory: string;
  let child: ChildProcess | undefined;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('guide', 'ann');
    directory = mkdtempSync(path.join(tmpdir(), 'webhook-guide-'));
  });
  afterEach(() => void child?.kill('SIGKILL'));
  afterAll(async () => {
    await app?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test.each(RECEIVERS)(
    'the receiver in $language verifies a delivery, and rejects another secret',
    async ({ language, file, run }) => {
      const port = await freePort();
      const input = { scope: 'user', url: `http://127.0.0.1:${port}/hooks`, event_types: ['task.created'] };
      const { webhook } = ok(await ann.api.post('/webhooks', input), 201);
      writeFileSync(path.join(directory, file), codeOf(language));
      let output = '';
      const [program, ...parts] = run(path.join(directory, file)) as [string, ...string[]];
      child = spawn(program, parts, {
        env: { PATH: process.env['PATH'], SECRET: webhook.secret, RECEIVER_PORT: `${port}` },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      child.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
      await until('the receiver', () => listens(port));
      const { delivery } = ok(await ann.api.post(`/webhooks/${webhook.id}/test`));
      expect(delivery).toMatchObject({ state: 'delivered', status_code: 204 });
      ok(await ann.api.post('/tasks', { title: 'Book the venue' }), 201);
      await until('the event', () => output.includes('task.created'));
      expect(output).toContain(`${delivery.id} webhook.test`);
      ok(await ann.api.post(`/webhooks/${webhook.id}/rotate-secret`));
      await app.sql('UPDATE webhooks SET previous_secret = NULL, previous_until = NULL WHERE id = $1', [
        webhook.id,
      ]);
      expect(ok(await ann.api.post(`/webhooks/${webhook.id}/test`)).delivery.status_code).toBe(401);
    },
  );
});
