import { readFileSync } from 'node:fs';
import path from 'node:path';
import { EmbeddedDatabase } from '../../src/platform/database/embedded/embedded-database.js';
import { until } from '../support/until.ts';
import { cleanUp, freePort, madeDataDir, query, ROOT, startNode } from './support/processes.ts';

afterEach(cleanUp);

describe('the scrape of npm start', () => {
  test('contains primary, workers and mail service, each with its label, and the values of the database once', async () => {
    const [dataDir, port, metricsPort] = [madeDataDir(), await freePort(), await freePort()];
    const server = startNode('bin/start.mjs', [], {
      DATABASE_URL: '',
      MAIL_SERVICE_URL: '',
      DEMO: 'false',
      HOST: '',
      LOG_LEVEL: 'info',
      DATA_DIR: dataDir,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      WEB_CONCURRENCY: '2',
    });
    await until('the server to serve', () => /"msg":"serving"/.test(server.stdout()));
    const tool = await EmbeddedDatabase.open({
      dataDir,
      role: 'tool',
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    await query(
      tool.url,
      `INSERT INTO outbox (tenant_id, id, type, payload, due_at, occurred_at, parked_at)
       VALUES (gen_random_uuid(), gen_random_uuid(), 'test', '{}', now(), now() - interval '1 h', now())`,
    );
    await query(
      tool.url,
      `INSERT INTO mail_service.queue (id, seq, sender, recipient, raw_id, subject, due_at, outside)
       VALUES ('metrics', 1, 'a@b.example', 'c@d.example', 'none', 'x', now() + interval '1 day', true)`,
    );
    await fetch(`http://127.0.0.1:${port}/apis/v1/health/live`);
    const scrape = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    // On a busy machine a process may respond too late for a scrape.
    const text = await until('a scrape with all processes', async () => {
      const found = await scrape();
      return !/^(?:process|database)_up\S* 0$/m.test(found) && found;
    });
    for (const line of [
      ...['primary', 'worker-1', 'worker-2', 'mail-service'].map((name) => `process_up{process="${name}"} 1`),
      'database_up 1',
      'outbox_events{state="parked"} 1',
      'database_up{process="mail-service"} 1',
      'mail_queue_messages{process="mail-service",destination="relay",state="scheduled"} 1',
    ])
      expect(text.split('\n')).toContain(line);
    for (const name of ['primary', 'worker-1', 'worker-2', 'mail-service'])
      expect(text).toContain(`nodejs_eventloop_lag_seconds{process="${name}"}`);
    for (const name of ['worker-1', 'worker-2', 'mail-service'])
      expect(text).toContain(
        `database_pool_connections{process="${name}",cell="main",use="requests",state="max"}`,
      );
    const requests =
      /^http_request_duration_seconds_count\{process="worker-\d",method="GET",route="\/apis\/v1\/health\/live",status="200"\} 1$/m;
    expect(text).toMatch(requests);
    // Each name has one block of text.
    const types = text.match(/^# TYPE \S+/gm) ?? [];
    expect(new Set(types).size).toBe(types.length);

    const pids = () =>
      [...server.stdout().matchAll(/"process":(\d+)[^\n]*"msg":"mail service serving"/g)].map(([, pid]) =>
        Number(pid),
      );
    const known = new Set(types.map((line) => line.slice('# TYPE '.length)));
    const missing = (names: Set<string>) =>
      [...names].filter((name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|count|sum)$/, '')));
    const [inAlerts, inDashboard] = [metricsOf(alerts()), metricsOf(dashboard())];
    expect(inAlerts.size).toBeGreaterThan(10);
    expect(inDashboard.size).toBeGreaterThan(15);
    // Prometheus itself makes the metric `up`; replicas are not configured here.
    expect(missing(inAlerts).toSorted()).toEqual(['database_replica_state', 'up']);
    expect(missing(inDashboard)).toEqual([]);

    process.kill(pids()[0]!, 'SIGSTOP');
    try {
      expect((await scrape()).split('\n')).toContain('process_up{process="mail-service"} 0');
    } finally {
      process.kill(pids()[0]!, 'SIGCONT');
    }
    await until('the mail service', async () =>
      (await scrape()).includes('process_up{process="mail-service"} 1'),
    );
    await tool.close();
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
  });
});

const deployed = (file: string) => readFileSync(path.join(ROOT, 'deploy', file), 'utf8');

/** The expressions of the alert rules: on the line of the key, or folded below it. */
const alerts = (): string[] =>
  [...deployed('prometheus/alerts.yml').matchAll(/^( *)expr: (?:>-\n((?:\1 +.*\n)+)|(.*)\n)/gm)].map(
    ([, , folded, plain]) => (folded ?? plain)!,
  );

const dashboard = (): string[] =>
  (
    JSON.parse(deployed('grafana/workspace.json')) as { panels: { targets?: { expr: string }[] }[] }
  ).panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

const FUNCTIONS =
  /^(?:sum|min|max|rate|increase|time|topk|histogram_quantile|absent|min_over_time|or|by|without)$/;

/** The metrics that expressions of PromQL name. */
const metricsOf = (expressions: string[]): Set<string> =>
  new Set(
    expressions
      .map((text) => text.replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"|\b(?:by|without) *\([^)]*\)/g, ' '))
      .flatMap((text) => text.match(/(?<![\w.$])[a-z_][\w]*/g) ?? [])
      .filter((word) => !FUNCTIONS.test(word)),
  );
