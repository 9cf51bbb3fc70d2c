// `npm run test:browser`: installs and builds when needed, then drives the documentation page in Chromium.
import path from 'node:path';
import { ensureClientBuilt } from '../../bin/lib/client.mjs';
import { launch, prepare, projectNode, ROOT, TO_DEVELOP } from '../../bin/lib/prepare.mjs';
import { run } from '../../bin/lib/run.mjs';

await launch(async () => {
  await prepare(TO_DEVELOP);
  await ensureClientBuilt();
  return run(projectNode(), [path.join(ROOT, 'test', 'browser', 'main.mjs'), ...process.argv.slice(2)], {
    cwd: ROOT,
  });
});
