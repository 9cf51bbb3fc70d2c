import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { childEnv } from '../support/installation/child-env.ts';

/** Encodes an image twice. At the first attempt, the system has no memory for the native library. */
const SCRIPT = `
  import { Images } from './dist/platform/images/images.js';
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  const open = process.dlopen;
  process.dlopen = () => { throw new Error('cannot allocate memory'); };
  const images = new Images();
  const encode = () => images.encode(png, 'png', { side: 10, bytes: 1_000 }).then(({ width }) => width, (error) => error.kind.status);
  const first = [await encode(), await encode()];
  process.dlopen = open;
  console.log(JSON.stringify([...first, await encode()]));`;

test('the image library is loaded at a later image when it could not be loaded at the first one', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: path.resolve(import.meta.dirname, '../..'),
    env: childEnv(),
    encoding: 'utf8',
    stdio: 'pipe',
  });
  expect(JSON.parse(output.trim().split('\n').at(-1) as string)).toEqual([503, 503, 1]);
});
