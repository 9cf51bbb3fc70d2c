import type { WorkspaceClient } from '../../client.js';
import { randomKey } from '../../random-key.js';
import { runBatch } from './batch.js';
import { answered, frozen, isSendable, type Outcome } from '../rows/changes.js';
import { eachPending } from '../rows/each-row.js';
import { idsIn, missingOf } from '../rows/order.js';
import { outcomeOf, writeOf } from './requests.js';
import type { Row } from '../rows/row.js';
import type { Rows } from '../rows/rows.js';

/** The limit of the service. */
const MAX_REQUESTS = 100;
/** Characters of the fields of a batch. The service takes 8 MiB; a single object is sent whatever its size is. */
const MAX_CHARACTERS = 2_000_000;

export interface Pushed {
  done: number;
  conflicts: number;
  /** The service may execute some requests later. */
  waits: boolean;
}

/** Where a push is in the order of changes. */
interface Position {
  /** Up to this place nothing is left to send. */
  after: number;
  /** The objects of which a request was sent. */
  tried: Set<string>;
}

/** Sends saved changes. */
export class Pusher {
  constructor(
    private readonly client: WorkspaceClient,
    private readonly rows: Rows,
    private readonly device: string,
  ) {}

  /**
   * Sends each change that can be sent, one request of each object.
   * @throws ApiError, Error if there is no response: requests keep their keys and are repeated by the next push
   */
  async push(signal: AbortSignal): Promise<Pushed> {
    const result: Pushed = { done: 0, conflicts: 0, waits: false };
    const position: Position = { after: 0, tried: new Set() };
    for (;;) {
      const rows = await this.take(position);
      if (rows.length === 0) return result;
      const requests = rows.map((row) => writeOf(row, this.device));
      const mode = rows.every(isPlainEdit) ? 'independent' : 'ordered';
      const responses = await runBatch(this.client, mode, requests, signal);
      const outcomes = rows.map((row, n): Outcome => {
        const response = responses[n];
        return response ? outcomeOf(row, response) : { kind: 'wait' };
      });
      await this.store(rows, outcomes);
      const count = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
      result.done += count('done');
      result.conflicts += count('conflict');
      result.waits ||= count('wait') > 0;
    }
  }

  /** Fixes the next requests in the store, before they are sent. */
  private take(position: Position): Promise<Row[]> {
    return this.rows.change(async (edit) => {
      const taken: Row[] = [];
      let characters = 0;
      let waits = false;
      for await (const row of eachPending(edit.tx, position.after)) {
        const name = `${row.feed} ${row.id}`;
        const isNext = isSendable(row) && !position.tried.has(name);
        const isBlocked = isNext && (await missingOf(edit.tx, row)) !== undefined;
        if (isNext && !isBlocked) {
          characters += sizeOf(row);
          if (taken.length === MAX_REQUESTS || (taken.length > 0 && characters > MAX_CHARACTERS)) break;
          position.tried.add(name);
          taken.push(row.sent ? row : (await edit.replace(row, frozen(row, randomKey())))!);
        }
        waits ||= isBlocked;
        if (!waits) position.after = row.place!;
      }
      return taken;
    });
  }

  /** After a loss of power, the requests are repeated with their keys, as after a lost response. */
  private store(rows: readonly Row[], outcomes: readonly Outcome[]): Promise<void> {
    return this.rows.receive(async (edit) => {
      for (const [n, { feed, id, sent }] of rows.entries())
        await edit.step(feed, id, (row, rules) =>
          row?.sent?.key === sent!.key ? answered(row, outcomes[n]!, rules) : row,
        );
    });
  }
}

/**
 * Whether a request only changes fields of a note, and names no other object. The service stores such edits together, in a fraction of the time,
 * where their order does not matter. All others depend on what happened before them, such as the deletion of a folder.
 */
const isPlainEdit = ({ feed, sent }: Row): boolean => {
  const { create, restore, remove, fields } = sent!.change;
  return feed === 'notes' && !create && !restore && !remove && idsIn(fields).next().done === true;
};

const sizeOf = (row: Row): number => JSON.stringify((row.sent?.change ?? row.open)?.fields ?? {}).length;
