import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { makeWorkspace } from '../contract/fuzz/workspace.ts';
import { TestApp } from '../support/app.ts';
import { LiveKit } from '../support/livekit/livekit.ts';
import { TestMailService } from '../support/mail/mail-service.ts';
import { freePort, ROOT, ServerProcess } from '../sync/servers.ts';
import { findExpensiveRequests, type Measured } from './expensive-requests.ts';
import { addLargeContent } from './large-content.ts';
import { OrdinaryClient, type Seen } from './ordinary-client.ts';

/** The short form is a part of CI: few requests, on a machine with other work. */
const IS_SHORT = process.env['FAIRNESS'] === 'short';
const FORM = IS_SHORT
  ? { variants: 1, milliseconds: 700, concurrency: 6, share: 0.2 }
  : { variants: 4, milliseconds: 10_000, concurrency: 12, share: 1 };
/** Names of domains, separated by commas: only these, and not all together. */
const ONLY = process.env['FAIRNESS_ONLY']?.split(',');
/**
 * Bars of the ordinary client and of the server. A busy machine stretches times, not failures. `idle`: the least 99th percentile that is
 * multiplied, milliseconds; in a few seconds beside nothing else it is sometimes that of a handful of requests.
 */
const BARS = IS_SHORT
  ? { times: 40, idle: 10, ms: 4_000, held: 3_000, memory: 800 }
  : { times: 5, idle: 1, ms: 1_000, held: 0, memory: 450 };

interface Row extends Seen {
  domain: string;
  /** Milliseconds of processor time by route. */
  held: [route: string, ms: number][];
  memory: number;
  statuses: Record<string, number>;
}

describe('the most expensive requests of a member', () => {
  let mail: TestMailService;
  let livekit: LiveKit;
  let app: TestApp;
  let server: ServerProcess;
  let metricsPort: number;

  beforeAll(async () => {
    mail = await TestMailService.start();
    livekit = await LiveKit.start();
    const settings = { ...mail.settings, ...livekit.settings, SMTP_URL: 'smtp://127.0.0.1:9' };
    app = await TestApp.start({ ...settings, TEST_CELLS: '' });
    metricsPort = await freePort();
    const { MALLOC_SETTINGS, NODE_FLAGS } = await import(path.join(ROOT, 'bin', 'lib', 'node-flags.mjs'));
    const ownSettings = { DATA_DIR: app.dataDir, METRICS_PORT: String(metricsPort), ...MALLOC_SETTINGS };
    server = new ServerProcess(
      app.databaseUrl,
      await freePort(),
      { ...settings, ...ownSettings },
      NODE_FLAGS,
    );
    await server.start();
  });
  afterAll(async () => {
    await server?.stop('SIGTERM');
    await app?.stop();
    await mail?.stop();
    await livekit?.stop();
  });

  /** Processor time of computations that have held the event loop for 0.1 s and more so far, seconds by route. */
  const holds = async (): Promise<Map<string, number>> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const lines = text.matchAll(/^event_loop_held_seconds_total\{[^}]*route="([^"]*)"[^}]*\} (\S+)$/gm);
    return new Map([...lines].map(([, route, seconds]) => [route as string, Number(seconds)]));
  };
  /** Since the last `clear_refs`, MB. */
  const peakMemory = (): number =>
    Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1_024;

  /** Repeats requests while the other client works. */
  const beside = async (
    domain: string,
    requests: readonly Measured[],
    client: OrdinaryClient,
  ): Promise<Row> => {
    writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
    const before = await holds();
    const workerData = { base: server.base, requests: requests.map(toSent), concurrency: FORM.concurrency };
    const attacker = new Worker(path.join(import.meta.dirname, 'attacker.mjs'), { workerData });
    const ended = new Promise<Record<string, number>>((resolve, reject) => {
      attacker.once('message', resolve).once('error', reject);
    });
    const seen = await client.work(FORM.milliseconds);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    attacker.postMessage('stop');
    const statuses = await ended;
    const held = [...(await holds())]
      .map(([route, seconds]): [string, number] => [route, (seconds - (before.get(route) ?? 0)) * 1_000])
      .filter(([, ms]) => ms > 0);
    return { domain, ...seen, held, memory: peakMemory(), statuses };
  };

  test('delay those of another workspace little, in each domain and in all together', async () => {
    const workspace = await makeWorkspace(app, 'expensive');
    await addLargeContent(app, workspace, FORM.share);
    const [bob] = await app.tenant('ordinary', 'bob');
    const client = new OrdinaryClient(server.base, bob.token);
    await client.work(FORM.milliseconds);
    const idle = await client.work(FORM.milliseconds);
    const found = await findExpensiveRequests(server.base, workspace, FORM.variants, IS_SHORT);
    for (const domain of found.keys()) if (ONLY && !ONLY.includes(domain)) found.delete(domain);
    const rows: Row[] = [];
    for (const [domain, requests] of found) rows.push(await beside(domain, requests, client));
    const all = [...found.values()].flat().toSorted((a, b) => b.ms - a.ms);
    if (!ONLY) rows.push(await beside('all together', all.slice(0, 30), client));
    await client.close();
    process.stdout.write(tableOf(idle, rows, found));

    const bar = Math.min(BARS.ms, Math.max(idle.p99, BARS.idle) * BARS.times);
    const missed = rows.flatMap(({ domain, p99, failures, isReady, held, memory }) => [
      ...(p99 > bar ? [`${domain}: p99 ${Math.round(p99)} ms, bar ${Math.round(bar)}`] : []),
      ...failures.map((failure) => `${domain}: ${failure}`),
      ...(isReady ? [] : [`${domain}: not ready`]),
      ...(totalOf(held) > BARS.held ? [`${domain}: the loop was held: ${textOf(held)}`] : []),
      ...(memory > BARS.memory ? [`${domain}: ${Math.round(memory)} MB`] : []),
    ]);
    expect(missed).toEqual([]);
  }, 3_600_000);
});

const totalOf = (held: Row['held']): number => held.reduce((sum, [, ms]) => sum + ms, 0);
const textOf = (held: Row['held']): string =>
  held.map(([route, ms]) => `${route} ${Math.round(ms)} ms`).join(', ');

const toSent = ({ method, path: target, headers, body }: Measured) => ({
  method,
  path: target,
  headers,
  body,
});

function tableOf(idle: Seen, rows: readonly Row[], found: ReadonlyMap<string, readonly Measured[]>): string {
  const ms = (value: number) => value.toFixed(value < 10 ? 1 : 0).padStart(6);
  const lines = rows.map(
    ({ domain, requests, p50, p99, longest, slowest, held, memory, statuses }) =>
      `${domain.padEnd(22)}${String(requests).padStart(6)}${ms(p50)}${ms(p99)}${ms(longest)}${ms(totalOf(held))}${ms(memory)}  ` +
      `${slowest}; ${JSON.stringify(statuses)} ${textOf(held)} ${(found.get(domain) ?? []).map(({ operation, ms: own }) => `${operation} ${Math.round(own)}`).join(', ')}`,
  );
  return (
    `idle: ${idle.requests} requests, p50 ${idle.p50.toFixed(1)} ms, p99 ${idle.p99.toFixed(1)} ms\n` +
    `${'domain'.padEnd(22)}${['n', 'p50', 'p99', 'max', 'held', 'MB'].map((name) => name.padStart(6)).join('')}  statuses and slowest operations (ms alone)\n` +
    `${lines.join('\n')}\n`
  );
}
