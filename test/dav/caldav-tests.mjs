import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Tests that fail, of those that the flags leave; adr/0078 has the reasons. */
const FAILING = ['testCreateEvent', 'testSearchEvent', 'testSearchTodos', 'testTodoDatesearch'];
/** Names of what the server does not serve: journals, and tasks in a calendar of events. */
const FLAGS = ['no_journal', 'no_todo_on_standard_calendar'];

/**
 * The functional tests of the library caldav, version 0.11.0. No package of Debian has them: `CALDAV_TESTS` names the directory `tests` of a
 * checkout of that version.
 */
export async function caldavTests(directory, api) {
  const tests = path.join(directory, 'tests');
  cpSync(process.env.CALDAV_TESTS, tests, { recursive: true });
  const account = { username: api.email, password: api.password };
  const server = { url: `${api.origin}/apis/v1/dav/`, ...account, incompatibilities: FLAGS };
  writeFileSync(
    path.join(tests, 'conf_private.py'),
    `only_private = True
test_xandikos = False
test_radicale = False
caldav_servers = [${JSON.stringify(server)}]
`,
  );
  const report = path.join(directory, 'caldav.xml');
  const parts = ['-m', 'pytest', 'tests/test_caldav.py', '-q', '--tb=line', '-p', 'no:cacheprovider'];
  const output = await new Promise((resolve) => {
    const options = { cwd: directory, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 };
    execFile('/usr/bin/python3', [...parts, `--junitxml=${report}`], options, (_error, stdout) =>
      resolve(stdout),
    );
  });
  const cases = [
    ...readFileSync(report, 'utf8').matchAll(/<testcase [^>]*name="(\w+)"[^>]*>(?=<(?:failure|error))/g),
  ];
  assert.deepEqual([...new Set(cases.map(([, name]) => name))].toSorted(), FAILING, output);
}
