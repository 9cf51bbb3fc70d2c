import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cleanUp, freePort, isAlive, madeDataDir, type Running, startNode } from './support/processes.ts';
import { until } from '../support/until.ts';

afterEach(cleanUp);

interface Mail {
  process: number;
  port: number;
}

async function launch(settings: Record<string, string>): Promise<Running & { dataDir: string }> {
  const dataDir = madeDataDir();
  const running = startNode('bin/start.mjs', [], {
    DATABASE_URL: '',
    DEMO: 'false',
    METRICS_PORT: '',
    WEB_CONCURRENCY: '',
    MAIL_SERVICE_URL: '',
    MAIL_SMTP_PORT: '',
    LOG_LEVEL: 'info',
    HOST: '',
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    ...settings,
  });
  return { ...running, dataDir };
}

const logged = (server: Running): Record<string, unknown>[] =>
  server
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** The process ids of all mail services of the server. */
const mails = (server: Running): Mail[] =>
  logged(server).filter(({ msg }) => msg === 'mail service serving') as unknown as Mail[];

const serving = (server: Running) =>
  until('the server to serve', () => logged(server).some(({ msg }) => msg === 'serving'));

const responses = (port: number): Promise<number | undefined> =>
  fetch(`http://127.0.0.1:${port}/users/me/mailboxes`).then(
    ({ status }) => status,
    () => undefined,
  );

describe('the mail service of npm start', () => {
  test('runs once for all workers, hides its token, is restarted after a crash, and ends with the server', async () => {
    const server = await launch({ WEB_CONCURRENCY: '2' });
    await serving(server);
    expect(mails(server)).toHaveLength(1);
    const [first] = mails(server) as [Mail];
    expect(await responses(first.port)).toBe(403);
    // No token (64 hex digits) on the command line, in the environment or in the log.
    for (const file of ['cmdline', 'environ'])
      expect(readFileSync(`/proc/${first.process}/${file}`, 'utf8')).not.toMatch(/[0-9a-f]{64}/);
    process.kill(first.process, 'SIGKILL');
    await until('another one', () => mails(server).length === 2);
    const [, second] = mails(server) as [Mail, Mail];
    expect(second.port).toBe(first.port);
    expect(await responses(second.port)).toBe(403);
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(isAlive(second.process)).toBe(false);
    expect(server.stdout() + server.stderr()).not.toMatch(/[0-9a-f]{64}/);
  });

  test('reports in one line that its SMTP port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const server = await launch({ MAIL_SMTP_PORT: String(port), LOG_LEVEL: 'silent' });
    expect(await server.exit).toBe(1);
    expect(server.stderr()).toBe(`Port ${port} on 127.0.0.1 is in use; set MAIL_SMTP_PORT to another one.\n`);
    await new Promise((resolve) => taken.close(resolve));
  });
});
