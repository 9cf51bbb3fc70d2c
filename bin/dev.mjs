// `npm run dev`: runs the server from `src` and restarts it on each change. The embedded PostgreSQL keeps running meanwhile, and
// the embedded mail service, unless a change may concern it.
// It compiles with swc, one file at a time and without type checks (`npm run types` has them), into `dist-dev`.
import { watch } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DevServer, OUT, print } from './lib/dev-server.mjs';
import {
  buildForDevelopment,
  ensureInstalled,
  isRecentNode,
  launch,
  projectNode,
  ROOT,
  TO_DEVELOP,
} from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { SwcCompiler } from './lib/swc-compiler.mjs';

/** Changes within this time lead to one restart: editors write several files, or one file in several steps. */
const SETTLE_MS = 50;

await launch(async () => {
  await ensureInstalled(TO_DEVELOP);
  // Before the installation, npm runs this script on the Node of the machine.
  if (!isRecentNode()) return run(projectNode(), [fileURLToPath(import.meta.url)]);
  const compiler = new SwcCompiler(ROOT, OUT, print);
  await buildForDevelopment(OUT).then(print, (error) => print(error.message));
  const server = await DevServer.open();
  const end = Promise.withResolvers();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end.resolve());
  const watcher = watch(path.join(ROOT, 'src'), { recursive: true });
  const changed = new Set();
  let timer;
  watcher.on('change', (_, name) => {
    if (name === null || !/\.(?:ts|sql)$/.test(name)) return;
    changed.add(name);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const names = [...changed];
      changed.clear();
      if (names.filter((file) => compiler.compile(file)).length > 0) void server.restart(names);
    }, SETTLE_MS);
  });
  await server.restart([]);
  await end.promise;
  watcher.close();
  await server.close();
  return 0;
});
