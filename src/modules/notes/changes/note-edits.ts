import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { MemberKey, RequestContext } from '../../../platform/context/request-context.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import { inWorkOf } from '../../../platform/current-work/current-work.js';
import { ConcurrentChangeError, leavesConnection } from '../../../platform/database/database-errors.js';
import { TIMEOUTS } from '../../../platform/database/connections/timeouts.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ApiError } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { throwQuotaError } from '../../../platform/quotas/row-quota.js';
import { HeadChanges } from '../../../platform/sync/head-watch.js';
import { allocate } from '../../../platform/sync/sync-heads.js';
import { Collector, limitEach } from '../../../platform/workers/collector.js';
import { TenantsApi } from '../../tenants/index.js';
import {
  type EditCommand,
  editNote,
  editOf,
  EDITORS,
  newNote,
  type NoteEdit,
  type NoteFacts,
  type NotePatch,
  unknownFolder,
} from '../model/edit-rules.js';
import { noteReply } from '../note.presenter.js';
import { type NoteEnvelope, NoteErrors } from '../notes.dto.js';
import { type NoteRead, NotesRepository } from '../notes.repository.js';
import type { NoteRole } from '../notes.schema.js';
import { NotePlacementsRepository } from './note-placements.repository.js';
import { NoteRowsRepository } from './note-rows.repository.js';
import { NoteWrites } from './note-writes.js';

/** A decided write of the fields of one note, as the function `note_store` takes it. */
interface EditStore extends Pick<NoteEdit, 'content' | 'folder'> {
  row: NoteEdit['columns'] | ReturnType<typeof newNote>;
  isNew?: boolean;
  event: 'note.created' | 'note.updated';
  device?: string | undefined;
  /** What the rules have assumed without a lock: the note is not in the trash either, and a field differs. */
  assumed?: { revision: number; roles: readonly NoteRole[] };
}

interface StoredEdit {
  revision: number;
  /** JSON of the note as the caller sees it; null for a visitor with a share link. */
  note: string | null;
}

/** `outdated`: an assumption is wrong, or the folder is not one of the caller; `exists`: a note has or had the id. */
type EditOutcome = StoredEdit | 'outdated' | 'exists';

type StoredRow = { outcome: 'stored' | 'outdated' | 'exists'; head: number | null } & StoredEdit;

const store = workspace.statement<StoredRow>(
  'notes.store_edit',
  `SELECT outcome, revision, note, head::float8 AS head FROM note_store($1, $2, $3, $4, $5)`,
);

const storeAll = workspace.statement<StoredRow>(
  'notes.store_edits',
  `SELECT outcome, revision, note, head::float8 AS head FROM note_store_all($1, $2, $3, $4, $5, $6)`,
);

/** Bytes of the notes that one statement returns, apart from the last one. Edits beyond them are outdated. */
const MOST_RETURNED_BYTES = 1024 * 1024;

/** Stores the fields of notes. */
@Injectable()
export class NoteEditsRepository {
  constructor(private readonly heads: HeadChanges) {}

  /** @throws ApiError 409 `quota_exceeded` */
  async store(tx: Tx, ctx: MemberKey, id: string, edit: EditStore): Promise<EditOutcome> {
    const values = [ctx.tenantId, ctx.userId, id, textOf(edit), edit.content ?? null];
    return this.read(tx, ctx, await tx.query(store, values).catch(throwQuotaError))[0]!;
  }

  /**
   * Stores edits of existing notes, each of which has assumptions. Several of them do not wait for the lock of a note.
   * @returns in their order
   */
  async storeAll(
    tx: Tx,
    ctx: MemberKey,
    edits: readonly { id: string; edit: EditStore }[],
  ): Promise<EditOutcome[]> {
    const [only, ...others] = edits as readonly [(typeof edits)[0], ...typeof edits];
    if (others.length === 0) return [await this.store(tx, ctx, only.id, only.edit)];
    const rows = await tx.query(storeAll, [
      ctx.tenantId,
      ctx.userId,
      edits.map(({ id }) => id),
      edits.map(({ edit }) => textOf(edit)),
      edits.map(({ edit }) => edit.content ?? null),
      MOST_RETURNED_BYTES,
    ]);
    return this.read(tx, ctx, rows);
  }

