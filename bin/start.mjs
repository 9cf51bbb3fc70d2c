// `npm start`: installs and builds when needed, then runs the server on the project's Node.
import path from 'node:path';
import { MALLOC_SETTINGS, NODE_FLAGS } from './lib/node-flags.mjs';
import { launch, prepare, projectNode, ROOT, TO_START } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';

await launch(async () => {
  await prepare(TO_START);
  return run(projectNode(), [...NODE_FLAGS, path.join(ROOT, 'dist', 'main.js')], {
    cwd: ROOT,
    env: { ...MALLOC_SETTINGS, ...process.env },
    channel: true,
  });
});
