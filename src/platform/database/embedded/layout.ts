import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Account } from './account.js';
import { codeOf, EmbeddedDatabaseError, unusableDirectory } from './errors.js';

/** The name of the socket is `.s.PGSQL.<port>`. No other server listens in that directory, so the port is a constant. */
export const SOCKET_PORT = 5432;

/** A socket address holds 107 bytes on Linux and 103 on macOS. */
const MAX_SOCKET_PATH = 90;

/**
 * Creates DATA_DIR when missing and returns its real path, so that two names of one directory are one database.
 * An existing directory keeps its mode.
 */
export async function ensureDataDir(dataDir: string): Promise<string> {
  try {
    if (await mkdir(dataDir, { recursive: true })) {
      // For root, PostgreSQL runs as another user, which must be able to pass through (not to list).
      await chmod(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
    }
    return await realpath(dataDir);
  } catch (error) {
    throw unusableDirectory(dataDir, error);
  }
}

/** The directory of the database files. */
export function clusterDir(dataDir: string): string {
  return path.join(dataDir, 'postgres');
}

/**
 * Creates the private directory of the socket: in DATA_DIR, or, where that path is too long for a socket address, below
 * the temporary directory of the system, under a name derived from DATA_DIR.
 * @param key distinguishes the servers of an upgrade from the usual one
 */
export const ensureSocketDir = (dataDir: string, account: Account, key = ''): Promise<string> =>
  ensurePrivate(socketDirOf(dataDir, key), account);

/** The directory of the socket, which need not exist. */
export function socketDirOf(dataDir: string, key: string): string {
  const inside = path.join(dataDir, `run${key}`);
  if (fits(inside)) return inside;
  const name = `workspace-${createHash('sha256').update(`${dataDir}${key}`).digest('hex').slice(0, 16)}`;
  const outside = [os.tmpdir(), '/tmp'].map((dir) => path.join(dir, name)).find(fits);
  if (outside === undefined) throw new EmbeddedDatabaseError(`The path ${dataDir} is too long for a socket.`);
  return outside;
}

function fits(dir: string): boolean {
  return Buffer.byteLength(path.join(dir, `.s.PGSQL.${SOCKET_PORT}`)) <= MAX_SOCKET_PATH;
}

/** Creates the directory. Rejects one of another user, who would have access to the database: /tmp is shared. */
async function ensurePrivate(dir: string, account: Account): Promise<string> {
  try {
    await mkdir(dir, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    const found = await lstat(dir);
    const isOwned = found.uid === process.getuid?.() || found.uid === account.uid;
    if (!found.isDirectory() || !isOwned) {
      throw new EmbeddedDatabaseError(
        `${dir} belongs to another user; remove it, or choose a shorter DATA_DIR.`,
      );
    }
    await account.give(dir);
    await chmod(dir, 0o700);
    return dir;
  } catch (error) {
    throw error instanceof EmbeddedDatabaseError ? error : unusableDirectory(dir, error);
  }
}
