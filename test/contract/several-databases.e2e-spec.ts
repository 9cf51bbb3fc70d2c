import { existsSync } from 'node:fs';
// Commands load these when they run. Files of one worker share their modules, so that another file may have loaded them.
import '../../src/backup/create-backup.js';
import '../../src/backup/restore-backup.js';
import '../../src/backup/verify-backup.js';
import '../../src/backup/workspace/export-workspace.js';
import '../../src/backup/workspace/import-workspace.js';
import { statements } from '../../src/platform/database/statement.js';
import { TestApp } from '../support/app.ts';
import { differs } from '../support/cells/record-uses.ts';
import { ALWAYS, differences, LEFT_OUT, nameOf, readList, select } from '../support/cells/selection.ts';
import { LAZY_STATEMENTS } from '../support/database/lazy-statements.ts';

/**
 * The short runs with cells have the files that execute what takes another way where workspaces are in several databases. Each
 * test file compares what it executes with the selection at its end (`checkUses`); here the code is compared with the selection.
 */
describe('the files that run with workspaces in several databases', () => {
  const list = readList();
  const covered = new Set([...list.values()].flat().map(nameOf));
  let app: TestApp;
  /** Statements that take another way. */
  let declared: string[];

  beforeAll(async () => {
    app = await TestApp.start();
    const [ann] = await app.tenant('acme', 'ann');
    for (const path of LAZY_STATEMENTS) expect((await ann.api.get(path)).status).toBe(200);
    declared = statements()
      .filter(differs)
      .map(({ name }) => name);
  });
  afterAll(() => app?.stop());

  test('cover each statement whose reach is not the tenant', () => {
    expect(declared.length).toBeGreaterThan(90);
    expect(declared.filter((use) => !covered.has(use) && !(use in LEFT_OUT))).toEqual([]);
  });

  test('exist; nothing is left out that does not', () => {
    expect([...list.keys(), ...Object.keys(ALWAYS)].filter((file) => !existsSync(file))).toEqual([]);
    const leftOut = Object.keys(LEFT_OUT).filter((use) => !use.startsWith('cells '));
    expect(leftOut.filter((use) => !declared.includes(use))).toEqual([]);
  });

  const [first, second, third] = ['a', 'b', 'c'].map((name) => `test/e2e/${name}.e2e-spec.ts`) as [
    string,
    string,
    string,
  ];

  test('are few and short, and prefer tests in which a statement has a result', () => {
    const records = [
      { file: first, seconds: 9, uses: ['rooms.sweep', 'rooms.all*'] },
      { file: second, seconds: 2, uses: ['rooms.sweep?', 'rooms.all*', 'rooms.other?'] },
      { file: third, seconds: 3, uses: ['rooms.all*', 'tx rooms'] },
      { file: 'test/contract/shapes.e2e-spec.ts', seconds: 1, uses: ['rooms.sweep', 'tx rooms'] },
    ];
    const selected = select(records, new Map());
    expect([...selected.keys()].toSorted()).toEqual([first, second, third]);
    expect(selected.get(first)).toEqual(['rooms.sweep']);
    expect(selected.get(third)).toEqual(['tx rooms']);
    const without = select(records.slice(0, 1), new Map());
    expect(without).toEqual(new Map([[first, ['rooms.sweep', 'rooms.all*']]]));
  });

  test('a file that is missing among them is named', () => {
    const selection = new Map([[first, ['rooms.sweep', 'rooms.all*']]]);
    expect(differences(second, ['rooms.all*', 'rooms.sweep?'], selection)).toEqual([]);
    expect(differences(second, ['rooms.purge'], selection)).toEqual([
      expect.stringMatching(/no selected file covers it: rooms\.purge/),
    ]);
  });
});
