import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, ROOT } from '../sync/servers.ts';

const MEMBERS = ['db1', 'db2', 'db3'] as const;
const PASSWORD = 'failover';
const DEADLINE_MS = 120_000;
const POLL_MS = 50;

/** A PostgreSQL with its Patroni, on a host that is a network namespace. */
export interface Member {
  name: string;
  address: string;
  /** The interface that connects the host. */
  link: string;
  namespace: string;
  directory: string;
  patroni: ChildProcess | undefined;
}

/** Three PostgreSQL servers under Patroni in synchronous mode, etcd and HAProxy, made from the files of `deploy/ha`. */
export class Cluster {
  readonly members: Member[] = [];
  private readonly directory = mkdtempSync(path.join(os.tmpdir(), 'failover-'));
  private readonly account = accountOf('postgres');
  private readonly log: string;
  /** The network of the hosts, none of `deploy/ha/compose.yaml`. This machine is its first address. */
  private readonly bridge = `wfo${process.pid % 100_000}`;
  private readonly network = `10.232.${process.pid % 256}`;
  private etcd: ChildProcess | undefined;
  private haproxy: ChildProcess | undefined;
  private etcdPort = 0;
  private port = 0;

  constructor() {
    this.log = path.join(this.directory, 'log');
    writeFileSync(this.log, '');
  }

  /** The database behind HAProxy. */
  get databaseUrl(): string {
    return this.urlOf(`127.0.0.1:${this.port}`);
  }

  /** The database without HAProxy: `DATABASE_URL` with several hosts. */
  get hostsUrl(): string {
    const hosts = this.members.map(({ address }) => address).join(',');
    return `${this.urlOf(hosts)}?target_session_attrs=read-write`;
  }

  /** All servers, as `DATABASE_REPLICA_URLS` names them. */
  get replicaUrls(): string {
    return this.members.map(({ address }) => this.urlOf(address)).join(',');
  }

  /** @param leavesSessions HAProxy leaves the sessions of a former primary open */
  async start({ leavesSessions = false } = {}): Promise<void> {
    execFileSync('chown', ['postgres', this.directory]);
    [this.port, this.etcdPort] = [await freePort(), await freePort()];
    const peer = await freePort();
    ip('link', 'add', this.bridge, 'type', 'bridge');
    ip('address', 'add', `${this.network}.1/24`, 'dev', this.bridge);
    ip('link', 'set', this.bridge, 'up');
    const url = (port: number): string => `http://${this.network}.1:${port}`;
    const endpoints = {
      'data-dir': path.join(this.directory, 'etcd'),
      'listen-client-urls': url(this.etcdPort),
      'advertise-client-urls': url(this.etcdPort),
      'listen-peer-urls': url(peer),
    };
    this.etcd = this.run(
      '/usr/bin/etcd',
      Object.entries(endpoints).map(([name, value]) => `--${name}=${value}`),
    );
    for (const [n, name] of MEMBERS.entries()) this.addHost(name, n);
    for (const member of this.members) this.startMember(member);
    this.writeProxy(leavesSessions);
    this.startProxy();
    const primary = await this.primary();
    await this.until('a synchronous standby', async () => (await this.roles()).includes('sync_standby'));
    const role = `CREATE ROLE workspace LOGIN PASSWORD '${PASSWORD}' IN ROLE pg_read_all_stats`;
    this.onMember(primary, role, 'CREATE DATABASE workspace OWNER workspace');
  }

  /** The member that Patroni calls the primary. Waits for one. @param other than this one */
  async primary(other?: Member): Promise<Member> {
    let found: Member | undefined;
    await this.until('a primary', async () => {
      for (const member of this.members) if (member !== other && (await isPrimary(member))) found = member;
      return found !== undefined;
    });
    return found!;
  }

  /** Starts a member again, as its host does after a restart. */
  startMember(member: Member): void {
    const { directory } = member;
    mkdirSync(path.join(directory, 'socket'), { recursive: true });
    for (const each of [directory, path.join(directory, 'socket')])
      chownSync(each, this.account.uid, this.account.gid);
    const file = path.join(directory, 'patroni.yml');
    writeFileSync(file, this.patroniSettings(member));
    const { uid, gid } = this.account;
    const host = [`--net=/run/netns/${member.namespace}`, `--setuid=${uid}`, `--setgid=${gid}`];
    member.patroni = this.run('/usr/bin/nsenter', [...host, '/usr/bin/patroni', file]);
  }

  /** The host loses its power. */
  kill(member: Member): void {
    const postgres = postmasterOf(member);
    member.patroni?.kill('SIGKILL');
    for (const pid of [postgres, ...childrenOf(postgres)]) signal(pid, 'SIGKILL');
  }

  /** Nothing on the host runs until {@link reset}. */
  freeze(member: Member): void {
    for (const pid of this.processesOf(member)) signal(pid, 'SIGSTOP');
  }

  /**
   * The watchdog of the host resets it: it never wakes up. Without a watchdog, Patroni 3.0.2 with etcd3 lets a primary that hung for
   * longer than `ttl` keep its role, and rewinds the one that was promoted meanwhile, with the writes that it had acknowledged.
   */
  reset(member: Member): void {
    this.kill(member);
  }

  /** The host loses its network. */
  cut({ link }: Member): void {
    ip('link', 'set', link, 'down');
  }

  /** Ends {@link cut}. */
  reconnect({ link }: Member): void {
    ip('link', 'set', link, 'up');
  }

