// Installs, starts and fills the servers of other libraries for `sync.bench.mjs`. Never dependencies of the project.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startScript } from '../support/processes.mjs';

const PACKAGES = {
  pouchdb: ['pouchdb@9.0.0', 'express-pouchdb@4.2.0', 'express@4'],
  rxdb: ['rxdb@15.22.0', 'rxdb-server@15.22.0', 'rxjs@7', 'express@4', 'cors@2'],
};

/** Installs a peer beside the temporary files of this machine, once. @returns the directory with its modules */
function install(kind) {
  const directory = path.join(tmpdir(), `workspace-bench-${PACKAGES[kind][0].replace('@', '-')}`);
  const installed = path.join(directory, 'installed');
  if (existsSync(installed)) return directory;
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'package.json'), '{"private":true}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES[kind]], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(installed, '');
  return directory;
}

/** Documents of a request that fills a database. */
const AT_ONCE = 1_000;
/** The server of RxDB rejects bodies of more than 100 kB. */
const RXDB_AT_ONCE = 10;

async function send(base, method, target, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${base}/${target}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

const FILL = {
  async pouchdb(base, database, notes) {
    await send(base, 'PUT', database);
    for (let from = 0; from < notes.length; from += AT_ONCE) {
      const docs = notes.slice(from, from + AT_ONCE).map(({ id, ...note }) => ({ _id: id, ...note }));
      await send(base, 'POST', `${database}/_bulk_docs`, { docs });
    }
  },
  async rxdb(base, database, notes) {
    for (let from = 0; from < notes.length; from += RXDB_AT_ONCE) {
      const rows = notes
        .slice(from, from + RXDB_AT_ONCE)
        .map((note) => ({ newDocumentState: { ...note, _deleted: false } }));
      await send(base, 'POST', `${database}/0/push`, rows);
    }
  },
};

/**
 * @param kinds of peers; others are ignored
 * @param data `{ name, notes }`: a database each
 * @returns by kind: `{ base, listener, cpu, modules }`
 */
export async function startPeers(kinds, directory, data, stopAtEnd) {
  const peers = {};
  for (const kind of Object.keys(PACKAGES).filter((one) => kinds.has(one))) {
    const modules = install(kind);
    const files = path.join(directory, kind);
    mkdirSync(files, { recursive: true });
    const script = new URL(`servers/${kind}.mjs`, import.meta.url);
    const listener = stopAtEnd(
      await startScript(kind, script, {
        DIRECTORY: files,
        DATABASES: data.map(({ name }) => name).join(),
        MODULES: modules,
        NODE_ENV: 'production',
      }),
    );
    const base = `http://127.0.0.1:${listener.port}`;
    for (const { name, notes } of data) await FILL[kind](base, name, notes);
    peers[kind] = { base, listener, cpu: async () => listener.cpu, modules };
  }
  return peers;
}
