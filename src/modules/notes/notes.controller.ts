import { Body, Controller, Param, Query } from '@nestjs/common';
import { ApiTags, ApiParam } from '@nestjs/swagger';
import { Expected, type ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Revisioned } from '../../platform/concurrency/revision.interceptor.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { BodyLimit } from '../../platform/http/body/body-limits.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { QuotaErrors } from '../../platform/quotas/quotas.dto.js';
import { NoteListsService } from './lists/note-lists.service.js';
import {
  CreateNote,
  DeleteNote,
  ListNotes,
  NoteEnvelope,
  NoteErrors,
  NoteListEnvelope,
  NoteRevisionEnvelope,
  NoteRevisionListEnvelope,
  NoteWithRoleEnvelope,
  PurgedNoteEnvelope,
  RestoreNote,
  ShareTokenQuery,
  UpdateNote,
} from './notes.dto.js';
import { NotesService } from './notes.service.js';

const NOTE_BODY_BYTES = 8 * 1024 * 1024;
const WRITE_ERRORS = [NoteErrors.notFound, Errors.forbidden, NoteErrors.deleted, NoteErrors.conflict];

// Examples without ids, so that "Try it out" works unchanged.
const CREATE_EXAMPLE = {
  title: 'Team offsite',
  content: '<h1>Agenda</h1><p>Travel, rooms, budget</p>',
  labels: ['planning'],
};

@ApiTags('notes')
@Controller('notes')
export class NotesController {
  constructor(
    private readonly notes: NotesService,
    private readonly lists: NoteListsService,
  ) {}

  @Endpoint('GET', {
    id: 'listNotes',
    summary: 'List notes',
    description: 'Notes you own and notes shared with you, newest change first.',
    response: [NoteListEnvelope, 'A page of notes.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListNotes) {
    return this.lists.list(ctx, query);
  }

  @Endpoint('POST', {
    id: 'createNote',
    summary: 'Create a note',
    description: 'You become its owner. A client that works offline chooses `id` itself.',
    status: 201,
    response: [NoteEnvelope, 'The new note.'],
    etag: 'note',
    example: CREATE_EXAMPLE,
    errors: [NoteErrors.alreadyExists, QuotaErrors.exceeded],
  })
  @BodyLimit(NOTE_BODY_BYTES)
  create(@Ctx() ctx: RequestContext, @Idempotency() key: IdempotencyKey | null, @Body() body: CreateNote) {
    return this.notes.create(ctx, key, body);
  }

  @Endpoint('GET :id', {
    id: 'readNote',
    summary: 'Read a note',
    description: 'With your role on it.',
    response: [NoteWithRoleEnvelope, 'The note and your role on it.'],
    etag: 'note',
    errors: [NoteErrors.notFound],
  })
  read(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: ShareTokenQuery) {
    return this.notes.read(ctx, id, query.share_token);
  }

  @Endpoint('PATCH :id', {
    id: 'updateNote',
    putId: 'putNote',
    summary: 'Update a note',
    description:
      'Only the given fields change. The request carries the revision you read; a stale one changes nothing and returns 409 with the current note.',
    response: [NoteEnvelope, 'The current note.'],
    etag: 'note',
    example: { base_revision: 1, title: 'Team offsite in May' },
    errors: [...WRITE_ERRORS, NoteErrors.noChanges],
  })
  @BodyLimit(NOTE_BODY_BYTES)
  @Revisioned('note', { takesKey: true })
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(UpdateNote) body: Checked<UpdateNote>,
    @Query() query: ShareTokenQuery,
  ) {
    return this.notes.update(ctx, key, id, expected, body, query.share_token);
  }

  @Endpoint('DELETE :id', {
    id: 'deleteNote',
    summary: 'Move a note to the trash',
    description: 'The note can be restored until it is purged.',
    response: [NoteEnvelope, 'The current note.'],
    etag: 'note',
    optionalBody: true,
    errors: WRITE_ERRORS,
  })
  @Revisioned('note')
  trash(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(DeleteNote) body: Checked<DeleteNote>,
  ) {
    return this.notes.trash(ctx, id, expected, body);
  }

  @Endpoint('POST :id/restore', {
    id: 'restoreNote',
    optionalBody: true,
    summary: 'Restore a note from the trash',
    description: 'A note outside the trash is returned unchanged.',
    response: [NoteEnvelope, 'The current note.'],
    etag: 'note',
    errors: [NoteErrors.notFound, Errors.forbidden],
  })
  restore(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: RestoreNote,
  ) {
    return this.notes.restore(ctx, id, key, body);
  }

  @Endpoint('DELETE :id/purge', {
    id: 'purgeNote',
    summary: 'Purge a note from the trash',
    description: 'Removes the note and its history permanently. Its id is never used again.',
    response: [PurgedNoteEnvelope, 'The purged note.'],
    errors: [NoteErrors.notFound, Errors.forbidden, NoteErrors.notInTrash],
  })
  purge(@Ctx() ctx: RequestContext, @Id() id: string, @Idempotency() key: IdempotencyKey | null) {
    return this.notes.purge(ctx, id, key);
  }

  @Endpoint('GET :id/revisions', {
    id: 'listNoteRevisions',
    summary: "List a note's revisions",
    description:
      'Newest first, without content. An invited viewer reads the revisions from the invitation on, with the one that was current then; editors and the owner read all.',
    response: [NoteRevisionListEnvelope, 'A page of revisions.'],
    errors: [NoteErrors.notFound],
  })
  revisions(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: PageQuery) {
    return this.lists.revisions(ctx, id, query);
  }

  @Endpoint('GET :id/revisions/:revision', {
    id: 'readNoteRevision',
    summary: 'Read one revision',
    description:
      'With its content. To go back to it, update the note with its fields. An invited viewer reads the same revisions as in the list.',
    response: [NoteRevisionEnvelope, 'The revision.'],
    errors: [NoteErrors.notFound, Errors.invalidRevision],
  })
  @ApiParam({
    name: 'revision',
    description: 'Number of the revision.',
    schema: { type: 'integer', minimum: 1, example: 1 },
  })
  revision(@Ctx() ctx: RequestContext, @Id() id: string, @Param('revision') revision: string) {
    return this.lists.revision(ctx, id, revision);
  }
}
