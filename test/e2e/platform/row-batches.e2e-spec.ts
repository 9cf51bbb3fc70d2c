import { ResponseScan } from '../../../src/modules/forms/results/response-scan.js';
import { workspace } from '../../../src/platform/database/statement.js';
import { personalRows, PersonalRows } from '../../../src/platform/personal-data/personal-rows.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { definitionOf, ok, published } from '../../support/domains/forms.ts';

/** Exports hold one batch in memory, which ends at a number of rows and of bytes. */
describe('batches of exports', () => {
  let app: TestApp;
  let ann: TestUser;
  const BATCH_BYTES = 1024 * 1024;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  async function lengths(batches: AsyncIterable<readonly unknown[]>): Promise<number[]> {
    const all: number[] = [];
    for await (const rows of batches) all.push(rows.length);
    return all;
  }
  const personal = (rows: number, characters: number) =>
    app
      .get<PersonalRows>(PersonalRows)
      .read(
        workspace.statement<never>(
          '',
          personalRows(
            `SELECT n, repeat('x', ${characters}) AS text FROM generate_series(1, ${rows}) n WHERE $1::uuid IS NOT NULL ORDER BY n`,
          ),
        ),
        [ann.tenantId],
        lengths,
      );

  test('personal data: many small rows, and few large ones', async () => {
    expect(await personal(450, 10)).toEqual([200, 200, 50]);
    expect(await personal(5, 420_000)).toEqual([3, 2]);
    expect(await personal(3, 2 * BATCH_BYTES)).toEqual([1, 1, 1]);
    expect(await personal(0, 1)).toEqual([]);
  });

  test('responses of a form: each once, in the order of their times', async () => {
    const form = await published(
      ann,
      definitionOf([{ id: 'text', type: 'long_text', title: 'Text', required: true }]),
    );
    const { response } = ok(
      await ann.api.post(`/forms/${form.id}/submit`, { answers: { text: 'first' } }),
      201,
    );
    await app.sql(
      `INSERT INTO form_responses SELECT (jsonb_populate_record(response, jsonb_build_object('id', gen_random_uuid(),
         'client_response_id', NULL, 'submitted_at', response.submitted_at + make_interval(secs => n),
         'answers', jsonb_build_object('text', repeat(md5(n::text), CASE WHEN n > 600 THEN 20000 ELSE 1 END))))).*
         FROM form_responses response, generate_series(1, 603) n WHERE response.id = $1`,
      [response.id],
    );
    const scan = app.get<ResponseScan>(ResponseScan);
    const tenantId = ann.tenantId as string;
    expect(await scan.compute(tenantId, form.id, {}, (_, batches) => lengths(batches))).toEqual([
      500, 103, 1,
    ]);
    const times = await scan.compute(tenantId, form.id, { questions: [] }, async (_, batches) => {
      const found: number[] = [];
      for await (const rows of batches) found.push(...rows.map(({ submitted_at }) => Number(submitted_at)));
      return found;
    });
    expect(times).toHaveLength(604);
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
  });
});
