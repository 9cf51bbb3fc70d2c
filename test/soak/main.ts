import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Site } from '../realtime/site.ts';
import { freePort, ROOT, ServerProcess } from '../sync/servers.ts';
import { Swift } from '../s3/swift.ts';
import { SmallDisk } from './disk.ts';
import { FaultProxy } from './fault-proxy.ts';
import { quarters, type Sample, sample } from './gauges.ts';
import { Actor, Ledger } from './load.ts';
import { verify } from './verify.ts';

/**
 * The soak: two processes under a mixed load of all domains, with faults one after the other. Reports memory, handles and
 * connections of the process that is never killed, and every acknowledged write that is missing.
 *
 *     npm run soak -- --minutes 60 --every 60 --s3
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    /** Seconds between two faults. */
    every: { type: 'string', default: '60' },
    /** Files are in an object storage (OpenStack Swift) on the small disk, which also becomes slow. */
    s3: { type: 'boolean', default: false },
  },
});
const FAULT_MS = 8_000;
/** Delay of each piece of data from and to the slow object storage. */
const SLOW_MS = 1_500;
const SAMPLE_MS = 2_000;
/** Growth of the last quarter over the second one that counts as a leak. */
const GROWTH = 1.25;

const dist = (file: string): Promise<any> => import(path.join(ROOT, 'dist', file));
const { startMailService } = await dist('mail-service/mail-service.js');
const { Config } = await dist('config/config.js');

const end = Date.now() + Number(values.minutes) * 60_000;
const goOn = (): boolean => Date.now() < end;
const site = new Site();
const dataDir = mkdtempSync(path.join(os.tmpdir(), 'soak-'));
/** Room for the files of the load. */
const disk = SmallDisk.mount(64 + 6 * Math.ceil(Number(values.minutes)));
const ledger = new Ledger();
const closers: (() => unknown)[] = [() => rmSync(dataDir, { recursive: true, force: true })];
if (disk) closers.push(() => disk.unmount());
closers.push(() => site.stop());

/** @returns the proxy in front of the object storage, and the settings for it */
async function startStorage(): Promise<{ storage?: FaultProxy; settings: Record<string, string> }> {
  if (!values.s3) return { settings: disk ? { BLOB_STORE_URL: `file://${disk.directory}` } : {} };
  const swift = await Swift.start(disk?.directory);
  closers.push(() => swift.stop());
  const storage = new FaultProxy(swift.port);
  closers.push(() => storage.stop());
  const url = swift.url.replace(`:${swift.port}`, `:${await storage.listen()}`);
  return { storage, settings: { ...Swift.env, BLOB_STORE_URL: url } };
}

async function startServers(): Promise<{ proxy: FaultProxy; storage?: FaultProxy; metricsPorts: number[] }> {
  await site.start(['Alice', 'Bob', 'Carol', 'Dora'], 0);
  const token = randomBytes(20).toString('hex');
  const config = Config.parse({ LOG_LEVEL: 'silent', DATA_DIR: path.join(dataDir, 'mail') });
  const mail = await startMailService(config, { databaseUrl: site.databaseUrl, token, port: 0 });
  closers.push(() => mail.stop(1_000));
  const proxy = new FaultProxy(mail.port);
  closers.push(() => proxy.stop());
  const { storage, settings: files } = await startStorage();
  const settings = {
    DATA_DIR: dataDir,
    MAIL_SERVICE_URL: `http://127.0.0.1:${await proxy.listen()}`,
    MAIL_SERVICE_TOKEN: token,
    MAIL_SERVICE_TIMEOUT_MS: '3000',
    ...files,
  };
  const metricsPorts: number[] = [];
  for (const port of [await freePort(), await freePort()]) {
    const metricsPort = await freePort();
    const server = new ServerProcess(site.databaseUrl, port, { ...settings, METRICS_PORT: `${metricsPort}` });
    site.servers.push(server);
    metricsPorts.push(metricsPort);
    await server.start();
  }
  return { proxy, metricsPorts, ...(storage && { storage }) };
}

async function disturb(proxy: FaultProxy, storage?: FaultProxy): Promise<Record<string, number>> {
  const faults: [name: string, fault: () => Promise<void>][] = [
    ['second process killed', () => site.servers[1]!.crash()],
    ['PostgreSQL killed', async () => site.killPostgres()],
    [
      'mail service hangs',
      () =>
        during(
          () => proxy.hang(),
          () => proxy.release(),
        ),
    ],
  ];
  if (storage)
    faults.push([
      'object storage is slow',
      () =>
        during(
          () => storage.slow(SLOW_MS),
          () => storage.slow(0),
        ),
    ]);
  if (disk)
    faults.push([
      'disk full',
      () =>
        during(
          () => disk.fill(),
          () => disk.free(),
        ),
    ]);
  const done: Record<string, number> = {};
  const pause = Number(values.every) * 1_000;
  for (let n = 0; Date.now() + pause + 30_000 < end; n += 1) {
    await delay(pause);
    const [name, fault] = faults[n % faults.length]!;
    console.log(`${new Date().toISOString()} ${name}`);
    await fault();
    done[name] = (done[name] ?? 0) + 1;
  }
  return done;
}

async function during(begin: () => void, finish: () => void): Promise<void> {
  begin();
  await delay(FAULT_MS);
  finish();
}

/** @returns the samples of each process */
async function watch(metricsPorts: number[]): Promise<Sample[][]> {
  const samples: Sample[][] = metricsPorts.map(() => []);
  while (goOn()) {
    for (const [n, port] of metricsPorts.entries()) {
      const seen = await sample(port);
      if (seen) samples[n]!.push(seen);
    }
    await delay(SAMPLE_MS);
  }
  return samples;
}

function checkGrowth(process: Sample[]): void {
  const [, second, , last] = quarters(process) as [Sample, Sample, Sample, Sample];
  for (const key of ['rssMb', 'handles', 'connections'] as const)
    if (last[key] > second[key] * GROWTH)
      ledger.violations.push(`${key} grows: ${second[key]} to ${last[key]}`);
}

try {
  const { proxy, storage, metricsPorts } = await startServers();
  const bases = site.servers.map(({ base }) => base);
  const actors = site.users.map(({ token }) => new Actor(token, bases, ledger));
  for (const actor of actors) await actor.prepare();
  console.log(
    `${values.minutes} minutes, a fault every ${values.every} s${values.s3 ? ', files in S3' : ''}${disk ? '' : ', no full disk (not root)'}`,
  );
  const [samples, faults] = await Promise.all([
    watch(metricsPorts),
    disturb(proxy, storage),
    ...actors.map((actor) => actor.run(goOn)),
  ]);
  await verify(ledger, site.databaseUrl, site.servers[0]!.base);
  checkGrowth(samples[0]!);
  console.log('Faults', faults);
  console.log('Outcomes of requests', ledger.outcomes);
  console.log(
    'Acknowledged writes',
    Object.fromEntries(Object.entries(ledger.written).map(([table, ids]) => [table, ids.size])),
  );
  console.log('Medians of each quarter, process that is never killed');
  console.table(quarters(samples[0]!));
  for (const violation of [...new Set(ledger.violations)].slice(0, 40)) console.error(violation);
  console.log(ledger.violations.length === 0 ? 'No violation.' : `${ledger.violations.length} violations.`);
  process.exitCode = ledger.violations.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const closer of closers.toReversed()) await closer();
}
process.exit();
