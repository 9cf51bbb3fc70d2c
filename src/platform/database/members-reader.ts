import { Home, type Statement } from './statement.js';
import type { Reader } from './tx.js';

/** A call of a statement whose parameters are a workspace, a member, and a list: an array of ids, or JSON. */
interface Call {
  values: readonly [string, string, string | readonly string[]];
  resolve: (rows: unknown[]) => void;
  reject: (error: unknown) => void;
}

/**
 * A reader for a short computation that is done for several members of a workspace at the same time. Calls of one statement for different
 * members are one statement; the same call is made once. The rows are shared, so the caller does not change them.
 */
export class MembersReader implements Reader {
  private readonly results = new Map<string, Promise<unknown[]>>();
  private readonly waiting = new Map<Statement<unknown>, Call[]>();

  constructor(private readonly reader: Reader) {}

  get dataSource(): Reader['dataSource'] {
    return this.reader.dataSource;
  }

  managerOf(tenantId: string | null): ReturnType<Reader['managerOf']> {
    return this.reader.managerOf(tenantId);
  }

  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const key = JSON.stringify([statement.text, values]);
    const known = this.results.get(key);
    if (known) return known as Promise<Row[]>;
    const rows =
      statement.reach === 'tenant' && values.length === 3
        ? (this.together(statement, values as unknown as Call['values']) as Promise<Row[]>)
        : this.reader.query(statement, values);
    this.results.set(key, rows);
    return rows;
  }

  private together(statement: Statement<unknown>, values: Call['values']): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      const calls = this.waiting.get(statement) ?? [];
      if (calls.push({ values, resolve, reject }) > 1) return;
      this.waiting.set(statement, calls);
      setImmediate(() => {
        this.waiting.delete(statement);
        this.run(statement, calls).catch((error: unknown) => calls.forEach((call) => call.reject(error)));
      });
    });
  }

  private async run(statement: Statement<unknown>, calls: readonly Call[]): Promise<void> {
    const [{ values, resolve }] = calls as [Call];
    if (calls.length === 1) return resolve(await this.reader.query(statement, values));
    const [tenantId, , list] = values;
    const given = calls.map((call, place) => ({
      place,
      user_id: call.values[1],
      list: Array.isArray(call.values[2]) ? JSON.stringify(call.values[2]) : call.values[2],
    }));
    const rows = await this.reader.query(ofMembers(statement, Array.isArray(list)), [
      tenantId,
      JSON.stringify(given),
    ]);
    const byPlace = Map.groupBy(rows, ({ member_place }) => member_place);
    for (const [place, call] of calls.entries()) call.resolve(byPlace.get(place) ?? []);
  }
}

/** The statement for several members: JSON `[{place, user_id, list}]` in place of the member and the list. */
function ofMembers(
  { name, text, home }: Statement<unknown>,
  isOfIds: boolean,
): Statement<{ member_place: number }> {
  const list = isOfIds
    ? 'ARRAY(SELECT jsonb_array_elements_text(of_member.list::jsonb)::uuid)'
    : 'of_member.list::jsonb';
  const inner = text.replaceAll(/\$3(?:::(?:uuid\[\]|jsonb))?/g, list).replaceAll('$2', 'of_member.user_id');
  return new Home(home).statement(
    `${name}.of_members`,
    `SELECT of_member.place AS member_place, found.*
       FROM jsonb_to_recordset($2) AS of_member (place int, user_id uuid, list text) CROSS JOIN LATERAL (${inner}) found`,
  );
}
