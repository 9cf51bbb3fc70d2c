import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { freeSpaceFinding } from '../../../src/cli/doctor/installation-checks.js';
import { cloneDatabase } from '../../support/database/database.ts';
import { type CliResult, json, spawnWorkspace, workspace } from '../../support/installation/cli.ts';
import { memoryDirectory } from '../../support/memory-directory.ts';
import { freePort } from '../../support/network/ports.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { TestIssuer } from '../../support/sign-in/issuer.ts';

interface Finding {
  check: string;
  status: string;
  message: string;
  action?: string;
}

const CODES: Record<string, number> = { ok: 0, warning: 1, error: 2 };

/** The findings of `workspace doctor --json`, whose exit code must fit their worst status. */
function findingsOf(result: CliResult): Finding[] {
  const { status, findings } = json(result) as { status: string; findings: Finding[] };
  const worst = Math.max(...findings.map((finding) => CODES[finding.status]!));
  expect([result.code, CODES[status]]).toEqual([worst, worst]);
  for (const finding of findings) expect(Boolean(finding.action)).toBe(finding.status !== 'ok');
  return findings;
}

const about = (findings: Finding[], check: string) => findings.filter((finding) => finding.check === check);

describe('workspace doctor', () => {
  let directory: string;
  let database: { url: string; drop: () => Promise<unknown> };
  let client: pg.Client;
  let relay: OtherServer;
  let closed: number;
  let env: Record<string, string>;

  beforeAll(async () => {
    directory = memoryDirectory('workspace-doctor-');
    database = await cloneDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    relay = await OtherServer.start();
    closed = await freePort();
    env = {
      DATABASE_URL: database.url,
      DATA_DIR: directory,
      PUBLIC_URL: 'https://workspace.example',
      TRUST_PROXY: '1',
      SECRET_KEYS: 'a key of more than thirty-two characters'.replaceAll(' ', '-'),
    };
  });
  afterAll(async () => {
    await client?.end();
    await relay?.stop();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const doctor = (settings: Record<string, string> = {}) =>
    workspace({ ...env, ...settings }, 'doctor', '--json');

  test('finds no error in a working installation; the text has a line for each finding', async () => {
    const settings = { ...env, SMTP_URL: relay.url };
    const asJson = await doctor(settings);
    const asText = await workspace(settings, 'doctor');
    const plan = await workspace(env, 'migrate', '--plan');
    const findings = findingsOf(asJson);
    const names = [
      'configuration',
      'smtp',
      'files',
      'mail-service',
      'livekit',
      'outbox',
      'jobs',
      'secrets',
      'push-keys',
      'file-limits',
    ];
    for (const name of names) expect(about(findings, name).map(({ status }) => status)).toEqual(['ok']);
    const statuses = about(findings, 'database').map(({ status }) => status);
    expect(statuses).not.toContain('error');
    for (const { status, check, message } of findings.filter((finding) => finding.check !== 'disk'))
      if (!/\d/.test(message))
        expect(asText.stdout).toContain(`${status.padEnd(8)} ${check.padEnd(14)} ${message}`);
    expect(asText.stdout).toMatch(/\n\d+ errors, \d+ warnings\n$/);
    expect(plan.code).toBe(0);
    expect(json(plan)).toEqual({ pending: [], unknown: [], functions: 'current' });
  });

  test('reports stale events, failed jobs, invalid indexes, a lost key, and services that do not respond', async () => {
    await client.query(
      `INSERT INTO outbox (tenant_id, id, type, payload, occurred_at, parked_at, last_error) VALUES
         (gen_random_uuid(), gen_random_uuid(), 'test', '{}', now() - interval '3 hours', NULL, NULL),
         (gen_random_uuid(), gen_random_uuid(), 'test', '{}', now() - interval '3 hours', now(), 'x')`,
    );
    await client.query(
      `INSERT INTO job_runs (name, ran_at, every_seconds, succeeded_at, failed_at, error) VALUES
         ('doctor-failed', now(), 60, now() - interval '1 day', now(), 'Error: broken on purpose'),
         ('doctor-late', now() - interval '1 day', 60, NULL, NULL, NULL),
         ('doctor-stuck', now(), 60, now() - interval '1 day', NULL, NULL)`,
    );
    await client.query(
      `INSERT INTO file_usage (tenant_id, bytes, files, limit_bytes)
       VALUES (gen_random_uuid(), 95, 1, 100), (gen_random_uuid(), 89, 1, 100), (gen_random_uuid(), 95, 1, 0)`,
    );
    await client.query('CREATE TABLE doctor_test (id int)');
    await client.query('CREATE INDEX doctor_broken ON doctor_test (id)');
    await client.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'doctor_broken'::regclass`);
    await client.query(
      `INSERT INTO signing_keys (id, algorithm, public_jwk, sealed_private_key, created_at)
       VALUES (gen_random_uuid(), 'ES256', '{}', 'deadbeef.x', now() - interval '1000 days')`,
    );
    await client.query(
      `INSERT INTO push_keys (id, public_key, sealed_private_key)
       VALUES (gen_random_uuid(), '', 'deadbeef.x'), (gen_random_uuid(), '', 'own.x')`,
    );
    const result = await spawnWorkspace(
      {
        ...env,
        SMTP_URL: `smtp://user:hunter2@127.0.0.1:${closed}`,
        BLOB_STORE_URL: `s3://files?endpoint=http://127.0.0.1:${closed}`,
        AWS_ACCESS_KEY_ID: 'id',
        AWS_SECRET_ACCESS_KEY: 'hunter2',
        MAIL_SERVICE_URL: `http://127.0.0.1:${closed}`,
        MAIL_SERVICE_TOKEN: 'hunter2',
        LIVEKIT_URL: `ws://127.0.0.1:${closed}`,
        LIVEKIT_API_KEY: 'key',
        LIVEKIT_API_SECRET: 'hunter2-of-thirty-two-characters-at-least',
        OIDC_ISSUER: `http://127.0.0.1:${closed}`,
        OIDC_AUDIENCE: 'workspace-api',
        ASSISTANT_URL: `http://127.0.0.1:${closed}/v1`,
        ASSISTANT_API_KEY: 'hunter2',
        PUBLIC_URL: 'http://workspace.example',
        DEMO: 'true',
      },
      'doctor',
      '--json',
    );
    const findings = findingsOf(result);
    expect(result.stdout + result.stderr).not.toContain('hunter2');
    const seen = (check: string) =>
      about(findings, check).map(({ status, message }) => `${status}: ${message}`);
    expect(seen('outbox')).toEqual([
      'error: 1 events are pending, the oldest for 3 hours.',
      'warning: 1 events are parked after 12 attempts.',
    ]);
    expect(seen('jobs')).toEqual([
      expect.stringMatching(/^warning: The job doctor-failed failed \d+ s ago: Error: broken on purpose\.$/),
      'warning: 2 jobs are overdue, e.g. doctor-late: its last success was 24 hours ago.',
    ]);
    expect(seen('file-limits')).toEqual([
      expect.stringMatching(
        /^warning: Files of 1 workspaces use at least 90 % of their limit: [\da-f-]{36} \(95 %\)\.$/,
      ),
    ]);
    expect(seen('database')).toContain(
      'error: The index doctor_broken is invalid: an interrupted creation left it behind.',
    );
    expect(seen('secrets').join('\n')).toMatch(
      /^error: SECRET_KEYS lacks the key deadbeef.*\nwarning: .* 1000 days old/,
    );
    expect(seen('push-keys')).toEqual([
      expect.stringMatching(/^warning: SECRET_KEYS lacks the key deadbeef: 1 of 2 keys of push messages/),
    ]);
    expect(seen('smtp')).toEqual([
      expect.stringMatching(/^error: The relay of SMTP_URL cannot be used: .*ECONNREFUSED/),
    ]);
    expect(seen('assistant')).toEqual([expect.stringMatching(/^warning: .*does not respond/)]);
    for (const name of ['files', 'mail-service', 'livekit', 'issuer'])
      expect(seen(name)).toEqual([expect.stringMatching(/^error: /)]);
    expect(seen('configuration').filter((text) => text.startsWith('warning'))).toHaveLength(2);
    await client.query(
      'DROP TABLE doctor_test; DELETE FROM file_usage; DELETE FROM outbox; DELETE FROM job_runs; DELETE FROM signing_keys; DELETE FROM push_keys',
    );
  });

  test('reports pending migrations, as migrate --plan does, and a stopped database', async () => {
    const { rows } = await client.query(
      'DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations) RETURNING *',
    );
    const old = await doctor();
    const plan = await workspace(env, 'migrate', '--plan');
    const stopped = await doctor({ DATABASE_URL: `postgres://user:hunter2@127.0.0.1:${closed}/none` });
    expect(plan.code).toBe(2);
    expect(json(plan)).toEqual({ pending: [rows[0].name], unknown: [], functions: 'current' });
    expect(about(findingsOf(old), 'database')).toContainEqual(
      expect.objectContaining({
        status: 'error',
        message: `1 migrations are pending, the first is ${rows[0].name}.`,
      }),
    );
    await client.query('INSERT INTO schema_migrations (id, timestamp, name) VALUES ($1, $2, $3)', [
      rows[0].id,
      rows[0].timestamp,
      rows[0].name,
    ]);
    expect(about(findingsOf(stopped), 'database')).toEqual([
      {
        check: 'database',
        status: 'error',
        message: 'The database of DATABASE_URL does not respond (ECONNREFUSED).',
        action: expect.any(String),
      },
    ]);
    expect(stopped.stdout + stopped.stderr).not.toContain('hunter2');
  });

  test('reports a database that accepts no writes, and a MAIL_SERVICE_URL of another server', async () => {
    const other = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const name = new URL(database.url).pathname.slice(1);
    await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const findings = findingsOf(
      await doctor({ MAIL_SERVICE_URL: `http://127.0.0.1:${port}`, MAIL_SERVICE_TOKEN: 'token' }),
    );
    await client.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    other.close();
    const errors = (check: string) =>
      about(findings, check).flatMap(({ status, message }) => (status === 'error' ? [message] : []));
    expect(errors('database')).toEqual([
      expect.stringMatching(/^PostgreSQL \S+.* responds, but accepts no writes/),
    ]);
    expect(errors('mail-service')).toEqual([expect.stringContaining('returns 404')]);
  });

  test('checks the keys of an external issuer, and the key of the assistant', async () => {
    const requests: string[] = [];
    const assistant = createServer(({ url, headers }, response) => {
      requests.push(`${url} ${headers.authorization}`);
      response.writeHead(headers.authorization === 'Bearer right' ? 200 : 401).end('{}');
    }).listen(0, '127.0.0.1');
    await once(assistant, 'listening');
    const { port } = assistant.address() as AddressInfo;
    const issuer = await TestIssuer.start();
    const settings = {
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'workspace-api',
      ASSISTANT_URL: `http://127.0.0.1:${port}/v1/`,
    };
    const good = findingsOf(await doctor({ ...settings, ASSISTANT_API_KEY: 'right' }));
    issuer.broken = { status: 200, body: '{"keys":[]}' };
    const bad = findingsOf(await doctor({ ...settings, ASSISTANT_API_KEY: 'wrong' }));
    const other = findingsOf(await doctor({ ...settings, OIDC_ISSUER: `${issuer.url}/` }));
    await issuer.down();
    assistant.close();
    const seen = (findings: Finding[], check: string) =>
      about(findings, check).map(({ status, message }) => `${status}: ${message}`);
    expect(seen(good, 'issuer')).toEqual(['ok: The issuer of OIDC_ISSUER responds; it has 1 keys.']);
    expect(seen(good, 'assistant')).toEqual(['ok: The assistant responds.']);
    expect(requests[0]).toBe('/v1/models Bearer right');
    expect(seen(bad, 'issuer')).toEqual(['error: The issuer of OIDC_ISSUER returns 200 and no keys.']);
    expect(seen(bad, 'assistant')).toEqual(['warning: The assistant returns 401 for ASSISTANT_API_KEY.']);
    expect(seen(other, 'issuer')).toEqual([expect.stringMatching(/^error: .* belongs to another issuer\.$/)]);
  });

  test('migrate --plan: changed functions are pending, those of a newer version are not', async () => {
    const original = (await client.query('SELECT hash, version FROM schema_sql')).rows[0];
    await client.query(`UPDATE schema_sql SET hash = 'other'`);
    const changed = await workspace(env, 'migrate', '--plan');
    await client.query(`UPDATE schema_sql SET version = 9999999999999`);
    const newer = await workspace(env, 'migrate', '--plan');
    await client.query('UPDATE schema_sql SET hash = $1, version = $2', [original.hash, original.version]);
    expect([changed.code, json(changed).functions]).toEqual([2, 'changed']);
    expect([newer.code, json(newer).functions]).toEqual([0, 'newer']);
  });

  test('reports invalid settings, and creates nothing', async () => {
    const dataDir = path.join(directory, 'none');
    const invalid = await doctor({ PORT: 'eighty', DATABASE_URL: 'hunter2' });
    const empty = await workspace({ DATA_DIR: dataDir }, 'doctor', '--json');
    expect(findingsOf(invalid).map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^PORT must be a whole number/),
        expect.stringMatching(/^DATABASE_URL /),
      ]),
    );
    expect([invalid.code, invalid.stdout.includes('hunter2')]).toEqual([2, false]);
    expect(about(findingsOf(empty), 'database').map(({ status }) => status)).toEqual(['error']);
    expect(existsSync(dataDir)).toBe(false);
  });

  test('reports an embedded database of another version, with the place of its log', async () => {
    const dataDir = path.join(directory, 'old');
    mkdirSync(path.join(dataDir, 'postgres'), { recursive: true });
    writeFileSync(path.join(dataDir, 'postgres', 'PG_VERSION'), '12\n');
    const old = await workspace({ DATA_DIR: dataDir }, 'doctor', '--json');
    expect(about(findingsOf(old), 'database')).toEqual([
      {
        check: 'database',
        status: 'error',
        message: expect.stringContaining('was created by PostgreSQL 12'),
        action: `Read the log of PostgreSQL in ${dataDir}/postgres/log.`,
      },
    ]);
  });

  test('the limits of free space', () => {
    const GIB = 1024 ** 3;
    const status = (free: number, total: number) => freeSpaceFinding('/data', free, total).status;
    expect(status(50 * GIB, 100 * GIB)).toBe('ok');
    expect(status(20 * GIB, 1_000 * GIB)).toBe('ok');
    expect(status(5 * GIB, 100 * GIB)).toBe('warning');
    expect(status(GIB / 2, 2 * GIB)).toBe('warning');
    expect(status(GIB / 20, GIB)).toBe('error');
    expect(status(GIB / 2, 100 * GIB)).toBe('error');
    expect(status(0, 0)).toBe('error');
  });
});
