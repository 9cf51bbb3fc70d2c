import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config/config.js';
import { Area, type Finding, reasonOf } from './finding.js';

const settings = new Area('configuration');
const LOCAL = /^(?:localhost|127\.|\[::1\])/;

/** Checks settings that are valid but unsuitable for production. */
export function checkConfiguration(config: Config): Finding[] {
  const findings = [settings.ok('All settings are valid.')];
  // The embedded database is for one machine and for trying the service out.
  if (config.embeddedDatabase) return findings;
  if (config.PUBLIC_URL === undefined)
    findings.push(
      settings.warning(
        `PUBLIC_URL is missing: links and the issuer of tokens begin with ${config.publicUrl}.`,
        'Set PUBLIC_URL to the address that clients use.',
      ),
    );
  else if (config.PUBLIC_URL.startsWith('http://') && !LOCAL.test(new URL(config.PUBLIC_URL).host))
    findings.push(
      settings.warning(
        'PUBLIC_URL begins with http://: passwords and tokens cross the network unencrypted.',
        'Terminate TLS in a proxy and set PUBLIC_URL to its https:// address.',
      ),
    );
  if (config.PUBLIC_URL?.startsWith('https://') && config.trustProxy === false)
    findings.push(
      settings.warning(
        'TRUST_PROXY is false behind a proxy: limits of sign-ins count all users as one client.',
        'Set TRUST_PROXY to the address of the proxy or to the number of proxies.',
      ),
    );
  if (config.demo)
    findings.push(
      settings.warning(
        'DEMO is true: the users of the demo workspace have a public password.',
        'Set DEMO=false and deactivate the demo users.',
      ),
    );
  return findings;
}

const machine = new Area('disk');
const MIB = 1024 ** 2;
/** Free space below which writes soon fail. */
const LEAST = { warning: { bytes: 1024 * MIB, share: 0.1 }, error: { bytes: 100 * MIB, share: 0.02 } };

/** Checks the free space under DATA_DIR and, when it is another directory, of the blob store. */
export async function checkDisk(config: Config): Promise<Finding[]> {
  const store = config.blobStore;
  const directories = new Set([config.DATA_DIR, ...(store.kind === 'file' ? [store.directory] : [])]);
  return Promise.all([...directories].map((directory) => freeSpace(directory)));
}

async function freeSpace(directory: string): Promise<Finding> {
  // A missing directory is created below its nearest existing parent.
  let existing = directory;
  while (!existsSync(existing)) existing = path.dirname(existing);
  try {
    const { bavail, blocks, bsize } = await statfs(existing);
    return freeSpaceFinding(directory, bavail * bsize, blocks * bsize);
  } catch (error) {
    return machine.error(
      `The free space of ${directory} cannot be read: ${reasonOf(error)}.`,
      'Check the directory and its permissions.',
    );
  }
}

/** @param free bytes @param total bytes */
export function freeSpaceFinding(directory: string, free: number, total: number): Finding {
  const share = total > 0 ? free / total : 0;
  const text = `${directory} has ${Math.round(free / MIB)} MiB free (${Math.floor(share * 100)} %).`;
  const action = 'Free space or enlarge the disk: writes return 507 when it is full.';
  const isBelow = ({ bytes, share: least }: { bytes: number; share: number }) =>
    free < bytes || share < least;
  // A large disk is not nearly full at 2 %.
  if (isBelow(LEAST.error) && free < LEAST.warning.bytes) return machine.error(text, action);
  if (isBelow(LEAST.warning) && free < 10 * LEAST.warning.bytes) return machine.warning(text, action);
  return machine.ok(text);
}
