// An application that consists of one page with the client library, as a bundler makes it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import path from 'node:path';
import { build } from 'esbuild';

const PAGE =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Application</title><script type="module" src="/bundle.js"></script>';
const SOURCE = `
  import * as calls from '@workspace-backend/client';
  import * as signIn from '@workspace-backend/client/sign-in';
  import * as sockets from '@workspace-backend/client/sockets';
  import * as sync from '@workspace-backend/client/sync';
  import * as indexedDb from '@workspace-backend/client/sync/indexed-db';
  globalThis.library = { ...calls, ...signIn, ...sockets, ...sync, ...indexedDb };
`;

/**
 * Serves a page at every path, and its program at `script`.
 * @param {{ page?: string, script?: string, source?: () => Promise<string> | string }} application
 *   `source` is called at the first request: its program may need the address of the page
 * @returns the server
 */
export async function serveApplication({ page = PAGE, script = '/bundle.js', source = () => SOURCE } = {}) {
  let bundle;
  const respond = async (request, response) => {
    const isScript = request.url === script;
    bundle ??= Promise.resolve(source()).then(bundleOf);
    const body = isScript ? await bundle : page;
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(body);
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function bundleOf(contents) {
  const { outputFiles } = await build({
    stdin: { contents, loader: 'ts', resolveDir: path.resolve(import.meta.dirname) },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  return outputFiles[0].contents;
}
