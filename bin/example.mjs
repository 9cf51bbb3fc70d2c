// `npm run example`: builds the client library when needed, and writes the files of the example page (examples/notes-web) that the
// service sends. They are committed, because a start has no bundler.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ensureClientBuilt } from './lib/client.mjs';
import { ensureInstalled, launch, print, ROOT, TO_DEVELOP } from './lib/prepare.mjs';

await launch(async () => {
  await ensureInstalled(TO_DEVELOP);
  await ensureClientBuilt();
  const { bundleExample } = await import('../examples/notes-web/build.mjs');
  mkdirSync(path.join(ROOT, 'public'), { recursive: true });
  for (const [name, text] of Object.entries(await bundleExample())) {
    writeFileSync(path.join(ROOT, 'public', name), text);
    print(`public/${name} written`);
  }
  return 0;
});