  /** The operator changes the primary. */
  async switchOver(from: Member): Promise<void> {
    await fetch(`${restOf(from)}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: from.name }),
    });
  }

  async restartProxy(): Promise<void> {
    const ended = new Promise((resolve) => this.haproxy!.once('exit', resolve));
    this.haproxy!.kill('SIGKILL');
    await ended;
    this.startProxy();
  }

  /** Waits until a member runs again as a standby that follows the primary. */
  async joined(member: Member): Promise<void> {
    await this.until(`${member.name} to follow`, async () =>
      ask(member, '/replica?lag=16MB').then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    await this.until('a synchronous standby', async () => (await this.roles()).includes('sync_standby'));
  }

  /** Removes what {@link start} has made, also when it has failed in the middle. */
  stop(): void {
    for (const member of this.members) this.kill(member);
    this.haproxy?.kill('SIGKILL');
    this.etcd?.kill('SIGKILL');
    for (const { namespace } of this.members)
      if (existsSync(`/run/netns/${namespace}`)) ip('netns', 'delete', namespace);
    if (existsSync(`/sys/class/net/${this.bridge}`)) ip('link', 'delete', this.bridge);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  private async roles(): Promise<string[]> {
    for (const member of this.members) {
      const cluster = await ask(member, '/cluster')
        .then((response) => response.json() as Promise<{ members: { role: string }[] }>)
        .catch(() => undefined);
      if (cluster) return cluster.members.map(({ role }) => role);
    }
    return [];
  }

  private urlOf(hosts: string): string {
    return `postgres://workspace:${PASSWORD}@${hosts}/workspace`;
  }

  private onMember({ address }: Member, ...commands: string[]): void {
    const env = { ...process.env, PGPASSWORD: PASSWORD };
    const args = ['-h', address, '-U', 'postgres', '-q', ...commands.flatMap((command) => ['-c', command])];
    execFileSync('/usr/lib/postgresql/15/bin/psql', args, { env });
  }

  private addHost(name: string, n: number): void {
    const [namespace, link, address] = [
      `${this.bridge}-${name}`,
      `${this.bridge}${n}`,
      `${this.network}.${11 + n}`,
    ];
    const directory = path.join(this.directory, name);
    this.members.push({ name, address, link, namespace, directory, patroni: undefined });
    ip('netns', 'add', namespace);
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('link', 'set', link, 'master', this.bridge, 'up');
    ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['eth0', 'lo']) ip('-n', namespace, 'link', 'set', device, 'up');
  }

  private async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + DEADLINE_MS; !(await holds()); await delay(POLL_MS))
      if (Date.now() > deadline)
        throw new Error(`waited in vain for ${what}:\n${readFileSync(this.log, 'utf8').slice(-4_000)}`);
  }

  private processesOf(member: Member): number[] {
    const postgres = postmasterOf(member);
    return [member.patroni?.pid, postgres, ...childrenOf(postgres)].filter((pid) => pid !== undefined);
  }

  private patroniSettings({ name, address, directory }: Member): string {
    return replaced(path.join(ROOT, 'deploy', 'ha', 'patroni.yml'), [
      ['name: db1', `name: ${name}`],
      ['db1.internal', address],
      ['etcd1.internal:2379,etcd2.internal:2379,etcd3.internal:2379', `${this.network}.1:${this.etcdPort}`],
      ['/var/lib/postgresql/workspace', path.join(directory, 'data')],
      ['/var/lib/postgresql/.pgpass-patroni', path.join(directory, 'pgpass')],
      ['/var/run/postgresql', path.join(directory, 'socket')],
      ['change-me', PASSWORD],
      // `reset` does its work.
      ['mode: required', 'mode: off'],
    ]);
  }

  private writeProxy(leavesSessions: boolean): void {
    const hosts = this.members.map(({ name, address }): [string, string] => [`${name}.internal`, address]);
    const sessions: [string, string][] = leavesSessions ? [[' on-marked-down shutdown-sessions', '']] : [];
    writeFileSync(
      path.join(this.directory, 'haproxy.cfg'),
      replaced(path.join(ROOT, 'deploy', 'ha', 'haproxy.cfg'), [
        ['127.0.0.1:5432', `127.0.0.1:${this.port}`],
        ...hosts,
        ...sessions,
      ]),
    );
  }

  private startProxy(): void {
    this.haproxy = this.run('/usr/sbin/haproxy', ['-db', '-f', path.join(this.directory, 'haproxy.cfg')]);
  }

  private run(program: string, args: string[]): ChildProcess {
    const missing = [program, ...args].find((name) => name.startsWith('/usr/') && !existsSync(name));
    if (missing) throw new Error(`${missing} is missing: run .ci/ensure-patroni`);
    const env = { PATH: process.env['PATH'], HOME: this.directory, LANG: 'C.UTF-8' };
    const child = spawn('/bin/sh', ['-c', `exec "$0" "$@" >>"${this.log}" 2>&1`, program, ...args], {
      env,
      stdio: 'ignore',
    });
    child.on('error', () => undefined);
    return child;
  }
}

/** @throws Error when the file lacks one of the texts: the test would run something else than the file says */
function replaced(file: string, replacements: readonly [string, string][]): string {
  let text = readFileSync(file, 'utf8');
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`${file} lacks ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

const restOf = ({ address }: Member): string => `http://${address}:8008`;

const ip = (...args: string[]): unknown => execFileSync('ip', args);

/** A host without a network does not respond. */
const ask = (member: Member, path: string): Promise<Response> =>
  fetch(`${restOf(member)}${path}`, { signal: AbortSignal.timeout(1_000) });

const isPrimary = (member: Member): Promise<boolean> =>
  ask(member, '/primary').then(
    ({ ok }) => ok,
    () => false,
  );

function postmasterOf({ directory }: Member): number | undefined {
  const file = path.join(directory, 'data', 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
}

function childrenOf(pid: number | undefined): number[] {
  if (pid === undefined) return [];
  try {
    return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(Number);
  } catch {
    return [];
  }
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}

function accountOf(user: string): { uid: number; gid: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
