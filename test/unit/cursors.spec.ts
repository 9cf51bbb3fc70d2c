import fc from 'fast-check';
import { Cursors } from '../../src/platform/paging/cursors.js';
import { Keyring } from '../../src/platform/secrets/keyring.js';

async function keyring(material: string): Promise<Keyring> {
  const ring = new Keyring({ query: async () => [{ id: 'id', material: Buffer.from(material) }] } as never);
  await ring.onModuleInit();
  return ring;
}

const POSITION = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
    fc.integer(),
    fc.constant('2026-01-01 00:00:00.123+00'),
  ),
  { minLength: 1, maxLength: 4 },
);
const SCOPE = fc.string({ maxLength: 40 });

describe('cursors', () => {
  let cursors: Cursors;
  let others: Cursors;

  beforeAll(async () => {
    cursors = new Cursors(await keyring('one installation'));
    others = new Cursors(await keyring('another installation'));
  });

  const rejected = (read: () => unknown) => {
    let thrown: unknown;
    try {
      read();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ kind: { status: 422, code: 'invalid_cursor' } });
  };

  test('return the position that they were made of, in characters safe in a URL', () => {
    fc.assert(
      fc.property(SCOPE, POSITION, (scope, position) => {
        const cursor = cursors.write(scope, position);
        expect(cursor).toMatch(/^[\w.-]+$/);
        expect(cursors.read(scope, cursor)).toEqual(position);
      }),
    );
  });

  test('are invalid for another list, user or installation', () => {
    fc.assert(
      fc.property(SCOPE, SCOPE, POSITION, (scope, other, position) => {
        fc.pre(scope !== other);
        rejected(() => cursors.read(other, cursors.write(scope, position)));
        rejected(() => others.read(scope, cursors.write(scope, position)));
      }),
    );
  });

  test('are rejected when changed, truncated or lengthened', () => {
    const change = fc.record({
      at: fc.nat(),
      to: fc.constantFrom(...'abzAZ09-_.~!% ='),
      how: fc.constantFrom('replace', 'insert', 'cut', 'append'),
    });
    fc.assert(
      fc.property(POSITION, change, (position, { at, to, how }) => {
        const cursor = cursors.write('s', position);
        const n = at % cursor.length;
        const changed = {
          replace: cursor.slice(0, n) + to + cursor.slice(n + 1),
          insert: cursor.slice(0, n) + to + cursor.slice(n),
          cut: cursor.slice(0, n),
          append: cursor + to,
        }[how];
        fc.pre(changed !== cursor);
        rejected(() => cursors.read('s', changed));
      }),
    );
  });

  test('are rejected when invented', () => {
    fc.assert(fc.property(fc.string(), (text) => rejected(() => cursors.read('s', text))));
    for (const text of [
      '',
      '.',
      '..',
      'e30.',
      `${Buffer.from('[1]').toString('base64url')}.AAAAAAAAAAAAAAAA`,
    ])
      rejected(() => cursors.read('s', text));
  });

  test('pages of a list, put together, are the list', async () => {
    const rows = fc.uniqueArray(fc.integer(), { maxLength: 30 }).map((ids) => ids.toSorted((a, b) => a - b));
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 8 }), async (ids, limit) => {
        const list = {
          scope: 'numbers',
          key: (id: number): [number] => [id],
          rows: async (after: [number] | undefined, count: number) =>
            ids.filter((id) => after === undefined || id > after[0]).slice(0, count),
        };
        const seen: number[] = [];
        let cursor: string | undefined;
        do {
          const page = await cursors.page({ cursor, limit }, list);
          expect(page.rows.length).toBeLessThanOrEqual(limit);
          expect(page.next === null || page.rows.length === limit).toBe(true);
          seen.push(...page.rows);
          cursor = page.next ?? undefined;
        } while (cursor !== undefined);
        expect(seen).toEqual(ids);
      }),
    );
  });
});
