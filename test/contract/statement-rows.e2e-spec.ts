import { globSync } from 'node:fs';
import pg from 'pg';
import { MAIL_SCHEMA } from '../../src/mail-service/mail-service.schema.js';
import { type Statement, statements } from '../../src/platform/database/statement.js';
import { TestApp } from '../support/app.ts';
import { type DeclaredRow, declaredRows } from '../support/database/declared-rows.ts';
import { type DescribedColumn, DescribedRows } from '../support/database/described-rows.ts';
import { LAZY_STATEMENTS } from '../support/database/lazy-statements.ts';
import { TestMailService } from '../support/mail/mail-service.ts';

/** Columns of tables that may be null, and never are in the rows of a statement, with the reason. */
const NEVER_NULL: Record<string, string> = {
  'system_mails.read sealed': 'queued mails have their values',
  'presence.connected session_id': 'compared with a list',
  'scheduling.claim method': 'queued messages are composed ones',
  'scheduling.claim ics': 'the same',
  'scheduling.claim mail': 'the same',
  'contacts.member_photos user_id': 'compared with a list',
  'form_uploads.insert expires_at': 'the inserted value',
  'notes.content content': 'only bodies of earlier versions are packed',
  'notes.count_folders id': 'compared with a list',
  'notes.lock_due actor_id': 'set with the time at which a note is purged',
  'personal_exports.expire blob_id': 'only finished exports expire',
};

/** Differences between the columns of a statement and its declared row. */
function differences(
  { name: statement, longTextsAsBytes, text }: Statement<unknown>,
  described: readonly DescribedColumn[],
  declared: NonNullable<DeclaredRow>,
): string[] {
  const names = new Set(described.map(({ name }) => name));
  const missing = [...declared].filter(([name, { kinds }]) => !names.has(name) && !kinds.has('undefined'));
  return [
    ...missing.map(([name]) => `${name} is declared, and no column`),
    ...described.flatMap(({ name, kind, type, isNotNull }) => {
      const column = declared.get(name);
      if (!column) return [`${name} (${type}) is not declared`];
      const { kinds, isNullable } = column;
      const isKind =
        kind === 'any' || kinds.has('any') || kinds.has(kind) || (longTextsAsBytes && kinds.has('Buffer'));
      const found = isKind ? [] : [`${name} (${type}) is declared as ${[...kinds].join(' | ')}`];
      if (
        isNotNull === false &&
        !isNullable &&
        !text.includes(`${name} IS NOT NULL`) &&
        !NEVER_NULL[`${statement} ${name}`]
      )
        found.push(`${name} may be null, and its declaration excludes it`);
      if (isNotNull === true && isNullable && !kinds.has('any') && !/\b(?:LEFT|RIGHT|FULL)\b/.test(text))
        found.push(`${name} is never null, and is declared as nullable`);
      return found;
    }),
  ];
}

describe('the rows of statements', () => {
  let app: TestApp;
  let mail: TestMailService;
  let client: pg.Client;
  let declared: Map<string, DeclaredRow>;

  beforeAll(async () => {
    // Before the application starts: the compiler holds the event loop for seconds.
    declared = declaredRows(globSync('src/**/*.ts').toSorted());
    app = await TestApp.start();
    mail = await TestMailService.start({}, app.databaseUrl);
    const [ann] = await app.tenant('acme', 'ann');
    for (const path of LAZY_STATEMENTS) expect((await ann.api.get(path)).status).toBe(200);
    client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await mail?.stop();
    await app?.stop();
  });

  test('of an array of an enumeration are its text, as the driver has no parser for it', async () => {
    await client.query('SET search_path = public');
    const described = await DescribedRows.of(client);
    const columns = await described.columns(
      `SELECT '{editor}'::task_role[] AS roles, '{a}'::text[] AS texts`,
    );
    expect(columns.map(({ kind }) => kind)).toEqual(['string', 'array']);
    const { rows } = await client.query(`SELECT '{editor}'::task_role[] AS roles, '{a}'::text[] AS texts`);
    expect(rows).toEqual([{ roles: '{editor}', texts: ['a'] }]);
  });

  test('have the columns, types and nulls that the statement declares', async () => {
    const found: string[] = [];
    let compared = 0;
    for (const [schema, isMail] of [
      ['public', false],
      [MAIL_SCHEMA, true],
    ] as const) {
      await client.query(`SET search_path = ${schema}`);
      const described = await DescribedRows.of(client);
      for (const statement of statements()) {
        const row = declared.get(statement.name);
        if (!row || (statement.home === 'mail_service') !== isMail) continue;
        compared += 1;
        const columns = await described.columns(statement.text);
        found.push(...differences(statement, columns, row).map((text) => `${statement.name}: ${text}`));
      }
    }
    expect(found).toEqual([]);
    expect(compared).toBeGreaterThan(600);
  });
});
