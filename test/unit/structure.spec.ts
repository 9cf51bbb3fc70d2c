import { existsSync, globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

/** A file directly in `src` or `mail-service`, a folder of `src`, or a folder of `lib`, `mail-service`, `modules` or `platform`. */
function unitOf(file: string): string {
  const [, top = '', ...rest] = file.split('/');
  const hasUnits =
    top === 'mail-service' || (['lib', 'modules', 'platform'].includes(top) && rest.length > 1);
  return hasUnits ? `${top}/${rest[0]}` : top;
}

/** Units that each unit imports, types included. */
function importsOfUnits(): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const file of globSync('src/**/*.ts'))
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) [^;]*?from '(\.[^']+)'/gm,
    )) {
      const [from, to] = [unitOf(file), unitOf(join(dirname(file), path.replace(/\.js$/, '.ts')))];
      if (from !== to) imports.set(from, (imports.get(from) ?? new Set()).add(to));
    }
  return imports;
}

/** Imports of scripts of the tests from the build that the sources do not have, as `script: module name`. */
function missingImports(): { checked: number; missing: string[] } {
  const missing: string[] = [];
  let checked = 0;
  for (const script of globSync('test/**/*.mjs'))
    for (const [, names = '', module = ''] of readFileSync(script, 'utf8').matchAll(
      /import \{([^}]+)\} from '[./]+\/dist\/([^']+)\.js'/g,
    )) {
      const source = `src/${module}.ts`;
      const text = existsSync(source) ? readFileSync(source, 'utf8') : '';
      for (const name of names.split(',').flatMap((part) => part.trim().split(' as ')[0] || [])) {
        checked += 1;
        const declared = new RegExp(`^export (?:(?!from)[^;])*?\\b${name}\\b`, 'm');
        if (!declared.test(text)) missing.push(`${script}: ${module} ${name}`);
      }
    }
  return { checked, missing };
}

/** The TypeScript files of the tests that Node runs without a build: scripts of `package.json`, and what they or a `.mjs` file import. */
function filesOfScripts(): string[] {
  const scripts = readFileSync('package.json', 'utf8').matchAll(/\bnode (test\/\S+\.ts)/g);
  // All of them: a script may start another one by its path.
  const files = new Set([...[...scripts].map(([, file = '']) => file), ...globSync('test/**/*.mjs')]);
  for (const file of files)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (?!type )(?:[^;]*?from )?'(\.[^']+\.ts)'/gm,
    ))
      files.add(join(dirname(file), path));
  return [...files].filter((file) => file.endsWith('.ts'));
}

/** Why Node cannot run a file by removing its types; null when it can. */
function unstrippable(file: string): string | null {
  try {
    stripTypeScriptTypes(readFileSync(file, 'utf8'));
    return null;
  } catch (error) {
    return `${file}: ${(error as Error).message}`;
  }
}

/** Paths that lead back to their first unit. */
function loopsIn(imports: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const loops: string[] = [];
  const finished = new Set<string>();
  const visit = (unit: string, path: readonly string[]): void => {
    if (path.includes(unit)) loops.push([...path.slice(path.indexOf(unit)), unit].join(' -> '));
    if (path.includes(unit) || finished.has(unit)) return;
    for (const next of imports.get(unit) ?? []) visit(next, [...path, unit]);
    finished.add(unit);
  };
  for (const unit of imports.keys()) visit(unit, []);
  return loops;
}

/** Words that are no verb and no noun: as the whole name of a function they do not say what it does. */
const NO_NAMES: ReadonlySet<string> = new Set(
  `accepted active added admitted after again aligned all among any applied around arrived as assigned at background begun behind
   below bounded busy by canonical captioned changeable changed checked chosen closed collected comparable composed compressed
   concerned concerning connected containing continued copied counted crashed created current daily decompressed deleted derived
   differing direct disconnected distinct done draining due during each editable edited effective encoded ended enrolled erased
   every excluded exclusively existing expanded expired extended failed failing filled findable finished fitting followed following
   for forbidden forwarded found frozen full further global growing grown guarded hydrated importable imported inactive indexed
   invalid invited joinable joined kept known last lasting later least left limited linkable linked listed live loaded locked
   logged longest lost manageable matching measured mentioned merged missing moved named naming nearest new no normal not once one
   opened orphan other outside overridden own owned parsed patched pending placed plain polled pooled preferred prepared published
   purged queued raw reachable reaching readable ready received recent related relayed remaining remembered removed removing
   repeated replaced requested required resolved restored retried retrying returned revived revoked ringing safe same saved sealed
   selected sent serving settable settled shared shifted short shown signalled signed since single smallest some sorted sparse
   special stale still storable stored storing submitted suppressed taken through timed together too traced tracked translated
   triggered typing unacknowledged unavailable unchanged undivided unencoded unknown unreachable unread unreadable unsupported
   until untouched unusable unwanted unwritten updated uploaded usable used validated viewable visible waiting wanted weak where
   whole withdrawable withdrawn within without wrapped writable written`.split(/\s+/),
);

/** Functions that keep such a name: the readers and replies that every domain uses. */
const SHARED_NAMES: readonly string[] = [
  'src/platform/database/db.ts: single',
  'src/platform/database/db.ts: within',
  'src/platform/database/replicas/replicas.ts: current',
  'src/platform/database/rows.ts: all',
  'src/platform/database/rows.ts: one',
  'src/platform/http/input.pipe.ts: validated',
  'src/platform/http/json-reply.ts: named',
  'src/platform/resources/resource.ts: created',
  'src/platform/resources/resource.ts: deleted',
];

