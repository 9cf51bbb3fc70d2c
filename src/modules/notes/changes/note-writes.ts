import { Injectable } from '@nestjs/common';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ApiError } from '../../../platform/http/errors.js';
import { NoteErrors } from '../notes.dto.js';
import { type NoteRead, NotesRepository } from '../notes.repository.js';
import { type LockedNote, type NoteDecision, type NoteRow, rejectPurge } from '../model/note-rules.js';
import { NoteRemovalRepository } from './note-removal.repository.js';
import { NoteRowsRepository } from './note-rows.repository.js';

type MaybePromise<T> = T | Promise<T>;

/** Writes one note: locks its row, asks the rules (`model/*-rules.ts`), and stores the result. */
@Injectable()
export class NoteWrites {
  constructor(
    private readonly rows: NoteRowsRepository,
    private readonly removal: NoteRemovalRepository,
    private readonly notes: NotesRepository,
    private readonly outbox: Outbox,
  ) {}

  /**
   * @param decide of the locked note, which is null if there is none
   * @returns the note as the caller sees it; if the caller no longer sees it, as it was before
   * @throws the error that `decide` returns; ApiError 409 `conflict`
   */
  async write(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    decide: (note: LockedNote | null) => MaybePromise<NoteDecision | 'conflict'>,
    device?: string,
  ): Promise<NoteRead> {
    const [note = null] = await this.rows.lock(tx, ctx.tenantId, [id]);
    const decision = await decide(note);
    if (decision instanceof ApiError) throw decision;
    if (decision === 'conflict') throw await this.conflict(tx, ctx, note!);
    if (decision === 'unchanged') return this.view(tx, ctx, id);
    const isLastView = decision.viewers.some(({ user_id, role }) => user_id === ctx.userId && role === null);
    const before = isLastView ? await this.view(tx, ctx, id) : null;
    this.outbox.notice(tx);
    await this.rows.store(tx, ctx, [{ note: note!, change: decision, device }]);
    return before ?? this.view(tx, ctx, id);
  }

  /** Removes a note permanently. @returns the note as the caller saw it @throws ApiError 403, 404, 409 `not_in_trash` */
  async purge(tx: Tx, ctx: RequestContext, id: string): Promise<string> {
    const [note = null] = await this.rows.lock(tx, ctx.tenantId, [id]);
    const rejection = rejectPurge(note, ctx);
    if (rejection) throw rejection;
    const view = await this.view(tx, ctx, id);
    this.outbox.notice(tx);
    await this.removal.remove(tx, ctx, id);
    return view.note;
  }

  private async view(reader: Reader, ctx: RequestContext, id: string): Promise<NoteRead> {
    return (await this.notes.read(ctx, id, undefined, reader))!;
  }

  /** 409 with the note as it is. */
  async conflict(reader: Reader, { tenantId }: RequestContext, note: NoteRow): Promise<ApiError> {
    const { id, revision, title, updated_at, updated_by } = note;
    return NoteErrors.conflict.with({
      body: {
        note_id: id,
        revision,
        title,
        content: await this.rows.content(reader, tenantId, note),
        updated_at: updated_at.toISOString(),
        updated_by,
      },
      headers: { ETag: revisionTag('note', id, revision) },
    });
  }
}