  private read(tx: Tx, { tenantId, userId }: MemberKey, rows: readonly StoredRow[]): EditOutcome[] {
    const head = Math.max(...rows.map((row) => row.head ?? 0));
    if (head > 0) tx.afterCommit(() => this.heads.report(tenantId, userId, head));
    return rows.map(({ outcome, revision, note }) => (outcome === 'stored' ? { revision, note } : outcome));
  }
}

const textOf = ({ row, isNew, event, folder, device, assumed }: EditStore): string =>
  JSON.stringify({
    row,
    folder,
    device,
    assumed,
    event: { id: uuidv7(), type: event },
    ...(isNew && { is_new: true }),
  });

/** A request to change a note. */
interface Edit {
  id: string;
  key: IdempotencyKey | null;
  command: EditCommand;
  device?: string | undefined;
  /** Token of a share link, for callers that are not invited or have a lower role. */
  link?: string | undefined;
}

type Written = Pick<NoteRead, 'revision' | 'note'>;

/** Undefined means that nothing is stored, because an assumption is wrong. An error concerns this edit only. */
type UsualOutcome = JsonReply<NoteEnvelope> | ApiError | undefined;

/** Edits of one statement: it runs for about 5 ms, in which others of the user are collected. */
const MOST_TOGETHER = 16;
/** Characters of the contents that they write. */
const MOST_CHARACTERS = 256 * 1024;
/** Edits of a user that wait for their statement. */
const MOST_WAITING = 128;
/** Places of the two queues for a user, who takes two fifths of them: as many as edits wait. */
const MAX_QUEUE = (MOST_WAITING * 5) / 2;
/** Transactions with locks: a user has half of them at the same time. They may wait for the lock of a note, and for each other's commits. */
const LOCKED = 4;

/** Creates notes and changes their fields: asks the rules (`model/edit-rules.ts`), and stores the result. */
@Injectable()
export class NoteEdits {
  /**
   * Edits of a user, of which each takes the counter of their feed: they would wait for each other's commits. So those that come while
   * others are stored are stored together afterwards, in one transaction.
   */
  private readonly usual = new Collector<{ ctx: MemberKey; edit: Edit }, UsualOutcome>(
    limitEach(1, MAX_QUEUE, TIMEOUTS.request),
    (_, edits) => this.editTogether(edits),
    {
      most: MOST_TOGETHER,
      sizeOf: ({ edit }) => edit.command.patch.content?.length ?? 0,
      maxSize: MOST_CHARACTERS,
      mostWaiting: MOST_WAITING,
    },
  );
  private readonly locked = limitEach(LOCKED, MAX_QUEUE, TIMEOUTS.request);

  constructor(
    private readonly edits: NoteEditsRepository,
    private readonly rows: NoteRowsRepository,
    private readonly placements: NotePlacementsRepository,
    private readonly writes: NoteWrites,
    private readonly once: IdempotentWrites,
    private readonly notes: NotesRepository,
    private readonly tenants: TenantsApi,
    private readonly outbox: Outbox,
  ) {}

  /** @throws ApiError 409 `already_exists`, `quota_exceeded`; 422 for an unknown folder */
  async create(tx: Tx, ctx: RequestContext, id: string, patch: NotePatch, device?: string): Promise<string> {
    this.outbox.notice(tx);
    const { content = '', folder_id } = patch;
    const stored = await this.edits.store(tx, ctx, id, {
      isNew: true,
      row: newNote(ctx.userId, patch),
      folder: folder_id ?? undefined,
      content,
      device,
      event: 'note.created',
    });
    if (stored === 'exists') throw NoteErrors.alreadyExists.with();
    if (stored === 'outdated') throw unknownFolder();
    return stored.note!;
  }

  /**
   * Runs one statement, which assumes the usual case: an editor has read the current revision, and changes a field. If the assumption is
   * wrong, a transaction reads what the rules need. The method does not join a transaction of the caller.
   * @throws ApiError 403, 404, 409 `conflict`, `deleted`, 422; those of `IdempotentWrites`; QueueFullError if the user makes more edits than
   *   are stored in time
   */
  async edit(ctx: RequestContext, edit: Edit): Promise<JsonReply<NoteEnvelope>> {
    const { id, key, link, command } = edit;
    const user = `${ctx.tenantId} ${ctx.userId}`;
    if (!command.error && link === undefined && command.patch.folder_id === undefined) {
      const outcome = await this.usual.add(user, { ctx, edit });
      if (outcome instanceof ApiError) throw outcome;
      if (outcome) return outcome;
    }
    return this.locked(user).run(() =>
      this.once.runTx(ctx, key, async (tx) => {
        const { revision, note } = await this.editLocked(tx, ctx, edit);
        return noteReply(id, revision, note);
      }),
    );
  }

