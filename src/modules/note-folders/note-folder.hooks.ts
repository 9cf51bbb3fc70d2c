import type { RequestContext } from '../../platform/context/request-context.js';
import { TxHook } from '../../platform/events/tx-hooks.js';

/**
 * A folder is being deleted and its notes move to the parent. The counter of the caller is locked. The result is false if notes remain:
 * many notes move in several transactions.
 */
export const FOLDER_CONTENTS_MOVED = new TxHook<
  { ctx: RequestContext; from: string; to: string | null },
  boolean
>('note-folder contents moved');

/** Folders are being deleted and the caller's own notes in them go to the trash. No lock is held yet. The result: as above. */
export const FOLDER_CONTENTS_TRASHED = new TxHook<{ ctx: RequestContext; folders: string[] }, boolean>(
  'note-folder contents trashed',
);
