import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { childEnv } from '../support/installation/child-env.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Prints the stack of an error that the settings of the application throw. */
const SCRIPT = `
  import { showSourcePositions } from './dist/platform/observability/source-positions.js';
  import { Config } from './dist/config/config.js';
  showSourcePositions();
  try { Config.parse({ PORT: 'none' }); } catch (error) { console.log(error.stack); }
  console.log(new TypeError('of a script').stack);`;

/** Adds the stack of an error to each line of the standard error, e.g. to that of an invalid setting. */
const PRELOADED = `
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (line) => write(line + new Error().stack);`;

/** @returns the text of a line in src that a stack names */
function lineIn(file: string, stack: string): string | undefined {
  const [, line] = new RegExp(`at .*/${file.replaceAll('.', '\\.')}:(\\d+):\\d+`).exec(stack) ?? [];
  return readFileSync(path.join(ROOT, file), 'utf8').split('\n')[Number(line) - 1];
}

describe('stacks of errors', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: ROOT,
    encoding: 'utf8',
  });

  test('name the files and lines of src', () => {
    expect(lineIn('src/config/config.ts', output)).toContain('throw new ConfigError');
    expect(output).not.toContain('/dist/config/');
  });

  test('name them in a program, which runs from a bundle', () => {
    const preload = `data:text/javascript,${encodeURIComponent(PRELOADED)}`;
    const { stderr } = spawnSync(process.execPath, ['--import', preload, 'dist/main.js'], {
      cwd: ROOT,
      env: { ...childEnv(), PORT: 'none' },
      encoding: 'utf8',
    });
    expect(lineIn('src/runtime/run-process.ts', stderr)).toContain('process.stderr.write(');
    expect(lineIn('src/server.ts', stderr)).toContain('await runProcess(');
    expect(stderr).not.toContain('/dist/');
  });

  test('keep the positions of other files', () => {
    expect(output).toMatch(/TypeError: of a script\n {4}at .*\[eval1\]:6:15/);
  });
});
