import { rmSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Site } from '../realtime/site.ts';
import { Actor, Ledger } from '../soak/load.ts';
import { verify } from '../soak/verify.ts';
import { freePort, ServerProcess } from '../sync/servers.ts';
import { Cluster, type Member } from './cluster.ts';
import { Probe } from './probe.ts';

/**
 * A rehearsal of fail-overs with the files of `deploy/ha`: two processes serve a mixed load of all domains while the primary is
 * killed, changed by hand, frozen and cut off. It needs root, for network namespaces and for the account `postgres`.
 *
 *     npm run test:failover -- --rounds 1
 */
const { values } = parseArgs({
  options: {
    /** Repetitions of all faults. */
    rounds: { type: 'string', default: '1' },
    /** The processes find the primary among the hosts, without HAProxy. */
    hosts: { type: 'boolean', default: false },
    /** HAProxy leaves the sessions of a former primary open. */
    'leave-sessions': { type: 'boolean', default: false },
    /** All servers serve reads while they are standbys. */
    replicas: { type: 'boolean', default: false },
    /** Time between two faults, seconds. */
    pause: { type: 'string', default: '5' },
  },
});
/** Time that clients are without writes beyond the time in which the cluster has no primary, and the usual time between writes; milliseconds. */
const ALLOWED_MS = 3_000;
/** The same while a former primary joins: one turn of Patroni, which may choose another synchronous standby. */
const ALLOWED_WHILE_JOINING_MS = 6_000;
/** Time without a fault in which the usual time between writes is measured, milliseconds. */
const QUIET_MS = 10_000;

const cluster = new Cluster();
const ledger = new Ledger();
const closers: (() => unknown)[] = [() => cluster.stop()];
const table: string[] = [];
/** The longest time between two writes without a fault, milliseconds: that of the machine. */
let usual = 0;
const say = (text: string): void => console.log(`${new Date().toISOString()} ${text}`);
const pause = () => delay(Number(values.pause) * 1_000);

/** Causes a fault, and measures how long the cluster and the clients take. */
async function rehearse(name: string, probe: Probe, fault: () => Promise<void>): Promise<void> {
  say(name);
  probe.takeLongest();
  const began = performance.now();
  await fault();
  const engine = performance.now() - began;
  await probe.nextWrite();
  await pause();
  const away = probe.takeLongest();
  table.push(`${name.padEnd(34)} ${seconds(engine)} ${seconds(away)}`);
  if (away > engine + usual + ALLOWED_MS)
    ledger.violations.push(`${name}: no write for ${seconds(away)} s, the cluster took ${seconds(engine)} s`);
}

/** Waits until a former primary has joined, and measures how long clients cannot write meanwhile. */
async function join(member: Member, probe: Probe): Promise<void> {
  probe.takeLongest();
  await cluster.joined(member);
  await probe.nextWrite();
  const away = probe.takeLongest();
  table.push(`${'  it joins as a standby'.padEnd(34)} ${seconds(0)} ${seconds(away)}`);
  if (away > usual + ALLOWED_WHILE_JOINING_MS)
    ledger.violations.push(`${member.name} joins: no write for ${seconds(away)} s`);
}

/** @param port of the metrics of a process */
async function readsOnReplicas(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = [...text.matchAll(/^database_replica_reads_total\{.*outcome="replica".*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1).padStart(8);

async function faults(probe: Probe): Promise<void> {
  const killed = await cluster.primary();
  await rehearse('the primary loses its power', probe, async () => {
    cluster.kill(killed);
    await cluster.primary(killed);
  });
  cluster.startMember(killed);
  await join(killed, probe);
  const former = await cluster.primary();
  await rehearse('the operator changes the primary', probe, async () => {
    await cluster.switchOver(former);
    await cluster.primary(former);
  });
  await join(former, probe);
  const frozen = await cluster.primary();
  await rehearse('the primary hangs', probe, async () => {
    cluster.freeze(frozen);
    await cluster.primary(frozen);
  });
  cluster.reset(frozen);
  cluster.startMember(frozen);
  await join(frozen, probe);
  const lonely = await cluster.primary();
  await rehearse('the network of the primary is cut', probe, async () => {
    cluster.cut(lonely);
    await cluster.primary(lonely);
  });
  cluster.reconnect(lonely);
  await join(lonely, probe);
  if (!values.hosts) await rehearse('the proxy restarts', probe, () => cluster.restartProxy());
}

try {
  say('starting the cluster');
  await cluster.start({ leavesSessions: values['leave-sessions'] });
  const url = values.hosts ? cluster.hostsUrl : cluster.databaseUrl;
  const site = new Site(undefined, { url });
  closers.push(() => site.stop());
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'failover-data-'));
  closers.push(() => rmSync(dataDir, { recursive: true, force: true }));
  await site.start(['Alice', 'Bob', 'Carol', 'Prober'], 0);
  const metrics: number[] = [];
  for (let n = 0; n < 2; n += 1) {
    metrics.push(await freePort());
    const server = new ServerProcess(url, await freePort(), {
      DATA_DIR: dataDir,
      METRICS_PORT: `${metrics[n]}`,
      ...(values.replicas && { DATABASE_REPLICA_URLS: cluster.replicaUrls }),
    });
    site.servers.push(server);
    await server.start();
  }
  const bases = site.servers.map(({ base }) => base);
  const [prober, ...members] = site.users.toReversed();
  const actors = members.map(({ token }) => new Actor(token, bases, ledger));
  for (const actor of actors) await actor.prepare();
  const probe = new Probe(prober!.token, bases, ledger);
  let isOver = false;
  const load = Promise.all([...actors, probe].map((each) => each.run(() => !isOver)));
  await pause();
  probe.takeLongest();
  await delay(QUIET_MS);
  await probe.nextWrite();
  usual = probe.takeLongest();
  for (let round = 0; round < Number(values.rounds); round += 1) await faults(probe);
  isOver = true;
  await load;
  await verify(ledger, cluster.databaseUrl, bases[0]!);
  console.log('Outcomes of requests', ledger.outcomes);
  const written = Object.entries(ledger.written).map(([name, ids]) => [name, ids.size]);
  const all = written.reduce((sum, [, count]) => sum + Number(count), 0);
  console.log(`${all} acknowledged writes`, Object.fromEntries(written));
  if (values.replicas) {
    const reads = await Promise.all(metrics.map(readsOnReplicas));
    console.log('Reads on replicas', reads);
    if (!reads.every((count) => count > 0)) ledger.violations.push('a process has read from no replica');
  }
  console.log(`Without a fault ${seconds(usual)} s between two writes at most`);
  console.log(`${'Fault'.padEnd(34)}  cluster  clients (seconds)`);
  for (const line of table) console.log(line);
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
