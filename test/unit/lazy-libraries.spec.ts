import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { childEnv } from '../support/installation/child-env.ts';

/** Runs an attempt three times. At the first two, no file of `packages` can be read. */
const scriptOf = (packages: string, module: string, attempt: string): string => `
  import { registerHooks } from 'node:module';
  let isFailing = false;
  registerHooks({
    load(url, context, next) {
      if (isFailing && url.includes('/node_modules/${packages}/')) throw new Error('too many open files');
      return next(url, context);
    },
  });
  const loaded = await import('./dist/${module}.js');
  const attempt = async () => ${attempt};
  isFailing = true;
  const failure = (error) => error.message;
  const results = [await attempt().catch(failure), await attempt().catch(failure)];
  isFailing = false;
  console.log(JSON.stringify([...results, await attempt().catch(failure)]));`;

test.each([
  [
    'common passwords',
    '@zxcvbn-ts/core',
    'modules/account-security/passwords/password-policy',
    `loaded.isEasilyGuessed('correct horse battery staple', [])`,
    false,
  ],
  [
    'addresses',
    'joi',
    'modules/mail/messages/drafts/drafts.controller',
    `new loaded.DraftsService().create({}, 'x', { to: [{ address: 'none' }] }).catch((error) => error.kind?.status ?? error.message)`,
    422,
  ],
])('the library of %s is loaded again after a failure', (_, packages, module, attempt, result) => {
  const script = scriptOf(packages, module, attempt);
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: path.resolve(import.meta.dirname, '../..'),
    env: childEnv(),
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const failure = 'too many open files';
  expect(JSON.parse(output.trim().split('\n').at(-1) as string)).toEqual([failure, failure, result]);
});
