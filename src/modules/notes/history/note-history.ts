import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { ItemFailures } from '../../../platform/jobs/sweep.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { packBodies } from './revision-pack.js';
import type { DueNoteHistory, NoteRevision } from '../notes.schema.js';

/** Number of newest bodies of a note that are not packed, because most reads of the history need them. */
const KEPT = 20;
/** Minimum number of bodies in a pack, unless they are large. */
const MIN_BODIES = 10;
const MAX_BODIES = 50;
/** Bytes of the bodies of a pack before compression: reading a revision decompresses its whole pack. */
const MAX_BYTES = 1_000_000;
/** Notes of one run. The limit lets other jobs run in between. */
const BATCH = 100;

interface OldBody {
  revision: number;
  content: string;
  /** Bytes of this body and of the older ones in the result. */
  total_bytes: number;
}

const due = workspace.statement<DueNoteHistory>(
  'note_history.due',
  'SELECT tenant_id, note_id FROM note_history_due ORDER BY tenant_id, note_id LIMIT $1',
  { reach: 'cell' },
);

const bodiesOf = workspace.statement<OldBody>(
  'note_history.bodies',
  `SELECT revision, content, total_bytes::float8 FROM (
     SELECT revision, content, sum(bytes) OVER (ORDER BY revision) AS total_bytes, row_number() OVER (ORDER BY revision) AS place
       FROM (
         SELECT revision, content, bytes FROM note_revisions
          WHERE tenant_id = $1 AND note_id = $2 AND content IS NOT NULL
          ORDER BY revision DESC OFFSET $3) old) numbered
    WHERE place <= $4 AND (total_bytes <= $5 OR place <= 2)
    ORDER BY revision`,
);

// Blocks a purge, which also locks the note before its revisions. No row: the note has been purged.
const lockNote = workspace.statement<DueNoteHistory>(
  'note_history.lock',
  'SELECT tenant_id, id AS note_id FROM notes WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE',
);

const clear = workspace.statement<Pick<NoteRevision, 'revision'>>(
  'note_history.clear',
  `UPDATE note_revisions SET content = NULL, enc = 1
    WHERE tenant_id = $1 AND note_id = $2 AND revision = ANY($3) AND content IS NOT NULL RETURNING revision`,
);

const insert = workspace.statement(
  'note_history.insert',
  `INSERT INTO note_revision_packs (tenant_id, note_id, first_revision, revisions, bodies)
   VALUES ($1, $2, $3, $4, $5)`,
);

const finish = workspace.statement(
  'note_history.finish',
  'DELETE FROM note_history_due WHERE tenant_id = $1 AND note_id = $2',
);

/** Another process packed the same bodies. */
class AlreadyPackedError extends Error {}

/**
 * Packs old bodies of notes with a long history, so that autosaved notes do not fill the database (adr/0050). Each hundredth
 * revision of a note puts it into `note_history_due`.
 */
@Injectable()
export class NoteHistory implements OnModuleInit {
  private readonly logger = new Logger(NoteHistory.name);

  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'pack-note-history',
      everySeconds: 120,
      run: () => this.packDue(),
    });
  }

  /** @returns the number of bodies that were packed @throws Error after the last note, when one failed */
  async packDue(): Promise<number> {
    let total = 0;
    const failures = new ItemFailures(this.logger, 'the history of a note');
    for (const note of await this.db.query(due, [BATCH]))
      await failures.guard(note, async () => {
        total += await this.packNote(note);
      });
    failures.report();
    return total;
  }

  private async packNote(note: DueNoteHistory): Promise<number> {
    for (let total = 0; ;) {
      const bodies = await this.db.query(bodiesOf, [
        note.tenant_id,
        note.note_id,
        KEPT,
        MAX_BODIES,
        MAX_BYTES,
      ]);
      // Fewer bodies fill a pack when they are large.
      const isFull = bodies.length > 1 && bodies.at(-1)!.total_bytes > MAX_BYTES / 2;
      if (bodies.length < MIN_BODIES && !isFull) {
        await this.db.query(finish, [note.tenant_id, note.note_id]);
        return total;
      }
      if (!(await this.store(note, bodies))) return total;
      total += bodies.length;
    }
  }

  /** @returns whether the bodies were stored; false where the note was purged, or another process packed them */
  private async store({ tenant_id, note_id }: DueNoteHistory, bodies: readonly OldBody[]): Promise<boolean> {
    const pack = await packBodies(bodies.map(({ content }) => content));
    const revisions = bodies.map(({ revision }) => revision);
    try {
      return await this.db.tx(async (tx) => {
        const [locked] = await tx.query(lockNote, [tenant_id, note_id]);
        if (!locked) return false;
        const cleared = await tx.query(clear, [tenant_id, note_id, revisions]);
        if (cleared.length !== revisions.length) throw new AlreadyPackedError();
        await tx.query(insert, [tenant_id, note_id, revisions[0], revisions, pack]);
        return true;
      });
    } catch (error) {
      if (error instanceof AlreadyPackedError) return false;
      throw error;
    }
  }
}
