// Builds the client library (sdk/), which tests and checks use. A start of the service neither installs nor builds it.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withLock } from './lock.mjs';
import { print, projectNode, quietly, record, ROOT, sameFiles } from './prepare.mjs';

const SDK = path.join(ROOT, 'sdk');
const BUILT = path.join(SDK, 'dist', '.workspace-build.json');
const GENERATED = path.join(SDK, 'src', 'generated');
/** What the build depends on, beside `src` and `build`. */
const INPUTS = [
  'openapi.json',
  'asyncapi.json',
  'package-lock.json',
  'sdk/package.json',
  'sdk/tsconfig.json',
];

/** Builds the library when a source, a document of the interface or a package has changed since the last build. */
export async function ensureClientBuilt() {
  if (isBuilt()) return;
  await withLock(ROOT, async () => {
    if (isBuilt()) return;
    print('Building the client library ...');
    const files = sourceFiles();
    rmSync(BUILT, { force: true });
    const sizes = await quietly([projectNode(), path.join(SDK, 'build', 'build.mjs')], process.env);
    print(sizes.trimEnd());
    writeFileSync(BUILT, JSON.stringify(files));
  });
}

function isBuilt() {
  return existsSync(BUILT) && sameFiles(JSON.parse(readFileSync(BUILT, 'utf8')), sourceFiles());
}

/** All files that the build depends on, with time and size. */
function sourceFiles() {
  const files = {};
  for (const folder of ['src', 'build']) {
    for (const entry of readdirSync(path.join(SDK, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && entry.parentPath !== GENERATED)
        record(files, path.join(entry.parentPath, entry.name));
    }
  }
  for (const name of INPUTS) record(files, path.join(ROOT, name));
  return files;
}
