import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SHARED_MEMORY = '/dev/shm';
/** Free space below which the disk is used; containers often have 64 MB only. */
const ENOUGH_BYTES = 2 ** 31;

/** @returns a directory in memory where there is room: tests then do not wait for a disk */
export function memoryBase(): string {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? SHARED_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Creates a temporary directory, in memory where there is room. */
export const memoryDirectory = (prefix: string): string => mkdtempSync(path.join(memoryBase(), prefix));
