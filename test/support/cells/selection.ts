import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What a test file has executed that takes another way with cells (`recordUses`). */
export interface FileRecord {
  file: string;
  seconds: number;
  uses: readonly string[];
}

interface Candidate {
  file: string;
  seconds: number;
  uses: ReadonlySet<string>;
}

/** The selected files with what they cover. */
export type Selection = ReadonlyMap<string, readonly string[]>;

/** The root of the project. */
export const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
/** A line for each selected file: its path, and what it covers (`recordUses`). */
export const LIST = path.join(import.meta.dirname, 'selected-files.tsv');

/** Mark of a statement that has returned no row, or only zeros. */
export const EMPTY = '?';

/** Files that the short runs with cells have in any case, with the reason. */
export const ALWAYS: Record<string, string> = {
  'test/contract/tenancy.e2e-spec.ts':
    'no workspace reads or changes data of another one, in the same cell or in another',
  'test/contract/fuzz/seed-1.e2e-spec.ts': 'random requests to all operations',
  'test/sync/fuzz.e2e-spec.ts': 'random changes of several users, which their devices follow',
};

/** What no test has to execute, or what happens by chance in any test, with the reason. */
export const LEFT_OUT: Record<string, string> = {
  'jobs.last_runs': 'read for the metrics: test/e2e/cells reads them with cells',
  'outbox.state': 'the same',
  'system_mails.queue': 'the same',
  'blobs.kept': 'read by `workspace backup`: test/e2e/backup runs it with cells',
  'cells.prepared': 'test/e2e/cells finishes commits in several databases',
  'replicas.identity': 'of the database `main`, whose replicas the other cells do not have',
  'replicas.position': 'the same',
  'replicas.check': 'the same',
  'jobs.failed': 'written in the cell of a job, like `jobs.succeeded`',
  'push.claim': 'by a timer, in any test',
  'webhooks.claim': 'by a timer, in any test',
  'webhooks.renew': 'only after 20 s of a delivery',
  'webhooks.outdated_secrets': 'a job, only with another first key',
  'outbox.postpone': 'only if a handler fails, like `outbox.forget`',
  'outbox.renew': 'only after 20 s of a delivery',
  'outbox.release': 'only if the application stops during a delivery',
  'cells calls/events/call-fanout#deliverMissed':
    'by a timer, in any test that takes 30 s; test/e2e/cells runs it',
  'cells chat/messages/room-fanout#compare': 'the same',
  'cells presence/devices/presence-devices#sweepAll': 'by a timer; test/e2e/cells runs it',
};

/** The suites that run with cells: the pattern of the complete runs. */
const CANDIDATES = /^test\/(?:concurrency|e2e)\/.*\.e2e-spec\.ts$/;

/** Suites about one database, or that add their cells themselves. */
export const WITHOUT_CELLS = [
  // They add their cells themselves.
  'test/e2e/(backup|cells)/',
  // Tables, statements and connections of one database.
  'test/contract/(schema|sql-homes|several-databases)',
  'test/e2e/cli/',
  'test/e2e/platform/(audit|blobs|database|events|fair-shares|idempotency|metrics|process|read-pipelines|upgrade)',
];

/**
 * Whether a file may be selected for what it executes. Suites of test/contract execute most statements and compare the shapes
 * of responses only.
 */
export const isCandidate = (file: string): boolean =>
  CANDIDATES.test(file) && !WITHOUT_CELLS.some((pattern) => new RegExp(pattern).test(file));

/** @returns the selected files with what they cover */
export function readList(): Map<string, string[]> {
  if (!existsSync(LIST)) return new Map();
  const lines = readFileSync(LIST, 'utf8').split('\n');
  return new Map(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split('\t') as [string, string])
      .map(([file, uses]) => [file, uses.split(', ')]),
  );
}

/** @param list the selected files with what they cover */
export function formatList(list: Selection): string {
  const head = [
    '# The files that run with workspaces in several databases: npm run test:cells:selected, test:cell-schemas:selected.',
    '# Written by `npm run test:record`. Each line: a file, and what takes another way there and is covered by this file:',
    '# statements (* in several databases, ? without a result), transactions of several databases (tx), code that divides its',
    '# work by cells (cells).',
  ];
  const lines = [...list]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, uses]) => `${file}\t${uses.toSorted().join(', ')}`);
  return `${[...head, ...lines].join('\n')}\n`;
}

