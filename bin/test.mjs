// `npm test`: installs and builds when needed, runs all tests, and closes with one plain line.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { launch, prepare, projectNode, ROOT } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';

const NODE_FLAGS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
/** Runs the files in which something failed once more, by themselves: that tells what is broken from what was chance. */
const RETRY = '--retry-failed';
/** Options with which jest tells something and runs nothing. */
const TELLING = new Set([
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
  await prepare();
  const directory = mkdtempSync(path.join(tmpdir(), 'workspace-test-'));
  try {
    return await runTests(process.argv.slice(2), path.join(directory, 'result.json'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

/** @returns the exit code */
async function runTests(args, resultFile) {
  if (args.some((arg) => TELLING.has(arg))) return jest(args);
  const retrying = args.includes(RETRY);
  const passedOn = args.filter((arg) => arg !== RETRY);
  const { code, failedFiles } = await testOnce(passedOn, resultFile);
  if (code === 0 || !retrying || failedFiles.length === 0) return code;
  process.stdout.write(`Once more, what failed:\n${failedFiles.join('\n')}\n`);
  return (await testOnce([...passedOn, '--runTestsByPath', ...failedFiles], resultFile)).code;
}

/** One run, closed by one line. A run that tested nothing has not passed. */
async function testOnce(args, resultFile) {
  rmSync(resultFile, { force: true });
  const code = await jest(['--json', `--outputFile=${resultFile}`, ...args]);
  const result = readResult(resultFile);
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests, numTodoTests } = result;
  const broken = result.numRuntimeErrorTestSuites;
  const suites = broken > 0 ? `, ${broken} files did not run` : '';
  process.stdout.write(
    `${passed} passed, ${failed} failed, ${numPendingTests + numTodoTests} skipped${suites}\n`,
  );
  return {
    code: code === 0 && (passed === 0 || failed > 0 || broken > 0) ? 1 : code,
    failedFiles: result.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name),
  };
}

function jest(args) {
  const program = path.join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  return run(projectNode(), [...NODE_FLAGS, program, ...args], { cwd: ROOT });
}

function readResult(resultFile) {
  try {
    return JSON.parse(readFileSync(resultFile, 'utf8'));
  } catch {
    return {
      numPassedTests: 0,
      numFailedTests: 0,
      numPendingTests: 0,
      numTodoTests: 0,
      numRuntimeErrorTestSuites: 0,
      testResults: [],
    };
  }
}
