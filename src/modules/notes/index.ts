export { NotesApi } from './notes.api.js';
export { NotesModule } from './notes.module.js';
