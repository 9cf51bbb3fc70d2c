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

  const refused = (read: () => unknown) => {
    let thrown: unknown;
    try {
      read();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ kind: { status: 422, code: 'invalid_cursor' } });
  };

  test('give back the position they were made of, in characters safe in a URL', () => {
    fc.assert(
      fc.property(SCOPE, POSITION, (scope, position) => {
        const cursor = cursors.write(scope, position);
        expect(cursor).toMatch(/^[\w.-]+$/);
        expect(cursors.read(scope, cursor)).toEqual(position);
      }),
    );
  });

  test('mean nothing to another list, person or installation', () => {
    fc.assert(
      fc.property(SCOPE, SCOPE, POSITION, (scope, other, position) => {
        fc.pre(scope !== other);
        refused(() => cursors.read(other, cursors.write(scope, position)));
        refused(() => others.read(scope, cursors.write(scope, position)));
      }),
    );
  });

  test('changed anywhere, cut, or lengthened are refused', () => {
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
        refused(() => cursors.read('s', changed));
      }),
    );
  });

  test('made up are refused', () => {
    fc.assert(fc.property(fc.string(), (text) => refused(() => cursors.read('s', text))));
    for (const text of [
      '',
      '.',
      '..',
      'e30.',
      `${Buffer.from('[1]').toString('base64url')}.AAAAAAAAAAAAAAAA`,
    ])
      refused(() => cursors.read('s', text));
  });
});