/** The name of a use without marks. */
export const nameOf = (use: string): string => use.replace(/\*?\??$/, '');

/** Whether a file that has executed `uses` covers this one. */
const covers = (uses: ReadonlySet<string>, use: string): boolean =>
  uses.has(use) || (use.endsWith(EMPTY) && uses.has(use.slice(0, -1)));

/** What takes part in the selection: no work of tests, nothing that {@link LEFT_OUT} names. */
const counts = (use: string): boolean => !use.startsWith('tx test/') && !(nameOf(use) in LEFT_OUT);

/** Ways of a statement, those that show most first: in several databases, in one of them, then without a result. */
const WAYS = ['*', '', '*?', '?'];

/** @param uses of all files @returns of each statement its way that shows most, and all other uses */
function needed(uses: readonly string[]): Set<string> {
  const best = new Map<string, string>();
  const rank = (use: string) => WAYS.indexOf(use.slice(nameOf(use).length));
  for (const use of uses.filter(counts)) {
    const known = best.get(nameOf(use));
    if (known === undefined || rank(use) < rank(known)) best.set(nameOf(use), use);
  }
  return new Set(best.values());
}

/**
 * Selects files that cover together everything that any file has executed: always the one that covers most for its duration.
 * @param records of the files that ran
 * @param list the selection before; its lines of other files stay
 * @returns the new selection
 */
export function select(records: readonly FileRecord[], list: Selection): Map<string, string[]> {
  const ran = new Set(records.map(({ file }) => file));
  const selected = new Map(
    [...list]
      .filter(([file]) => !ran.has(file) && existsSync(path.join(ROOT, file)))
      .map(([file, uses]) => [file, [...uses]]),
  );
  const covered = new Set([...selected.values()].flat());
  const candidates = records
    .filter(({ file }) => isCandidate(file))
    .map(({ file, seconds, uses }) => ({ file, seconds, uses: new Set(uses) }));
  const missing = new Set(
    [...needed(candidates.flatMap(({ uses }) => [...uses]))].filter((use) => !covers(covered, use)),
  );
  while (missing.size > 0) {
    const offers = candidates.map(({ file, seconds, uses }) => {
      const own = [...missing].filter((use) => covers(uses, use));
      return { file, own, value: own.length / Math.max(seconds, 1) };
    });
    const { file, own } = offers.reduce((best, offer) => (offer.value > best.value ? offer : best));
    selected.set(file, own);
    for (const use of own) missing.delete(use);
  }
  return withoutRedundant(selected, candidates);
}

/** Removes files whose uses other selected files have too, the longest first; each use stays with one file. */
function withoutRedundant(
  selected: Map<string, string[]>,
  candidates: readonly Candidate[],
): Map<string, string[]> {
  const ran = candidates.filter(({ file }) => selected.has(file)).toSorted((a, b) => b.seconds - a.seconds);
  for (const { file } of ran) {
    const others = ran.filter((each) => each.file !== file && selected.has(each.file));
    const heirs = (selected.get(file) as string[]).map((use) => ({
      use,
      heir: others.find(({ uses }) => covers(uses, use))?.file,
    }));
    if (heirs.some(({ heir }) => heir === undefined)) continue;
    for (const { use, heir } of heirs) selected.get(heir as string)?.push(use);
    selected.delete(file);
  }
  return selected;
}

/**
 * Names what a file has executed with one database that takes another way with several, and that no selected file covers. A file may
 * stop executing a use that it is selected for: timers decide about some uses, so only `npm run test:record` compares these.
 * @returns sentences; none: the selection is right
 */
export function differences(
  file: string,
  executed: readonly string[],
  list: Selection = readList(),
): string[] {
  const known = new Set([...list.values()].flat().map(nameOf));
  const added = isCandidate(file) ? executed.filter((use) => counts(use) && !known.has(nameOf(use))) : [];
  return added.length === 0
    ? []
    : [
        `It takes another way where workspaces are in several databases, and no selected file covers it: ${added.join(', ')}.`,
      ];
}
