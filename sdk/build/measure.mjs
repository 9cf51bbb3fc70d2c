// Sizes of the parts of the library in a bundle for browsers.
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Bytes after gzip, dependencies included. Calls are loaded with the first page of an application. */
const PARTS = [
  { name: 'calls', file: 'index.js', limit: 12_000 },
  { name: 'sign-in', file: 'sign-in/index.js', limit: 20_000 },
  { name: 'sockets', file: 'sockets/index.js', limit: 25_000 },
  { name: 'sync', file: 'sync/index.js', limit: 20_000 },
  { name: 'store in IndexedDB', file: 'sync/stores/indexed-db.js', limit: 4_000 },
  { name: 'store in SQLite', file: 'sync/stores/sqlite.js', limit: 2_000 },
];

/**
 * @param dist the directory of the built library
 * @returns a line for each part
 * @throws Error if a part is larger than its limit
 */
export async function measure(dist) {
  const sizes = await Promise.all(PARTS.map(async (part) => ({ ...part, bytes: await sizeOf(dist, part) })));
  const lines = sizes
    .map(({ name, bytes, limit }) => `${name}: ${bytes} of ${limit} bytes (gzip)`)
    .join('\n');
  if (sizes.some(({ bytes, limit }) => bytes > limit))
    throw new Error(`The client library is too large:\n${lines}`);
  return lines;
}

async function sizeOf(dist, { file }) {
  const { outputFiles } = await build({
    entryPoints: [path.join(dist, file)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}
