import { jsonList, JsonReply } from '../../platform/http/json-reply.js';

// Folders arrive as JSON text from the view note_folder_views, which owns their shape. Answers name them twice: clients of
// the notes area know them as `folder`, generic clients by the name of the resource.

/** `{ folder, note_folder }`. */
export function folderReply(folder: string, options: { status?: number; location?: string } = {}): JsonReply {
  return new JsonReply(`{"folder":${folder},"note_folder":${folder}}`, options);
}

/** `{ folder, note_folder, deleted: true }`. */
export function deletedFolderReply(folder: string): JsonReply {
  return new JsonReply(`{"folder":${folder},"note_folder":${folder},"deleted":true}`);
}

/** `{ folders, note_folders, next }`. */
export function folderListReply(folders: string[], next: string | null): JsonReply {
  return new JsonReply(jsonList(['folders', 'note_folders'], folders, `"next":${JSON.stringify(next)}}`));
}
