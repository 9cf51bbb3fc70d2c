import fc from 'fast-check';
import { unzipSync } from 'fflate';
import { SaxesParser } from 'saxes';
import { hasVisibleCharacter } from '../../../src/lib/text/index.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { definitionOf, ok, option, published } from '../../support/domains/forms.ts';
import { runs } from '../../support/property-runs.ts';

/** The place of a cell in its row, from 0, by its reference, such as `AB7`. */
const columnOf = (reference: string): number =>
  [...reference.replace(/\d+$/, '')].reduce((n, letter) => n * 26 + letter.charCodeAt(0) - 64, 0) - 1;

/** Rows of a sheet as an independent XML parser reads them: text, numbers; null for empty cells. */
function sheetOf(bytes: Buffer, n = 1): (string | number | null)[][] {
  const xml = Buffer.from(unzipSync(bytes)[`xl/worksheets/sheet${n}.xml`]!).toString();
  const rows: (string | number | null)[][] = [];
  let text = '';
  let type: string | undefined;
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'f') throw new Error('a formula');
    if (name === 'row') rows.push([]);
    if (name !== 'c') return;
    [type, text] = [attributes['t'], ''];
    const row = rows.at(-1)!;
    while (row.length < columnOf(attributes['r']!)) row.push(null);
  });
  parser.on('text', (part) => (text += part));
  parser.on('closetag', ({ name }) => {
    if (name !== 'c') return;
    const plain = text.replaceAll(/_x([\dA-F]{4})_/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    rows.at(-1)!.push(type === 'inlineStr' ? plain : text === '' ? null : Number(text));
  });
  parser.write(xml).close();
  const [header = []] = rows;
  return rows.map((row) => header.map((_, column) => row[column] ?? null));
}

/** Records of a CSV file (RFC 4180). */
function recordsOf(csv: string): string[][] {
  const records: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    records.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === '\r\n') records.push([]);
    if (end === '') break;
  }
  return records.slice(0, -1);
}

