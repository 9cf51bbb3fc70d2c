import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { HtmlModule } from '../../platform/html/html.module.js';
import { NoteListRepository } from './note-list.repository.js';
import { NoteListsService } from './note-lists.service.js';
import { NotesApi } from './notes.api.js';
import { NotesController } from './notes.controller.js';
import { NotesRepository } from './notes.repository.js';
import { NotesSharingController } from './notes-sharing.controller.js';
import { NotesSharingRepository } from './notes-sharing.repository.js';
import { NotesSharingService } from './notes-sharing.service.js';
import { NotesService } from './notes.service.js';

@Module({
  imports: [HtmlModule, TenantsModule],
  controllers: [NotesController, NotesSharingController],
  providers: [
    NotesRepository,
    NoteListRepository,
    NotesService,
    NoteListsService,
    NotesSharingRepository,
    NotesSharingService,
    NotesApi,
  ],
  exports: [NotesApi],
})
export class NotesModule {}
