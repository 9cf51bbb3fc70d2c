// `npm run client`: installs when needed, and builds the client library (sdk/).
import { ensureClientBuilt } from './lib/client.mjs';
import { ensureInstalled, launch, TO_DEVELOP } from './lib/prepare.mjs';

await launch(async () => {
  await ensureInstalled(TO_DEVELOP);
  await ensureClientBuilt();
  return 0;
});