describe('exports, analytics and search', () => {
  let app: TestApp;
  let owner: TestUser;
  let ann: TestUser;
  let ben: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [, owner, ann, ben] = (await app.tenant('acme', 'root', 'olga', 'ann', 'ben')) as any;
  });
  afterAll(() => app?.stop());

  const submit = async (form: any, answers: object, more: object = {}) =>
    ok(await owner.api.post(`/forms/${form.id}/submit`, { answers, ...more }), 201);
  const bytes = async (url: string): Promise<Buffer> => {
    const response = await fetch(`${app.base}/apis/v1${url}`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };
  const csv = async (form: any, query = '') =>
    recordsOf((await bytes(`/forms/${form.id}/export.csv?${query}`)).toString('utf8').replace(/^\ufeff/, ''));
  const xlsx = async (form: any, query = '') =>
    sheetOf(await bytes(`/forms/${form.id}/export.xlsx?${query}`));

  const QUESTIONS = [
    { id: 't', type: 'long_text', title: '=cmd()' },
    { id: 'n', type: 'number', title: 'N' },
    { id: 'd', type: 'date', title: 'D' },
    { id: 'h', type: 'time', title: 'H' },
    { id: 'c', type: 'consent', title: 'C' },
    {
      id: 'm',
      type: 'matrix',
      title: 'M',
      rows: [option('r1'), option('r2')],
      options: [option('x'), option('y')],
    },
    { id: 'r', type: 'ranking', title: 'R', options: [option('x'), option('y')] },
    { id: 'o', type: 'multiple_choice', title: 'O', options: [option('x', 'A, b'), option('y')] },
    { id: 'p', type: 'date_range', title: 'P' },
    { id: 'f', type: 'phone', title: 'F' },
  ];

  test('CSV and XLSX have a column for each part of each question, with typed values and no formula', async () => {
    const form = await published(owner, definitionOf(QUESTIONS), { title: '=Form/1' });
    const { response } = await submit(form, {
      t: '=1+1\r\n"x", é',
      n: -2.5,
      d: '2024-02-29',
      h: '06:00',
      c: true,
      m: { r2: 'x' },
      r: ['y', 'x'],
      o: ['x', 'y'],
      p: { from: '1800-01-01', to: '2024-01-02' },
      f: '+47 55 50 12 34',
    });
    await submit(form, {});
    const [header, first, second] = await csv(form, 'tz=Asia/Ho_Chi_Minh');
    expect(header).toEqual([
      'id',
      'submitted_at',
      'respondent',
      'version',
      "'=cmd()",
      'N',
      'D',
      'H',
      'C',
      'M [R1]',
      'M [R2]',
      'R [1]',
      'R [2]',
      'O',
      'P [from]',
      'P [to]',
      'F',
    ]);
    const local = new Date(Date.parse(response.submitted_at) + 7 * 3_600_000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ');
    expect(first).toEqual([
      response.id,
      local,
      owner.email,
      '1',
      '\'=1+1\r\n"x", é',
      '-2.5',
      '2024-02-29',
      '06:00',
      'true',
      '',
      'X',
      'Y',
      'X',
      'A, b; Y',
      '1800-01-01',
      '2024-01-02',
      '+47 55 50 12 34',
    ]);
    expect(second!.slice(4)).toEqual(Array.from({ length: 13 }, () => ''));
    const rows = await xlsx(form);
    expect(rows[0]!.slice(4, 6)).toEqual(['=cmd()', 'N']);
    expect(rows[1]!.slice(4)).toEqual([
      '=1+1\r\n"x", é',
      -2.5,
      45_351,
      0.25,
      1,
      null,
      'X',
      'Y',
      'X',
      'A, b; Y',
      '1800-01-01',
      45_293,
      '+47 55 50 12 34',
    ]);
    const reply = await owner.api.request('HEAD', `/forms/${form.id}/export.xlsx`);
    expect([reply.status, reply.headers.get('content-disposition')]).toEqual([
      200,
      'attachment; filename=Form_1.xlsx',
    ]);
    expect((await csv(form, 'columns=n,t'))[0]!.slice(4)).toEqual(["'=cmd()", 'N']);
    expect(await csv(form, 'to=2001-01-01T00:00:00Z')).toHaveLength(1);
    expect((await owner.api.get(`/forms/${form.id}/export.csv?tz=Mars`)).status).toBe(422);
    expect((await ann.api.get(`/forms/${form.id}/export.csv`)).status).toBe(404);
  });

  test('all versions: removed questions keep their columns, also when the form is empty now', async () => {
    const form = await published(owner, definitionOf([{ id: 'a', type: 'number', title: 'Same' }]));
    await submit(form, { a: 1 });
    const definition = definitionOf([{ id: 'b', type: 'short_text', title: 'Same' }]);
    ok(await owner.api.patch(`/forms/${form.id}`, { definition }));
    ok(await owner.api.post(`/forms/${form.id}/publish`));
    await submit(form, { b: 'x' });
    const records = await csv(form);
    expect(records.map((record) => record.slice(3))).toEqual([
      ['version', 'Same (b, short_text)', 'Same (a, number)'],
      ['1', '', '1'],
      ['2', 'x', ''],
    ]);
  });

  test('any accepted text is exported as given', async () => {
    const form = await published(owner, definitionOf([{ id: 't', type: 'long_text', title: 'T' }]));
    const given: string[] = [];
    const unit = fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      '"',
      "'",
      ',',
      ' ',
      '\n',
      '\r',
      '\t',
      '＝',
      '_x000D_',
      '<',
      '&',
      'é',
      '😀',
      'a',
      '\u0001',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit, maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 30 })),
        async (text) => {
          const { status } = await owner.api.post(`/forms/${form.id}/submit`, { answers: { t: text } });
          expect([201, 400, 422]).toContain(status);
          if (status === 201 && hasVisibleCharacter(text)) given.push(text);
        },
      ),
      { numRuns: runs(150) },
    );
    expect(given.length).toBeGreaterThan(runs(150) / 4);
    const texts = (rows: unknown[][]) =>
      rows
        .slice(1)
        .map((row) => row[4])
        .filter((text) => text !== '' && text !== null);
    expect(texts(await xlsx(form))).toEqual(given);
    expect(texts(await csv(form)).map((text, n) => (text === `'${given[n]}` ? given[n] : text))).toEqual(
      given,
    );
    for (const text of texts(await csv(form)) as string[])
      expect(text).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]/u);
  });

  test('analytics by question, day and time zone', async () => {
    const form = await published(
      owner,
      definitionOf([
        { id: 's', type: 'nps', title: 'S' },
        { id: 'o', type: 'dropdown', title: 'O', options: [option('x'), option('y')] },
      ]),
    );
    const started_at = new Date(Date.now() - 30_000).toISOString();
    for (const [s, o] of [
      [10, 'x'],
      [9, 'x'],
      [2, 'y'],
    ])
      await submit(form, { s, o }, { started_at });
    await app.sql(`UPDATE form_responses SET submitted_at = '2026-03-01T23:30:00Z' WHERE form_id = $1`, [
      form.id,
    ]);
    const analytics = ok(await owner.api.get(`/forms/${form.id}/analytics?tz=Europe/Berlin`));
    expect(analytics.totals.submitted).toBe(3);
    expect(analytics.totals.median_seconds).toBeGreaterThanOrEqual(30);
    expect(analytics.by_day).toEqual([{ day: '2026-03-02', count: 3 }]);
    expect(analytics.questions[0].nps).toEqual({ promoters: 2, passives: 0, detractors: 1, score: 33.33 });
    expect(analytics.questions[1].options[0]).toEqual({ id: 'x', label: 'X', count: 2, percent: 66.67 });
    expect(ok(await owner.api.get(`/forms/${form.id}/analytics`)).by_day).toEqual([
      { day: '2026-03-01', count: 3 },
    ]);
    expect(ok(await owner.api.get(`/forms/${form.id}/analytics?version=2`)).totals).toEqual({
      views: 0,
      started: 0,
      submitted: 0,
      completion_rate: null,
      median_seconds: null,
    });
  });

  test('analytics name the options and rows that only older versions have', async () => {
    const questions = (options: object[], rows: object[]) => [
      { id: 'c', type: 'single_choice', title: 'C', options },
      { id: 'r', type: 'ranking', title: 'R', options },
      { id: 'm', type: 'matrix', title: 'M', options, rows },
    ];
    const form = await published(
      owner,
      definitionOf(
        questions([option('x', 'Old X'), option('y')], [option('gone', 'Old row'), option('unused')]),
      ),
    );
    await submit(form, { c: 'x', r: ['x', 'y'], m: { gone: 'x' } });
    const definition = definitionOf(questions([option('y', 'New Y')], [option('row')]));
    ok(await owner.api.patch(`/forms/${form.id}`, { definition }));
    ok(await owner.api.post(`/forms/${form.id}/publish`));
    await submit(form, { c: 'y', r: ['y'], m: { row: 'y' } });
    const [c, r, m] = ok(await owner.api.get(`/forms/${form.id}/analytics`)).questions;
    const half = { count: 1, percent: 50 };
    expect(c.options).toEqual([
      { id: 'y', label: 'New Y', ...half },
      { id: 'x', label: 'Old X', ...half },
    ]);
    expect(r.ranks.map(({ label }: any) => label).toSorted()).toEqual(['New Y', 'Old X']);
    expect(m.rows).toEqual([
      { id: 'row', label: 'ROW', options: [{ id: 'y', label: 'New Y', ...half }] },
      {
        id: 'gone',
        label: 'Old row',
        options: [
          { id: 'y', label: 'New Y', count: 0, percent: 0 },
          { id: 'x', label: 'Old X', ...half },
        ],
      },
    ]);
  });

  test('the mean rank of an option counts the answers that rank it', async () => {
    const ranking = (...options: string[]) =>
      definitionOf([{ id: 'r', type: 'ranking', title: 'R', options: options.map((id) => option(id)) }]);
    const form = await published(owner, ranking('x', 'y'));
    for (let n = 0; n < 3; n += 1) await submit(form, { r: ['x', 'y'] });
    ok(await owner.api.patch(`/forms/${form.id}`, { definition: ranking('x', 'y', 'new') }));
    ok(await owner.api.post(`/forms/${form.id}/publish`));
    await submit(form, { r: ['x', 'y', 'new'] });
    const [{ ranks }] = ok(await owner.api.get(`/forms/${form.id}/analytics`)).questions;
    expect(ranks.map(({ id, count, mean_rank }: any) => [id, count, mean_rank])).toEqual([
      ['x', 4, 1],
      ['y', 4, 2],
      ['new', 1, 3],
    ]);
    // The mean of one answer is this answer.
    const definition = { columns: ['r'], suppress_below: 2 };
    const { report } = ok(await owner.api.post(`/forms/${form.id}/reports`, { name: 'R', definition }), 201);
    const { aggregates } = ok(
      await owner.api.get(`/forms/${form.id}/report_snapshot?report_id=${report.id}`),
    );
    expect(aggregates.questions[0].ranks.map(({ id }: any) => id)).toEqual(['x', 'y']);
  });

  test('analytics count the views and starts of respondents, by version and hour', async () => {
    const form = await published(owner, definitionOf([{ id: 't', type: 'short_text', title: 'T' }]));
    const { api } = ann;
    const [outsider] = await app.tenant('other', 'outsider');
    const access = [{ user_id: ann.id, role: 'respondent' }];
    ok(await owner.api.put(`/forms/${form.id}/access`, { access }));
    const totals = async (query = '') =>
      ok(await owner.api.get(`/forms/${form.id}/analytics${query}`)).totals;
    for (let n = 0; n < 4; n += 1) ok(await api.get(`/forms/${form.id}`));
    // Requests of the owner are not counted.
    ok(await owner.api.get(`/forms/${form.id}`));
    ok(await api.post(`/forms/${form.id}/submit`, { answers: { t: 'x' } }), 201);
    // A submission implies a start.
    expect(await totals()).toMatchObject({ views: 4, started: 1, submitted: 1, completion_rate: 0.25 });
    const begun = Date.now();
    for (let n = 0; n < 3; n += 1)
      expect(Date.parse(ok(await api.post(`/forms/${form.id}/start`)).started_at)).toBeGreaterThanOrEqual(
        begun,
      );
    ok(await owner.api.post(`/forms/${form.id}/start`));
    expect(await totals()).toMatchObject({ views: 4, started: 3, submitted: 1 });
    expect((await api.post(`/forms/${form.id}/start`, { share_token: 7 })).status).toBe(422);
    expect((await outsider.api.post(`/forms/${form.id}/start`)).status).toBe(404);
    ok(await api.get(`/forms/${form.id}?version=1`));
    expect(await totals('?version=1')).toMatchObject({ views: 5, completion_rate: 0.2 });
    expect(await totals('?version=2')).toMatchObject({ views: 0, completion_rate: null });
    const start = new Date(Date.now() - 7_200_000).toISOString();
    expect(await totals(`?from=${start}`)).toMatchObject({ views: 5 });
    expect(await totals(`?to=${start}`)).toMatchObject({ views: 0, submitted: 0 });
    expect(await totals('?from=9998-01-01T00:00:00Z')).toMatchObject({ views: 0 });
  });

  test('a client that disconnects ends the export and frees its connection; a third export waits its turn', async () => {
    const form = await published(owner, definitionOf([{ id: 't', type: 'long_text', title: 'T' }]));
    await app.sql(
      `INSERT INTO form_responses (tenant_id, form_id, id, version, answers, search_text, submitted_at, updated_at)
       SELECT $1, $2, gen_random_uuid(), 1, jsonb_build_object('t', repeat(md5(n::text), 100)), '', now(), now() FROM generate_series(1, 6000) n`,
      [owner.tenantId, form.id],
    );
    const headers = { authorization: `Bearer ${owner.token}` };
    const url = `${app.base}/apis/v1/forms/${form.id}/export.csv`;
    const aborts = [new AbortController(), new AbortController()];
    // The bodies are not read: both exports wait for their clients.
    const [first] = await Promise.all(aborts.map(({ signal }) => fetch(url, { headers, signal })));
    expect(first!.status).toBe(200);
    let isDone = false;
    const third = owner.api.get(`/forms/${form.id}/export.csv?to=2001-01-01T00:00:00Z`);
    void third.then(() => (isDone = true));
    // Other requests of the user do not wait.
    expect((await owner.api.get(`/forms/${form.id}`)).status).toBe(200);
    expect(isDone).toBe(false);
    for (const abort of aborts) abort.abort();
    expect((await third).status).toBe(200);
    expect((await csv(form)).length).toBe(6001);
  });

  test('search finds forms by title, description and questions', async () => {
    const form = await published(
      owner,
      definitionOf([{ id: 't', type: 'short_text', title: 'Über Äpfel' }]),
      { title: 'Obst <b>', description: 'Wochenmarkt' },
    );
    const search = async (user: TestUser, q: string) =>
      ok(await user.api.get(`/search/forms?q=${encodeURIComponent(q)}`)).results;
    for (const q of ['obst', 'WOCHENMARKT', 'uber apfel'])
      expect([q, (await search(owner, q)).map((result: any) => result.form.id)]).toEqual([q, [form.id]]);
    expect((await search(owner, 'obst'))[0].highlight.title).toBe('<mark>Obst</mark> &lt;b&gt;');
    expect(await search(ann, 'obst')).toEqual([]);
    expect((await owner.api.get('/search/forms?q=%20')).status).toBe(422);
  });

  test('respondents and viewers do not find the words of a draft', async () => {
    const form = await published(owner, definitionOf([{ id: 't', type: 'short_text', title: 'Published' }]));
    const path = `/forms/${form.id}`;
    const entries = [
      { user_id: ann.id, role: 'respondent' },
      { user_id: ben.id, role: 'viewer' },
    ];
    ok(await owner.api.put(`${path}/access`, { access: entries }));
    const change = async (title: string) =>
      ok(await owner.api.patch(path, { definition: definitionOf([{ id: 't', type: 'short_text', title }]) }));
    const found = async (user: TestUser, q: string) => [
      ok(await user.api.get(`/forms?q=${q}`)).forms.length,
      ok(await user.api.get(`/search/forms?q=${q}`)).results.length,
    ];
    await change('Unpublished');
    ok(await owner.api.patch(path, { title: 'Renamed' }));
    expect(await found(owner, 'unpublished')).toEqual([1, 1]);
    for (const user of [ann, ben]) {
      expect(await found(user, 'unpublished')).toEqual([0, 0]);
      for (const q of ['published', 'renamed']) expect(await found(user, q)).toEqual([1, 1]);
    }
    ok(await owner.api.post(`${path}/publish`));
    for (const user of [ann, ben]) expect(await found(user, 'unpublished')).toEqual([1, 1]);
  });

  test('before its first publication only owner and editors see a form', async () => {
    const definition = definitionOf([{ id: 't', type: 'short_text', title: 'Whom to dismiss?' }]);
    const { form } = ok(await owner.api.post('/forms', { title: 'Unripe', definition }), 201);
    const path = `/forms/${form.id}`;
    const entries = [
      { user_id: ann.id, role: 'viewer' },
      { user_id: ben.id, role: 'editor' },
    ];
    ok(await owner.api.put(`${path}/access`, { access: entries }));
    const seen = async (user: TestUser) => [
      (await user.api.get(path)).status,
      ok(await user.api.get('/forms?q=unripe')).forms.length,
      ok(await user.api.get('/search/forms?q=dismiss')).results.length,
    ];
    expect([await seen(ann), await seen(ben)]).toEqual([
      [404, 0, 0],
      [200, 1, 1],
    ]);
    ok(await owner.api.post(`${path}/publish`));
    expect(await seen(ann)).toEqual([200, 1, 1]);
  });
});
