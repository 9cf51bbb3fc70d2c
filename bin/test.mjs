// `npm test`: installs and builds when needed, runs all tests, and closes with one plain line.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { launch, prepare, projectNode, ROOT } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';

const NODE_FLAGS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
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

async function runTests(args, resultFile) {
  const jest = path.join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const reporting = args.some((arg) => TELLING.has(arg)) ? [] : ['--json', `--outputFile=${resultFile}`];
  const code = await run(projectNode(), [...NODE_FLAGS, jest, ...reporting, ...args], { cwd: ROOT });
  return reporting.length === 0 ? code : summarize(code, resultFile);
}

/** A run that tested nothing has not passed. */
function summarize(code, resultFile) {
  const result = readResult(resultFile);
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests, numTodoTests } = result;
  const broken = result.numRuntimeErrorTestSuites;
  const suites = broken > 0 ? `, ${broken} files did not run` : '';
  process.stdout.write(
    `${passed} passed, ${failed} failed, ${numPendingTests + numTodoTests} skipped${suites}\n`,
  );
  return code === 0 && (passed === 0 || failed > 0 || broken > 0) ? 1 : code;
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
    };
  }
}
