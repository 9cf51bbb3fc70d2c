import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Errors } from '../../platform/http/errors.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { Cursors } from '../../platform/paging/cursors.js';
import type { PageQuery } from '../../platform/paging/page.dto.js';
import { NoteListRepository } from './note-list.repository.js';
import { listReply, revisionReply } from './note.presenter.js';
import type { ListNotes } from './notes.dto.js';
import { NoteErrors } from './notes.errors.js';
import { NotesRepository } from './notes.repository.js';

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

  async list(ctx: RequestContext, query: ListNotes): Promise<JsonReply> {
    const { cursor, sort, state, scope, folder_id, label, q } = query;
    const order = query.order ?? (sort === 'title' ? 'asc' : 'desc');
    const filters = JSON.stringify([sort, order, state, scope, folder_id, label, q]);
    const page = `notes ${ctx.tenantId} ${ctx.userId} ${filters}`;
    const after = cursor === undefined ? undefined : (this.cursors.read(page, cursor) as [string, string]);
    const rows = await this.lists.list(ctx, { ...query, order, after });
    const given = rows.filter((row) => row.json !== null);
    const last = given.at(-1);
    const next = last && given.length < rows.length ? this.cursors.write(page, [last.key, last.id]) : null;
    return listReply(
      'notes',
      given.map((row) => row.json as string),
      next,
    );
  }

  /** @throws ApiError 404 when the caller may not read the note */
  async revisions(ctx: RequestContext, id: string, query: PageQuery): Promise<JsonReply> {
    const page = `revisions ${ctx.tenantId} ${ctx.userId} ${id}`;
    const before = query.cursor === undefined ? NEWEST : Number(this.cursors.read(page, query.cursor)[0]);
    const rows = await this.notes.listRevisions(ctx, id, before, query.limit + 1);
    if (!rows) throw NoteErrors.notFound.with();
    const given = rows.slice(0, query.limit);
    const next = rows.length > given.length ? this.cursors.write(page, [given.at(-1)?.revision ?? 0]) : null;
    return listReply(
      'revisions',
      given.map((row) => row.json as string),
      next,
    );
  }

  /**
   * @param revision as in the path
   * @throws ApiError 422 `invalid_revision` for anything but a number, 404 for an unknown note or revision
   */
  async revision(ctx: RequestContext, id: string, revision: string): Promise<JsonReply> {
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