/** Those that nobody has renamed yet. None is added. */
const FORMER_NAMES: readonly string[] = [
  'src/lib/forms/summaries.ts: all',
  'src/lib/vcard/companions.ts: all',
  'src/lib/vcard/companions.ts: preferred',
  'src/lib/vcard/values.ts: distinct',
  'src/modules/calendar/events/resources/resource-changes.ts: revived',
  'src/modules/calendar/events/resources/single-event.ts: checked',
  'src/modules/calendar/model/event-series.ts: overridden',
  'src/modules/calendar/model/vevent-time-parts.ts: checked',
  'src/modules/calendar/model/vevent-time-parts.ts: invalid',
  'src/modules/calendar/model/vevent-time-parts.ts: lasting',
  'src/modules/calendar/model/vevent-time-parts.ts: stored',
  'src/modules/dav/collections/addressbooks.ts: settable',
  'src/modules/dav/collections/calendar-home.ts: settable',
  'src/modules/dav/collections/calendars.ts: settable',
  'src/modules/dav/collections/task-lists.ts: settable',
  'src/modules/dav/methods/principals.ts: all',
  'src/modules/dav/methods/propfind.ts: single',
  'src/modules/dav/methods/propfind.ts: wanted',
  'src/modules/dav/methods/reports.ts: unsupported',
  'src/modules/dav/model/body.ts: forbidden',
  'src/modules/tasks/model/todo-values.ts: readable',
  'src/modules/tasks/resources/task-resources.repository.ts: known',
  'src/modules/tasks/resources/task-resources.repository.ts: opened',
  'src/modules/tasks/resources/task-resources.ts: known',
];

const KEPT_NAMES: ReadonlySet<string> = new Set([...SHARED_NAMES, ...FORMER_NAMES]);

/** Exported functions, and methods that other classes may call, as `file: name`. */
const functionsIn = (file: string): string[] =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /^export (?:async )?function\*? (\w+)|^export const (\w+)[^=\n]*=\s*(?:async )?(?:<[^\n]*?>)?\([^()]*\)[^=\n]*=>|^ {2}(?:static |async |override |abstract |\*)*(\w+)(?:<[^(\n]*>)?\((?:[^()]|\([^()]*\))*\)(?:: [^;{]+)? \{|^ {2}abstract (\w+)\(/gm,
    ),
  ].map((names) => `${file}: ${names.slice(1).find(Boolean)}`);

describe('the structure of src', () => {
  test('has functions whose names say what they do', () => {
    const functions = globSync('src/**/*.ts').flatMap(functionsIn);
    expect(functions.length).toBeGreaterThan(3_000);
    const nameless = functions.filter((name) => NO_NAMES.has(name.split(': ')[1] as string));
    expect(nameless.filter((name) => !KEPT_NAMES.has(name))).toEqual([]);
    expect([...KEPT_NAMES].filter((name) => !nameless.includes(name))).toEqual([]);
  });

  test('aliases in SQL are words', () => {
    const files = globSync('src/**/*.{sql,ts}').filter((file) => !file.includes('/migrations/'));
    const short = files.flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(/\b(?:FROM|JOIN|UPDATE|INTO)\s+[a-z_]+\s+(?:AS\s+)?[a-z]\b/g),
      ].map(([text]) => `${file}: ${text}`),
    );
    expect(short).toEqual([]);
  });

  test('has no import loops between modules, libraries and folders of the platform and the mail service', () => {
    const imports = importsOfUnits();
    expect(imports.size).toBeGreaterThan(30);
    expect(loopsIn(imports)).toEqual([]);
  });

  // OpenAPI identifies schemas by the names of their classes: of two with one name it documents one for both.
  test('has payload classes of different names', () => {
    const names = globSync('src/{modules,platform}/**/*.{dto,response}.ts').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^(?:export )?class (\w+)/gm)].map(([, name = '']) => name),
    );
    expect(names.length).toBeGreaterThan(300);
    expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
  });

  test('makes responses of JSON texts in presenters only', () => {
    const files = globSync('src/modules/**/*.ts').filter(
      // The module of mail forwards texts of the mail service.
      (file) => !/\.presenter\.ts$|mail\/mail-client\.ts$/.test(file),
    );
    const texts = files.flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /JsonReply\.(?:ofTexts?|named|namedList)\b|Reply\w*\(\s*`\{.*/g,
        ),
      ].map(([text]) => `${file}: ${text}`),
    );
    expect(texts).toEqual([]);
  });

  // Benches and browser suites are no part of the type check; a moved class would break them without notice.
  test('has every module and name that scripts of the tests import from the build', () => {
    const { checked, missing } = missingImports();
    expect(checked).toBeGreaterThan(50);
    expect(missing).toEqual([]);
  });

  test('has scripts of the tests that Node runs without a build', () => {
    const files = filesOfScripts();
    expect(files).toContain('test/support/dav/dav-client.ts');
    // test/browser/run.mjs starts main.mjs, which imports push.mjs, which imports it.
    expect(files).toContain('test/support/network/push-service.ts');
    expect(files.flatMap((file) => unstrippable(file) ?? [])).toEqual([]);
  });

  test('loops are found', () => {
    const imports = new Map([
      ['a', new Set(['b'])],
      ['b', new Set(['c'])],
      ['c', new Set(['b'])],
    ]);
    expect(loopsIn(imports)).toEqual(['b -> c -> b']);
  });
});
