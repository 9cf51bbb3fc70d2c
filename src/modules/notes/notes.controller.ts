import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Expected, type ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Revisioned } from '../../platform/concurrency/revision.interceptor.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import {
  ApiIdempotency,
  ApiRevision,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  Operation,
} from '../../platform/http/api-docs.js';
import { BodyLimit } from '../../platform/http/body/body.guard.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { NoteListsService } from './note-lists.service.js';
import {
  NoteEnvelope,
  NoteListEnvelope,
  NoteRevisionEnvelope,
  NoteRevisionListEnvelope,
  NoteWithRoleEnvelope,
  PurgedNoteEnvelope,
} from './note.response.js';
import { CreateNote, DeleteNote, ListNotes, RestoreNote, ShareTokenQuery, UpdateNote } from './notes.dto.js';
import { NoteErrors } from './notes.errors.js';
import { NotesService } from './notes.service.js';

const NOTE_BODY_BYTES = 8 * 1024 * 1024;
const WRITE_ERRORS = [
  NoteErrors.notFound,
  Errors.forbidden,
  NoteErrors.deleted,
  NoteErrors.conflict,
  Errors.invalidRevision,
  ...BODY_ERRORS,
  ...IDEMPOTENCY_ERRORS,
];

// Examples without ids, so that "Try it out" works unchanged.
const CREATE_EXAMPLE = {
  title: 'Team offsite',
  content: '<h1>Agenda</h1><p>Travel, rooms, budget</p>',
  labels: ['planning'],
};
const UPDATE_EXAMPLE = { base_revision: 1, title: 'Team offsite in May' };

@Controller('notes')
export class NotesController {
  constructor(
    private readonly notes: NotesService,
    private readonly lists: NoteListsService,
  ) {}

