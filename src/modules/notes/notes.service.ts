import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { HtmlPolicy } from '../../platform/html/html-policy.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { cleanHtmlField } from '../../platform/resources/html-field.js';
import { NoteEdits } from './changes/note-edits.js';
import { NoteWrites } from './changes/note-writes.js';
import { restoreNote, type TrashCommand, trashNote } from './model/note-rules.js';
import { noteReply, noteWithRole, purgedReply } from './note.presenter.js';
import {
  type CreateNote,
  type DeleteNote,
  type NoteEnvelope,
  NoteErrors,
  type NoteFields,
  type NoteWithRoleEnvelope,
  type PurgedNoteEnvelope,
  type RestoreNote,
  type UpdateNote,
} from './notes.dto.js';
import { NotesRepository } from './notes.repository.js';

const NOTES_PATH = '/apis/v1/notes';

/** Single notes: create, read, write, trash, restore, purge. */
@Injectable()
export class NotesService {
  constructor(
    private readonly notes: NotesRepository,
    private readonly edits: NoteEdits,
    private readonly changes: NoteWrites,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
    private readonly html: HtmlPolicy,
    private readonly config: Config,
  ) {}

  /** @throws ApiError 409 `already_exists`; 422 for an unknown folder or HTML too complex to check */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateNote,
  ): Promise<JsonReply<NoteEnvelope>> {
    const fields = await this.clean(input);
    const id = input.id?.toLowerCase() ?? uuidv7();
    return this.writes.run(ctx, key, async (tx) => {
      const note = await this.edits.create(tx, ctx, id, fields, input.device_id);
      return noteReply(id, 1, note, { status: 201, location: `${NOTES_PATH}/${id}` });
    });
  }

  /**
   * @param link token of a share link, for callers that are not invited or have a lower role
   * @throws ApiError 404 `not_found`
   */
  async read(ctx: RequestContext, id: string, link?: string): Promise<JsonReply<NoteWithRoleEnvelope>> {
    const found = await this.notes.read(ctx, id, link);
    if (!found) throw NoteErrors.notFound.with();
    return noteWithRole(id, found.revision, found.note, found.role);
  }

  /** Compare-and-set on the revision. Errors come in the order of the contract (adr/0003). */
  async update(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    id: string,
    expected: ExpectedRevision,
    body: Checked<UpdateNote>,
    link?: string,
  ): Promise<JsonReply<NoteEnvelope>> {
    const checked = await body.map((input) => this.clean(input));
    const error = expected.error ?? checked.error;
    const { base_revision: _, device_id: device, ...patch } = error ? ({} as UpdateNote) : checked.value;
    const command = { userId: ctx.userId, error, base: error ? null : expected.value, patch };
    return this.edits.edit(ctx, { id, key, command, device, link });
  }

  /** Moves the note to the trash. */
  async trash(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    body: Checked<DeleteNote>,
  ): Promise<JsonReply<NoteEnvelope>> {
    const error = expected.error ?? body.error;
    const command: TrashCommand = {
      userId: ctx.userId,
      error,
      base: error ? null : expected.value,
      keepDays: this.config.TRASH_RETENTION_DAYS,
    };
    const device = body.error ? undefined : body.value.device_id;
    return this.db.tx(async (tx) => {
      const { revision, note } = await this.changes.write(
        tx,
        ctx,
        id,
        (found) => trashNote(found, command),
        device,
      );
      return noteReply(id, revision, note);
    });
  }

  /** Takes the note out of the trash. A note outside the trash stays as it is. */
  async restore(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    input: RestoreNote,
  ): Promise<JsonReply<NoteEnvelope>> {
    return this.writes.runTx(ctx, key, async (tx) => {
      const { revision, note } = await this.changes.write(
        tx,
        ctx,
        id,
        (found) => restoreNote(found, ctx),
        input.device_id,
      );
      return noteReply(id, revision, note);
    });
  }

  /** Removes a trashed note with its history permanently. */
  async purge(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<JsonReply<PurgedNoteEnvelope>> {
    return this.writes.runTx(ctx, key, async (tx) => purgedReply(await this.changes.purge(tx, ctx, id)));
  }

  private async clean<T extends NoteFields>(input: T): Promise<T> {
    if (input.content === undefined) return input;
    return { ...input, content: await cleanHtmlField(this.html, 'content', input.content) };
  }
}
