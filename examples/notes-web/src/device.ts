import {
  openWorkspace,
  type Collection,
  type LocalItem,
  type Workspace,
} from '@workspace-backend/client/sync';
import { indexedDbStore } from '@workspace-backend/client/sync/indexed-db';
import { Conflicts } from './conflicts.js';
import { type Account, client } from './session.js';

export type Note = LocalItem<'notes'>;

/** The notes of a user on this device. */
export interface Device {
  workspace: Workspace;
  notes: Collection<'notes'>;
  conflicts: Conflicts;
  /** Closes the workspace, and deletes what the device has of the user. */
  erase(): Promise<void>;
}

/** Opens the notes of a user. Each user has a database, so that users of one browser do not see the notes of each other. */
export async function openDevice({ user, workspace: tenant }: Account): Promise<Device> {
  const name = `notes-web ${tenant} ${user}`;
  const conflicts = new Conflicts(`${name} conflict `);
  const store = await indexedDbStore(name);
  const workspace = await openWorkspace({
    client,
    store,
    user: `${tenant} ${user}`,
    collections: ['notes'],
    resolve: conflicts.resolve,
    device: 'notes-web',
  });
  // Otherwise the browser may delete the database when the disk is full. It may say no.
  void navigator.storage?.persist?.();
  return {
    workspace,
    notes: workspace.collection('notes'),
    conflicts,
    async erase() {
      await workspace.close();
      conflicts.clear();
      await deleteDatabase(name);
    },
  };
}

function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.addEventListener('success', () => resolve());
    request.addEventListener('error', () => reject(request.error ?? new Error('The notes are not deleted.')));
  });
}