  @Operation({
    tag: 'notes',
    id: 'listNotes',
    summary: 'List notes',
    description: 'Notes you own and notes shared with you, newest change first.',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: NoteListEnvelope, description: 'A page of notes.' })
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: ListNotes): Promise<JsonReply> {
    return this.lists.list(ctx, query);
  }

  @Operation({
    tag: 'notes',
    id: 'createNote',
    summary: 'Create a note',
    errors: [NoteErrors.alreadyExists, Errors.validationFailed, ...BODY_ERRORS, ...IDEMPOTENCY_ERRORS],
  })
  @ApiBody({ type: CreateNote, examples: { note: { value: CREATE_EXAMPLE } } })
  @ApiIdempotency()
  @ApiRevision(201, NoteEnvelope, 'The new note.')
  @BodyLimit(NOTE_BODY_BYTES)
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateNote,
  ): Promise<JsonReply> {
    return this.notes.create(ctx, key, body);
  }

  @Operation({
    tag: 'notes',
    id: 'readNote',
    summary: 'Read a note',
    description: 'With your role on it.',
    errors: [NoteErrors.notFound, Errors.invalidId, Errors.validationFailed],
  })
  @ApiRevision(200, NoteWithRoleEnvelope, 'The note and your role on it.')
  @Get(':id')
  read(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: ShareTokenQuery): Promise<JsonReply> {
    return this.notes.read(ctx, id, query.share_token);
  }

  @Operation({
    tag: 'notes',
    id: 'updateNote',
    summary: 'Update a note',
    description:
      'Only the given fields change. The request carries the revision you read; a stale one changes nothing and returns 409 with the current note.',
    errors: [...WRITE_ERRORS, Errors.invalidId, Errors.validationFailed, NoteErrors.noChanges],
  })
  @ApiBody({ type: UpdateNote, examples: { title: { value: UPDATE_EXAMPLE } } })
  @ApiRevision(200, NoteEnvelope, 'The current note.')
  @BodyLimit(NOTE_BODY_BYTES)
  @Revisioned('note')
  @Patch(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateNote) body: Checked<UpdateNote>,
    @Query() query: ShareTokenQuery,
  ): Promise<JsonReply> {
    return this.notes.update(ctx, id, expected, body, query.share_token);
  }

  @Operation({
    tag: 'notes',
    id: 'putNote',
    summary: 'Update a note (PUT)',
    description: 'The same as PATCH: missing fields stay as they are.',
    errors: [...WRITE_ERRORS, Errors.invalidId, Errors.validationFailed, NoteErrors.noChanges],
  })
  @ApiBody({ type: UpdateNote, examples: { title: { value: UPDATE_EXAMPLE } } })
  @ApiRevision(200, NoteEnvelope, 'The current note.')
  @BodyLimit(NOTE_BODY_BYTES)
  @Revisioned('note')
  @Put(':id')
  put(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateNote) body: Checked<UpdateNote>,
    @Query() query: ShareTokenQuery,
  ): Promise<JsonReply> {
    return this.notes.update(ctx, id, expected, body, query.share_token);
  }

  @Operation({
    tag: 'notes',
    id: 'deleteNote',
    summary: 'Move a note to the trash',
    description: 'The note can be restored until it is purged.',
    errors: [...WRITE_ERRORS, Errors.invalidId, Errors.validationFailed],
  })
  @ApiBody({ type: DeleteNote, required: false })
  @ApiRevision(200, NoteEnvelope, 'The current note.')
  @Revisioned('note')
  @Delete(':id')
  trash(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(DeleteNote) body: Checked<DeleteNote>,
  ): Promise<JsonReply> {
    return this.notes.trash(ctx, id, expected, body);
  }

  @Operation({
    tag: 'notes',
    id: 'restoreNote',
    summary: 'Restore a note from the trash',
    description: 'A note outside the trash is returned unchanged.',
    errors: [
      NoteErrors.notFound,
      Errors.forbidden,
      Errors.invalidId,
      Errors.validationFailed,
      ...BODY_ERRORS,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @ApiIdempotency()
  @ApiRevision(200, NoteEnvelope, 'The current note.')
  @HttpCode(200)
  @Post(':id/restore')
  restore(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: RestoreNote,
  ): Promise<JsonReply> {
    return this.notes.restore(ctx, id, key, body);
  }

  @Operation({
    tag: 'notes',
    id: 'purgeNote',
    summary: 'Purge a note from the trash',
    description: 'Removes the note and its history permanently. Its id is never used again.',
    errors: [
      NoteErrors.notFound,
      Errors.forbidden,
      NoteErrors.notInTrash,
      Errors.invalidId,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @ApiIdempotency()
  @ApiOkResponse({ type: PurgedNoteEnvelope, description: 'The purged note.' })
  @Delete(':id/purge')
  purge(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ): Promise<JsonReply> {
    return this.notes.purge(ctx, id, key);
  }

  @Operation({
    tag: 'notes',
    id: 'listNoteRevisions',
    summary: "List a note's revisions",
    description: 'Newest first, without content.',
    errors: [NoteErrors.notFound, Errors.invalidId, Errors.invalidCursor, Errors.validationFailed],
  })
  @ApiOkResponse({ type: NoteRevisionListEnvelope, description: 'A page of revisions.' })
  @Get(':id/revisions')
  revisions(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: PageQuery): Promise<JsonReply> {
    return this.lists.revisions(ctx, id, query);
  }

  @Operation({
    tag: 'notes',
    id: 'readNoteRevision',
    summary: 'Read one revision',
    description: 'With its content. To go back to it, update the note with its fields.',
    errors: [NoteErrors.notFound, Errors.invalidId, Errors.invalidRevision],
  })
  @ApiParam({
    name: 'revision',
    description: 'Number of the revision.',
    schema: { type: 'integer', minimum: 1, example: 1 },
  })
  @ApiOkResponse({ type: NoteRevisionEnvelope, description: 'The revision.' })
  @Get(':id/revisions/:revision')
  revision(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Param('revision') revision: string,
  ): Promise<JsonReply> {
    return this.lists.revision(ctx, id, revision);
  }
}
