import { randomUUID } from 'node:crypto';
import { Db } from '../../../src/platform/database/db.js';
import { directory, workspace } from '../../../src/platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../../src/platform/personal-data/personal-data.js';
import { PersonalRows, personalRows } from '../../../src/platform/personal-data/personal-rows.js';
import { TestApp } from '../../support/app.ts';
import { withTimeouts } from '../../support/database/timeouts.ts';

/** Takes longer than the application waits for the statements of requests. */
const SLOW = `SELECT pg_sleep(2.5)::text AS slept WHERE $1::uuid <> $2::uuid`;

class SlowSource extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'slow',
      erasure: {
        rows: [workspace.statement('test.erase_slowly', SLOW)],
        directoryRows: [directory.statement('test.erase_slowly_in_directory', SLOW)],
      },
    });
  }
}

describe.each([
  ['one database', ''],
  ['several databases', 'databases'],
])('the data of years, in %s', (_, cells) => {
  let app: TestApp;

  beforeAll(async () => {
    app = await withTimeouts({ response: 2_000 }, () => TestApp.start({ TEST_CELLS: cells }));
  });
  afterAll(() => app?.stop());

  test('are erased by statements that take longer than those of requests', async () => {
    const member = { tenantId: randomUUID(), userId: randomUUID(), email: 'a@b.example' };
    await new SlowSource(app.get(PersonalData)).erase(member, app.get(Db));
  });

  test('are exported by them', async () => {
    const statement = workspace.statement<never>('test.export_slowly', personalRows(SLOW));
    const rows: string[] = [];
    await app.get(PersonalRows).read(statement, [randomUUID(), randomUUID()], async (batches) => {
      for await (const batch of batches) rows.push(...batch);
    });
    expect(rows).toEqual(['{"slept": ""}']);
  });
});
