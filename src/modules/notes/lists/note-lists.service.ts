import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Errors } from '../../../platform/http/errors.js';
import { type JsonText, JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { NoteListRepository } from './note-list.repository.js';
import { revisionReply } from '../note.presenter.js';
import type { ListNotes } from '../notes.dto.js';
import { NoteErrors } from '../notes.errors.js';
import { NotesRepository, type RevisionRow } from '../notes.repository.js';
import type { NoteListEnvelope, NoteRevisionListEnvelope, NoteRevisionEnvelope } from '../note.response.js';

/** Above every revision: the list of revisions begins here. */
const NEWEST = 2_147_483_647;

/** Pages of notes and of the history of a note. */
@Injectable()
export class NoteListsService {
  constructor(
    private readonly lists: NoteListRepository,
    private readonly notes: NotesRepository,
    private readonly cursors: Cursors,
  ) {}

  async list(ctx: RequestContext, query: ListNotes): Promise<JsonReply<NoteListEnvelope>> {
    const { cursor, sort, state, scope, folder_id, label, q } = query;
    const order = query.order ?? (sort === 'title' ? 'asc' : 'desc');
    const filters = JSON.stringify([sort, order, state, scope, folder_id, label, q]);
    const page = `notes ${ctx.tenantId} ${ctx.userId} ${filters}`;
    const after = cursor === undefined ? undefined : (this.cursors.read(page, cursor) as [string, string]);
    const rows = await this.lists.list(ctx, { ...query, order, after });
    const given = rows.filter((row) => row.json !== null);
    const last = given.at(-1);
    const next = last && given.length < rows.length ? this.cursors.write(page, [last.key, last.id]) : null;
    const notes = given.map((row) => row.json as JsonText);
    return JsonReply.listOf('notes', notes, { next });
  }

  /** @throws ApiError 404 when the caller may not read the note */
  async revisions(
    ctx: RequestContext,
    id: string,
    query: PageQuery,
  ): Promise<JsonReply<NoteRevisionListEnvelope>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `revisions ${ctx.tenantId} ${ctx.userId} ${id}`,
      key: ({ revision }: RevisionRow & { fits: boolean }): [number] => [revision ?? 0],
      fits: (row) => row.fits,
      rows: async (before, limit) => {
        const revisions = await this.notes.listRevisions(ctx, id, before?.[0] ?? NEWEST, limit);
        if (!revisions) throw NoteErrors.notFound.with();
        return revisions;
      },
    });
    const revisions = rows.map((row) => row.json as string);
    return JsonReply.listOf('revisions', revisions, { next });
  }

  /**
   * @param revision as in the path
   * @throws ApiError 422 `invalid_revision` for anything but a number, 404 for an unknown note or revision
   */
  async revision(
    ctx: RequestContext,
    id: string,
    revision: string,
  ): Promise<JsonReply<NoteRevisionEnvelope>> {
    if (!/^[1-9]\d{0,9}$/.test(revision))
      throw Errors.invalidRevision.with({
        message: 'The revision in the path must be a whole number, 1 or higher.',
      });
    const row = await this.notes.readRevision(ctx, id, Math.min(Number(revision), NEWEST));
    if (!row) throw NoteErrors.notFound.with();
    if (row.json === null) throw NoteErrors.revisionNotFound.with();
    return revisionReply(row.json);
  }
}
