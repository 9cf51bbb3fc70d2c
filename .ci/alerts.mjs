// Checks the alert rules, their unit tests, and the expressions of the dashboard with promtool.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const DEPLOY = path.resolve(import.meta.dirname, '..', 'deploy');
const RULES = path.join(DEPLOY, 'prometheus', 'alerts.yml');
const TESTS = path.join(DEPLOY, 'prometheus', 'alerts.test.yml');
const DASHBOARD = path.join(DEPLOY, 'grafana', 'workspace.json');

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-alerts-'));
try {
  promtool('check', 'rules', RULES);
  promtool('test', 'rules', TESTS);
  const file = path.join(directory, 'dashboard.yml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recordingRules() }] }));
  promtool('check', 'rules', file);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** The expressions of the dashboard as recording rules, which promtool parses. JSON is YAML. */
function recordingRules() {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8'));
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return expressions.map((expr, n) => ({
    record: `dashboard:expression:${n}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
  }));
}

function promtool(...args) {
  const { status, error } = spawnSync('promtool', args, { stdio: 'inherit' });
  if (status === 0) return;
  process.stderr.write(
    error ? `promtool does not run: ${error.message}\n` : `promtool ${args.join(' ')} failed\n`,
  );
  process.exit(1);
}
