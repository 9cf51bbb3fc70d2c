import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Prints the stack of an error that the settings of the application throw. */
const SCRIPT = `
  import { showSourcePositions } from './dist/platform/observability/source-positions.js';
  import { Config } from './dist/config/config.js';
  showSourcePositions();
  try { Config.parse({ PORT: 'none' }); } catch (error) { console.log(error.stack); }
  console.log(new TypeError('of a script').stack);`;

describe('stacks of errors', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: ROOT,
    encoding: 'utf8',
  });

  test('name the files and lines of src', () => {
    const [, line] = /at .*\/src\/config\/config\.ts:(\d+):\d+/.exec(output) ?? [];
    const source = readFileSync(path.join(ROOT, 'src/config/config.ts'), 'utf8').split('\n');
    expect(source[Number(line) - 1]).toContain('throw new ConfigError');
    expect(output).not.toContain('/dist/config/');
  });

  test('keep the positions of other files', () => {
    expect(output).toMatch(/TypeError: of a script\n {4}at .*\[eval1\]:6:15/);
  });
});
