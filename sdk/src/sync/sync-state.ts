/**
 * `idle`: the device had all that the service had, and the other way round, except for changes with problems.
 * `waiting`: the service does not execute some changes at the moment, or others change the same objects all the time.
 */
export type SyncPhase =
  | 'starting'
  | 'syncing'
  | 'idle'
  | 'waiting'
  | 'offline'
  | 'signed-out'
  | 'storage-full'
  | 'failed';

/** The state of the synchronisation of a workspace, in all tabs. */
export interface SyncState {
  phase: SyncPhase;
  /** Why the last attempt has ended early. */
  message?: string;
}
