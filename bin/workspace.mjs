// `npm run --silent workspace -- <command>`: the admin command line. stdout has the output of the command only.
import path from 'node:path';
import { launch, prepare, programEnv, projectNode, ROOT, TO_START } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';

await launch(async () => {
  await prepare(TO_START);
  const main = path.join(ROOT, 'dist', 'cli', 'main.js');
  return run(projectNode(), [main, ...process.argv.slice(2)], { cwd: ROOT, env: programEnv() });
});
