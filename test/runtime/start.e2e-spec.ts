import { setTimeout as delay } from 'node:timers/promises';
import { childrenOf, cleanUp, freePort, isAlive, postmasterPid } from './support/processes.ts';
import { isReady, launch, OWN_MAIL, type Server, serverPid, started } from './support/server.ts';
import { until } from '../support/until.ts';

/** A request with the token that the server has printed. */
async function fetchWithToken(server: Server): Promise<Response> {
  const line = /^(eyJ\S+)\n/m;
  await until('the token', () => line.test(server.stdout()));
  return fetch(`http://127.0.0.1:${server.port}/apis/v1/notes`, {
    headers: { authorization: `Bearer ${line.exec(server.stdout())?.[1]}` },
  });
}

function databaseRuns(dataDir: string): boolean {
  const pid = postmasterPid(dataDir);
  return pid !== undefined && isAlive(pid);
}

/** The id of the process of the embedded mail service. */
function mailServicePid(server: Server): number | undefined {
  const pid = /"process":(\d+)[^\n]*"msg":"mail service serving"/.exec(server.stdout())?.[1];
  return pid === undefined ? undefined : Number(pid);
}

afterEach(cleanUp);

describe('npm start', () => {
  /** Each start takes seconds, so each test checks several properties of one server. */
  it('with one process: prints a token, keeps its port and directory, and stops cleanly on SIGINT', async () => {
    const metricsPort = await freePort();
    const server = await started(await launch({ DEMO: 'true', METRICS_PORT: String(metricsPort) }));
    expect((await fetchWithToken(server)).status).toBe(200);

    const portInUse = async (setting: string, port: number, workers: string) => {
      const second = await launch({ ...OWN_MAIL, [setting]: String(port), WEB_CONCURRENCY: workers });
      expect(await second.exit).toBe(1);
      expect(second.stderr()).toBe(`Port ${port} on 127.0.0.1 is in use; set ${setting} to another one.\n`);
      expect(databaseRuns(second.dataDir)).toBe(false);
    };
    const directoryInUse = async () => {
      const second = await launch({ ...OWN_MAIL, DATA_DIR: server.dataDir });
      expect(await second.exit).toBe(1);
      expect(second.stderr()).toBe(`Another workspace server is already running on ${server.dataDir}.\n`);
    };
    await Promise.all([
      directoryInUse(),
      portInUse('PORT', server.port, '1'),
      portInUse('PORT', server.port, '2'),
      portInUse('METRICS_PORT', metricsPort, '1'),
    ]);
    expect(await isReady(server.port)).toBe(true);

    server.child.kill('SIGINT');
    expect(await server.exit).toBe(0);
    expect(await isReady(server.port)).toBe(false);
    expect(databaseRuns(server.dataDir)).toBe(false);
  });

  it('with two processes: prints a token, replaces a killed worker, and stops all of them on SIGTERM', async () => {
    const server = await launch({ ...OWN_MAIL, DEMO: 'true', PORT: '0', WEB_CONCURRENCY: '2' });
    const address = /Workspace API +http:\/\/localhost:(\d+)\//;
    await until('the address', () => address.test(server.stdout()));
    server.port = Number(address.exec(server.stdout())?.[1]);
    expect(await isReady(server.port)).toBe(true);
    expect((await fetchWithToken(server)).status).toBe(200);
    const primary = await serverPid(server);
    const [worker] = childrenOf(primary);
    process.kill(worker!, 'SIGKILL');
    await until('a new worker', () => childrenOf(primary).filter((pid) => pid !== worker).length === 2);
    await until('the server to be ready', () => isReady(server.port));
    const workers = childrenOf(primary);
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect([primary, ...workers].filter(isAlive)).toEqual([]);
    expect(databaseRuns(server.dataDir)).toBe(false);
  });

  it('stops cleanly on a signal during the start', async () => {
    const server = await launch();
    await until('PostgreSQL to start', () => postmasterPid(server.dataDir) !== undefined);
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(databaseRuns(server.dataDir)).toBe(false);
  });

  it('recovers after kill -9, and stops the server when the launcher is killed', async () => {
    const first = await started(await launch());
    const mail = mailServicePid(first) as number;
    expect(isAlive(mail)).toBe(true);
    process.kill(await serverPid(first), 'SIGKILL');
    expect(await first.exit).toBe(137);
    await until('the mail service to end', () => !isAlive(mail));
    const { dataDir } = first;
    const second = await started(await launch({ ...OWN_MAIL, DATA_DIR: dataDir }));
    const pid = await serverPid(second);
    second.child.kill('SIGKILL');
    await until('the server to end', () => !isAlive(pid));
    expect(databaseRuns(dataDir)).toBe(false);
  });

  it('ends immediately on a second Ctrl-C, and closes the database', async () => {
    const server = await started(await launch(OWN_MAIL));
    const pid = await serverPid(server);
    expect(mailServicePid(server)).toBeUndefined();
    // A request whose body never ends stays in flight until its time limit.
    const hanging = fetch(`http://127.0.0.1:${server.port}/apis/v1/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
      body: new ReadableStream({ pull: () => delay(60_000, undefined, { ref: false }) }),
      duplex: 'half',
    }).catch(() => undefined);
    server.child.kill('SIGINT');
    await until('the server to begin its shutdown', () => server.stdout().includes('SIGINT: stopping'));
    let ended = false;
    void server.exit.then(() => (ended = true));
    // Repeats the signal until it counts as a second one. A server without requests in flight exits with 0 before that.
    await until('the server to end', () => {
      if (isAlive(pid)) server.child.kill('SIGINT');
      return ended;
    });
    expect([0, 130]).toContain(await server.exit);
    expect(databaseRuns(server.dataDir)).toBe(false);
    await hanging;
  });
});
