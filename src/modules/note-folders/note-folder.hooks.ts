import type { RequestContext } from '../../platform/context/request-context.js';
import { TxHook } from '../../platform/events/tx-hooks.js';

/** A folder is being deleted and what is filed in it goes to its parent. The caller's counter is locked. */
export const FOLDER_CONTENTS_MOVED = new TxHook<{ ctx: RequestContext; from: string; to: string | null }>(
  'note-folder contents moved',
);

/** Folders are being deleted and the caller's own notes in them go to the trash. Nothing is locked yet. */
export const FOLDER_CONTENTS_TRASHED = new TxHook<{ ctx: RequestContext; folders: string[] }>(
  'note-folder contents trashed',
);