  private async editTogether(edits: readonly { ctx: MemberKey; edit: Edit }[]): Promise<UsualOutcome[]> {
    const [{ ctx }] = edits as [(typeof edits)[0]];
    try {
      // The statement counts for the user, and not for the request that came first.
      return await inWorkOf({ workspace: ctx.tenantId, user: ctx.userId }, () =>
        this.editUsual(
          ctx,
          edits.map(({ edit }) => edit),
        ),
      );
    } catch (error) {
      const isOfOne = error instanceof ApiError || leavesConnection(error);
      if (edits.length === 1 || !isOfOne) throw error;
      // One of them is the cause, for example by the lock of the counter of a member. Nothing is stored.
      return edits.map(() => undefined);
    }
  }

  private editUsual(ctx: MemberKey, edits: readonly Edit[]): Promise<UsualOutcome[]> {
    const keys = edits.map(({ key }) => key);
    return this.once.runAll<NoteEnvelope>(ctx, keys, async (tx, places) => {
      this.outbox.notice(tx);
      const made = places.map((place) => edits[place]!);
      const stored = await this.edits.storeAll(tx, ctx, made.map(usualStore));
      return stored.map((outcome, n) =>
        typeof outcome === 'string' ? undefined : noteReply(made[n]!.id, outcome.revision, outcome.note!),
      );
    });
  }

  private async editLocked(
    tx: Tx,
    ctx: RequestContext,
    { id, command, device, link }: Edit,
  ): Promise<Written> {
    const facts = await this.facts(tx, ctx, id, command.patch, link);
    const decision = editNote(facts, command);
    if (decision instanceof ApiError) throw decision;
    if (decision === 'conflict') throw await this.writes.conflict(tx, ctx, facts.note!);
    if ('place' in decision) {
      await this.place(tx, ctx, id, decision.place, device);
      return (await this.notes.read(ctx, id, undefined, tx))!;
    }
    this.outbox.notice(tx);
    const { columns: row, content, folder } = decision;
    const stored = await this.edits.store(tx, ctx, id, {
      row,
      content,
      folder,
      device,
      event: 'note.updated',
    });
    if (typeof stored === 'string')
      throw new ConcurrentChangeError('the folder was deleted while the note was locked');
    if (stored.note !== null) return { revision: stored.revision, note: stored.note };
    const seen = await this.notes.read(ctx, id, link, tx);
    // The link has expired meanwhile.
    if (!seen) throw NoteErrors.notFound.with();
    return seen;
  }

  private async facts(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    { folder_id: folder, content }: NotePatch,
    link: string | undefined,
  ): Promise<NoteFacts> {
    const { tenantId } = ctx;
    const [note = null] = await this.rows.lock(tx, tenantId, [id]);
    const isToken = link !== undefined && note?.share_token === link;
    const inactive = isToken ? await this.tenants.inactiveMembers(tx, tenantId, [note.owner_id]) : [];
    return {
      note,
      hasLink: isToken && inactive.length === 0,
      folder: folder === undefined ? null : ((await this.placements.folders(tx, ctx, [id])).get(id) ?? null),
      isOwnFolder: folder ? await this.placements.isOwnFolder(tx, ctx, folder) : true,
      content: note && content !== undefined ? await this.rows.content(tx, tenantId, note) : null,
    };
  }

  /** Only the feed of the caller gets the note. */
  private async place(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    folder: string | null,
    device: string | undefined,
  ): Promise<void> {
    const before = await allocate(tx, ctx, 1);
    // Under the lock of the counter, which the deletion of a folder takes too.
    if (folder !== null && !(await this.placements.isOwnFolder(tx, ctx, folder)))
      throw new ConcurrentChangeError('the folder was deleted while the note was locked');
    await this.placements.place(tx, ctx, { note: id, folder, number: before + 1, device });
  }
}

/** An edit of the usual case. */
function usualStore({ id, device, command: { patch, base } }: Edit): { id: string; edit: EditStore } {
  const { columns, content } = editOf(patch);
  const assumed = { revision: base!, roles: EDITORS };
  return { id, edit: { row: columns, content, device, event: 'note.updated', assumed } };
}
