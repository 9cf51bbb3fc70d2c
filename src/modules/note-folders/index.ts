export { FOLDER_CONTENTS_MOVED, FOLDER_CONTENTS_TRASHED } from './note-folder.hooks.js';
export { NoteFoldersModule } from './note-folders.module.js';
