import type { WorkspaceClient } from '../client.js';
import { randomKey } from '../random-key.js';
import { runBatch } from './batch.js';
import { answered, frozen, isSendable, type Outcome } from './changes.js';
import { partsOf } from './collections.js';
import { outcomeOf, writeOf } from './requests.js';
import type { Row } from './row.js';
import type { Rows } from './rows.js';

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

/** Sends what was saved. */
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
    const tried = new Set<string>();
    for (;;) {
      const rows = await this.take(tried);
      if (rows.length === 0) return result;
      const requests = rows.map((row) => writeOf(row, this.device));
      const responses = await runBatch(this.client, 'ordered', requests, signal);
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
  private take(tried: Set<string>): Promise<Row[]> {
    return this.rows.change(async (edit) => {
      const pending = await edit.tx.pending();
      const created = new Set(pending.filter(isUncreated).map(({ id }) => id));
      const taken: Row[] = [];
      let characters = 0;
      for (const row of pending) {
        const name = `${row.feed} ${row.id}`;
        if (!isSendable(row) || tried.has(name) || waitsFor(row, created)) continue;
        characters += sizeOf(row);
        if (taken.length === MAX_REQUESTS || (taken.length > 0 && characters > MAX_CHARACTERS)) break;
        tried.add(name);
        taken.push(row.sent ? row : (await edit.replace(row, frozen(row, randomKey())))!);
      }
      return taken;
    });
  }

  private store(rows: readonly Row[], outcomes: readonly Outcome[]): Promise<void> {
    return this.rows.change(async (edit) => {
      for (const [n, { feed, id, sent }] of rows.entries())
        await edit.step(feed, id, (row, rules) =>
          row?.sent?.key === sent!.key ? answered(row, outcomes[n]!, rules) : row,
        );
    });
  }
}

/** The service does not have the object yet. */
const isUncreated = ({ sent, open }: Row): boolean =>
  open?.create === true || (sent?.change.create === true && !sent.done);

/** Whether a change names an object that the service does not have yet, such as the folder of a note. */
function waitsFor(row: Row, created: ReadonlySet<string>): boolean {
  if (created.size === 0) return false;
  const { scope } = partsOf(row.feed);
  if (scope !== undefined && created.has(scope)) return true;
  const names = (value: unknown): boolean => {
    if (typeof value === 'string') return value !== row.id && created.has(value);
    return typeof value === 'object' && value !== null && Object.values(value).some(names);
  };
  return names((row.sent?.change ?? row.open)?.fields);
}

const sizeOf = (row: Row): number => JSON.stringify((row.sent?.change ?? row.open)?.fields ?? {}).length;
