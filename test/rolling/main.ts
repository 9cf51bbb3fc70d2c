import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Site } from '../realtime/site.ts';
import { Actor, Ledger } from '../soak/load.ts';
import { verify } from '../soak/verify.ts';
import { freePort, ROOT, ServerProcess } from '../sync/servers.ts';

/**
 * A rolling upgrade: two processes of an earlier version serve a mixed load of all domains while this version migrates the
 * database and replaces one process after the other.
 *
 *     npm run test:rolling -- --from 9feeedd --seconds 20
 */
const { values } = parseArgs({
  options: {
    /** Commit of the earlier version; default: that of `test/fixtures/upgrade/release.json.gz`. */
    from: { type: 'string', default: '9feeedd' },
    /** Length of each phase. */
    seconds: { type: 'string', default: '20' },
  },
});
const SAMPLE = 200;

const closers: (() => unknown)[] = [];
const ledger = new Ledger();
const say = (text: string): void => console.log(`${new Date().toISOString()} ${text}`);
const pause = () => delay(Number(values.seconds) * 1_000);

/** Builds the earlier version in a directory of its own. It needs the history of the repository. */
async function earlierVersion(): Promise<string> {
  const directory = path.join(mkdtempSync(path.join(os.tmpdir(), 'rolling-')), 'earlier');
  closers.push(() => rmSync(path.dirname(directory), { recursive: true, force: true }));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, stdio: 'ignore' });
  git('worktree', 'add', '--detach', directory, values.from);
  closers.push(() => git('worktree', 'remove', '--force', directory));
  const [lock, own] = [directory, ROOT].map((root) =>
    readFileSync(path.join(root, 'package-lock.json'), 'utf8'),
  );
  if (lock === own) symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
  else execFileSync('npm', ['ci', '--silent'], { cwd: directory, stdio: 'inherit' });
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: directory });
  return directory;
}

/** The embedded mail service, which belongs to the version of the primary process. @returns how to stop it */
async function startMail(
  root: string,
  url: string,
  port: number,
  token: string,
  dataDir: string,
): Promise<() => Promise<void>> {
  const load = (file: string): Promise<any> => import(path.join(root, 'dist', file));
  const { startMailService } = await load('mail-service/mail-service.js');
  const { Config } = await load('config/config.js');
  const config = Config.parse({ LOG_LEVEL: 'silent', DATA_DIR: dataDir });
  const mail = await startMailService(config, { databaseUrl: url, token, port });
  return () => mail.stop(1_000);
}

/** A cursor of one version continues at the other one, and both read what the other has acknowledged. */
async function compare(bases: readonly [string, string], token: string): Promise<void> {
  const read = async (base: string, route: string): Promise<any> => {
    const response = await fetch(`${base}/apis/v1${route}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const body = await response.json();
    if (response.status !== 200)
      ledger.violations.push(`${route}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  };
  for (const [one, other] of [bases, bases.toReversed() as [string, string]]) {
    const { cursor } = await read(one, '/notes/changes?limit=20');
    await read(other, `/notes/changes?cursor=${cursor}`);
    const { next } = await read(one, '/notes?limit=5');
    if (next) await read(other, `/notes?limit=5&cursor=${next}`);
  }
  const { notes } = await read(bases[0], `/notes?limit=${SAMPLE}`);
  for (const { id } of notes) {
    const [one, other] = await Promise.all(bases.map((base) => read(base, `/notes/${id}`)));
    for (const key of ['title', 'content'])
      if (one.note?.[key] !== other.note?.[key]) ledger.violations.push(`note ${id}: ${key} differs`);
  }
}

try {
  say(`building ${values.from}`);
  const earlier = await earlierVersion();
  const site = new Site(earlier);
  closers.push(() => site.stop());
  await site.start(['Alice', 'Bob', 'Carol'], 0);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'rolling-data-'));
  closers.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const mail = {
    port: await freePort(),
    token: randomBytes(20).toString('hex'),
    dataDir: path.join(dataDir, 'mail'),
  };
  let stopMail = await startMail(earlier, site.databaseUrl, mail.port, mail.token, mail.dataDir);
  closers.push(() => stopMail());
  const settings = {
    DATA_DIR: dataDir,
    MAIL_SERVICE_URL: `http://127.0.0.1:${mail.port}`,
    MAIL_SERVICE_TOKEN: mail.token,
  };
  for (const port of [await freePort(), await freePort()]) {
    const server = new ServerProcess(site.databaseUrl, port, settings);
    server.root = earlier;
    site.servers.push(server);
    await server.start();
  }
  const [first, second] = site.servers as [ServerProcess, ServerProcess];
  const bases = [first.base, second.base] as const;
  let isOver = false;
  const actors = site.users.map(({ token }) => new Actor(token, bases, ledger));
  for (const actor of actors) await actor.prepare();
  const load = Promise.all(actors.map((actor) => actor.run(() => !isOver)));

  say('two processes of the earlier version');
  await pause();
  say('migration by this version');
  const cli = path.join(ROOT, 'dist', 'cli', 'main.js');
  const env = { ...process.env, DATABASE_URL: site.databaseUrl, DATA_DIR: dataDir, LOG_LEVEL: 'silent' };
  const { stdout } = await promisify(execFile)(process.execPath, [cli, 'migrate'], { env });
  say(stdout.trim());
  await pause();
  for (const [server, phase] of [
    [second, 'one process of each version'],
    [first, 'two processes of this version'],
  ] as const) {
    await server.stop('SIGTERM');
    server.root = ROOT;
    await server.start();
    say(phase);
    await pause();
    await compare(bases, site.users[0]!.token);
  }
  await stopMail();
  stopMail = await startMail(ROOT, site.databaseUrl, mail.port, mail.token, mail.dataDir);
  say('mail service of this version');
  await pause();
  isOver = true;
  await load;

  await verify(ledger, site.databaseUrl, first.base);
  console.log('Outcomes of requests', ledger.outcomes);
  const written = Object.entries(ledger.written).map(([table, ids]) => [table, ids.size]);
  console.log('Acknowledged writes', Object.fromEntries(written));
  for (const violation of [...new Set(ledger.violations)].slice(0, 40)) console.error(violation);
  if (ledger.violations.length > 0)
    for (const { output } of site.servers)
      console.error(
        output
          .split('\n')
          .filter((line) => line.includes('internal_error'))
          .join('\n'),
      );
  console.log(ledger.violations.length === 0 ? 'No violation.' : `${ledger.violations.length} violations.`);
  process.exitCode = ledger.violations.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const closer of closers.toReversed()) await closer();
}
process.exit();
