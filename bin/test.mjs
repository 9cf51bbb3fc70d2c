// `npm test`: installs and builds when needed, runs all tests, and closes with one plain line.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureClientBuilt } from './lib/client.mjs';
import { launch, prepare, programEnv, projectNode, ROOT, TO_DEVELOP } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';

/** Runs the files that failed a second time, to distinguish defects of the code from flaky tests. */
const RETRY = '--retry-failed';
/** Lines of a failure that the list of flaky tests repeats. */
const FAILURE_LINES = 12;
/** Fewer collections of the young generation, a tenth less processor time. Jest gives the flag to its workers. */
const NODE_FLAGS = ['--max-semi-space-size=64'];
/** Options with which jest prints something and runs nothing. */
const PRINTING = new Set([
  '--help',
  '-h',
  '--version',
  '-v',
  '--showConfig',
  '--listTests',
  '--clearCache',
  '--init',
]);

await launch(async () => {
  const args = process.argv.slice(2);
  await prepare(TO_DEVELOP);
  await ensureClientBuilt();
  const former = args.includes('--config') ? 0 : await fetchFormerPostgres();
  if (former !== 0) return former;
  const directory = mkdtempSync(path.join(tmpdir(), 'workspace-test-'));
  try {
    return await runTests(args, path.join(directory, 'result.json'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

/** @returns the exit code */
async function runTests(args, resultFile) {
  if (args.some((arg) => PRINTING.has(arg))) return jest(args);
  const forwarded = args.filter((arg) => arg !== RETRY);
  const first = await testOnce(forwarded, resultFile);
  const failed = first.files.filter(({ status }) => status === 'failed');
  if (!args.includes(RETRY) || failed.length === 0) return close(first, []);
  const names = failed.map(({ name }) => name);
  process.stdout.write(`Second run of the files that failed:\n${names.join('\n')}\n`);
  const second = await testOnce([...forwarded, '--runTestsByPath', ...names], resultFile);
  const passed = new Set(second.files.filter(({ status }) => status === 'passed').map(({ name }) => name));
  const others = first.files.filter(({ name }) => !names.includes(name));
  return close(
    { code: second.code, files: [...others, ...second.files] },
    failed.filter(({ name }) => passed.has(name)),
  );
}

/** @returns the exit code of jest, and the result of each file */
async function testOnce(args, resultFile) {
  rmSync(resultFile, { force: true });
  const code = await jest(['--json', `--outputFile=${resultFile}`, ...args]);
  return { code, files: readFiles(resultFile) };
}

/**
 * Prints the flaky files with their first failure, and the closing line.
 * @returns the exit code; a run without a passed test fails
 */
function close({ code, files }, flaky) {
  if (flaky.length > 0) {
    process.stdout.write('\nFlaky files, which failed in the first run only. Each is a defect:\n');
    for (const file of flaky) process.stdout.write(`${describeFlaky(file)}\n`);
  }
  const count = (...statuses) =>
    files.flatMap((file) => file.assertionResults).filter(({ status }) => statuses.includes(status)).length;
  const [passed, failed] = [count('passed'), count('failed')];
  const broken = files.filter(isBroken).length;
  process.stdout.write(
    `${passed} passed, ${failed} failed, ${count('pending', 'todo', 'skipped', 'disabled')} skipped` +
      `${broken > 0 ? `, ${broken} files did not run` : ''}\n`,
  );
  return code === 0 && (passed === 0 || failed > 0 || broken > 0) ? 1 : code;
}

function isBroken({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
}

function describeFlaky({ name, message, assertionResults }) {
  const test = assertionResults.find(({ status }) => status === 'failed');
  const failure = (test?.failureMessages[0] ?? message).split('\n').slice(0, FAILURE_LINES);
  const title = test ? ` > ${test.fullName}` : '';
  return [`FLAKY ${path.relative(ROOT, name)}${title}`, ...failure.map((line) => `    ${line}`)].join('\n');
}

/** @returns the exit code */
function fetchFormerPostgres() {
  const program = path.join(ROOT, 'test', 'support', 'runner', 'fetch-former-postgres.mjs');
  return run(projectNode(), [program], { cwd: ROOT, env: programEnv() });
}

function jest(args) {
  const program = path.join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  return run(projectNode(), [...NODE_FLAGS, program, ...args], { cwd: ROOT, env: programEnv() });
}

function readFiles(resultFile) {
  try {
    return JSON.parse(readFileSync(resultFile, 'utf8')).testResults;
  } catch {
    return [];
  }
}
