import { emptyCard, patchCard } from '../../../src/lib/contact-card/index.js';
import { fromJson, type ImportedCard } from '../../../src/modules/contacts/phone/import-cards.js';
import {
  groupNamesakes,
  type Known,
  matchOf,
  reachKeys,
  strangersOf,
} from '../../../src/modules/contacts/phone/import-matches.js';
import type { ImportRun } from '../../../src/modules/contacts/phone/import-touched.js';
import type { ContactRow } from '../../../src/modules/contacts/responses/contact.presenter.js';

const SWITCHBOARD = [{ value: '+420 234 567 890' }];
const run = { deviceId: 'pixel' } as ImportRun;
const imported = (full_name: string, kind = 'individual'): ImportedCard =>
  fromJson(0, { full_name, kind, phones: SWITCHBOARD }, null) as ImportedCard;
const knownWith = async (rows: (ContactRow & { shared: string[] })[]): Promise<Known> => ({
  byUid: new Map(),
  byExternalId: new Map(),
  byFormerUid: new Map(),
  sent: new Map(),
  namesakes: await groupNamesakes(rows),
});

describe('contacts that share a number with the cards of an import', () => {
  let parsed = 0;
  const rowOf = (full_name: string, kind: 'individual' | 'group' = 'individual') => {
    const card = patchCard({ full_name, kind, phones: SWITCHBOARD }, emptyCard(), null);
    return {
      id: full_name,
      uid: full_name,
      get card() {
        parsed += 1;
        return JSON.stringify(card);
      },
      shared: reachKeys(card),
    } as unknown as ContactRow & { shared: string[] };
  };

  test('are parsed once for all cards', async () => {
    const rows = Array.from({ length: 300 }, (_, n) => rowOf(`Ann ${n % 100}`));
    parsed = 0;
    const known = await knownWith(rows);
    const counts = Array.from(
      { length: 100 },
      (_, n) => matchOf(imported(`ANN ${n}`), known, run).namesakes.length,
    );
    expect(new Set(counts)).toEqual(new Set([3]));
    expect(parsed).toBe(rows.length);
  });

  test('are namesakes with the same name and kind only', async () => {
    const known = await knownWith([rowOf('Ann'), rowOf('Ben'), rowOf('Cid', 'group')]);
    const found = (name: string, kind?: string) =>
      matchOf(imported(name, kind), known, run).namesakes.map(({ id }) => id);
    expect([found('Ann'), found('Ben'), found('Dan'), found('Cid'), found('Cid', 'group')]).toEqual([
      ['Ann'],
      ['Ben'],
      [],
      [],
      ['Cid'],
    ]);
  });
});

test('other work runs while cards are compared with large contacts', async () => {
  const emails = Array.from({ length: 500 }, (_, n) => ({ value: `${'a'.repeat(300)}${n}@x.example` }));
  const contact = patchCard({ full_name: 'Ann', emails }, emptyCard(), null);
  const row = { uid: 'ann', card: JSON.stringify(contact) } as ContactRow;
  const shared = { stated: 'ann', own: 'own', isFurther: false, hasSeveral: () => true };
  const cards = Array.from({ length: 100 }, (_, n) => ({
    ...imported(n === 7 ? 'Ann' : `Ben ${n}`),
    shared,
  }));
  let isDone = false;
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const strangers = await strangersOf(cards, [row]);
  isDone = true;
  expect(strangers).toHaveLength(99);
  expect(turns).toBeGreaterThan(0);
});
