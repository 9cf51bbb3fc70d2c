// `npm run test:dav`: installs and builds when needed, then lets CalDAV and CardDAV programs of Debian work with a server.
import path from 'node:path';
import { launch, prepare, projectNode, ROOT, TO_DEVELOP } from '../../bin/lib/prepare.mjs';
import { run } from '../../bin/lib/run.mjs';

await launch(async () => {
  await prepare(TO_DEVELOP);
  return run(projectNode(), [path.join(ROOT, 'test', 'dav', 'main.mjs'), ...process.argv.slice(2)], {
    cwd: ROOT,
  });
});
