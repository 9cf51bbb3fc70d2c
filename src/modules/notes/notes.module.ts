import { Module } from '@nestjs/common';
import { TasksModule } from '../tasks/index.js';
import { TenantsModule } from '../tenants/index.js';
import { DocxModule } from '../../platform/docx/docx.module.js';
import { HtmlModule } from '../../platform/html/html.module.js';
import { NoteIndexRepository } from './note-index.repository.js';
import { NoteIndexer } from './note-indexer.js';
import { NoteListRepository } from './note-list.repository.js';
import { NoteListsService } from './note-lists.service.js';
import { NoteFeedController } from './note-feed.controller.js';
import { NoteFeedRepository } from './note-feed.repository.js';
import { NotesOfFolders } from './notes-of-folders.js';
import { TrashPurge } from './trash-purge.js';
import { NotesApi } from './notes.api.js';
import { NotesController } from './notes.controller.js';
import { NotesExportController } from './notes-export.controller.js';
import { NotesExportService } from './notes-export.service.js';
import { NotesRepository } from './notes.repository.js';
import { NotesSearchController } from './notes-search.controller.js';
import { NotesSearchRepository } from './notes-search.repository.js';
import { NotesSearchService } from './notes-search.service.js';
import { NotesSharingController } from './notes-sharing.controller.js';
import { NotesSharingRepository } from './notes-sharing.repository.js';
import { NotesSharingService } from './notes-sharing.service.js';
import { NotesTasksController } from './notes-tasks.controller.js';
import { NotesTasksRepository } from './notes-tasks.repository.js';
import { NotesTasksService } from './notes-tasks.service.js';
import { NotesService } from './notes.service.js';

@Module({
  imports: [DocxModule, HtmlModule, TasksModule, TenantsModule],
  controllers: [
    NoteFeedController,
    NotesController,
    NotesExportController,
    NotesSharingController,
    NotesSearchController,
    NotesTasksController,
  ],
  providers: [
    NotesRepository,
    NoteListRepository,
    NotesService,
    NoteListsService,
    NotesExportService,
    NotesSharingRepository,
    NotesSharingService,
    NoteIndexRepository,
    NoteIndexer,
    NotesSearchRepository,
    NotesSearchService,
    NoteFeedRepository,
    NotesOfFolders,
    NotesTasksRepository,
    NotesTasksService,
    TrashPurge,
    NotesApi,
  ],
  exports: [NotesApi],
})
export class NotesModule {}
