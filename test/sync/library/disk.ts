import { rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { memoryStore } from '@workspace-backend/client/sync';
import { sqliteStore } from '@workspace-backend/client/sync/sqlite';
import { memoryDirectory } from '../../support/memory-directory.ts';
import { MortalStore } from './mortal-store.ts';

/** What a device keeps when a program on it ends. */
export interface Disk {
  /** The store of a new program. */
  open(): MortalStore;
  remove(): void;
}

/** A file, as in Node. */
export function fileDisk(): Disk {
  const directory = memoryDirectory('fuzz-device-');
  return {
    open: () => {
      const database = new DatabaseSync(path.join(directory, 'workspace.db'));
      return new MortalStore(sqliteStore(database), () => database.close());
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Rows in memory that outlive the program, as those of a browser do. */
export function memoryDisk(): Disk {
  const store = memoryStore();
  return { open: () => new MortalStore(store, () => undefined), remove: () => undefined };
}
