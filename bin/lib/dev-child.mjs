// A server process of `npm run dev`. It loads the packages of the application at once and the application itself when the parent
// sends `{ main, env }`: two thirds of the 4,000 modules are then loaded before the next change.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './prepare.mjs';

const end = () => process.exit();
process.once('disconnect', end);

const packages = loadPackages();
const [{ main, env }] = await once(process, 'message');
await packages;
process.off('disconnect', end);
Object.assign(process.env, env);
// Worker processes run the same script.
process.argv[1] = main;
await import(main);

async function loadPackages() {
  const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  // Some packages have no entry point that can be imported; the application loads their files.
  for (const name of Object.keys(dependencies)) await import(name).catch(() => undefined);
}
