import { unzipSync } from 'fflate';
import { TestApp, type TestUser } from '../../support/app.ts';
import { definitionOf, ok, option, published } from '../../support/domains/forms.ts';

/** A text of a column that no report shows. */
const MARKER = 'marker-of-the-hidden-column';

const DEFINITION = definitionOf([
  { id: 'team', type: 'dropdown', title: 'Team', options: [option('red', 'Red'), option('blue', 'Blue')] },
  { id: 'score', type: 'number', title: 'Score' },
  { id: 'secret', type: 'short_text', title: `Title ${MARKER}` },
  { id: 'comment', type: 'short_text', title: 'Comment' },
]);

describe('reports', () => {
  let app: TestApp;
  let owner: TestUser;
  let viewer: TestUser;
  let member: TestUser;
  let outsider: TestUser;
  let form: any;

  beforeAll(async () => {
    app = await TestApp.start();
    [, owner, viewer, member, outsider] = (await app.tenant(
      'acme',
      'root',
      'olga',
      'vic',
      'mia',
      'sam',
    )) as any;
    form = await published(owner, DEFINITION);
    for (const [team, score] of [
      ['red', 1],
      ['red', 2],
      ['red', 6],
      ['blue', 5],
      [undefined, 10],
    ] as const)
      ok(
        await owner.api.post(`/forms/${form.id}/submit`, {
          answers: { team, score, secret: MARKER, comment: `remark-${score}` },
        }),
        201,
      );
  });
  afterAll(() => app?.stop());

  const base = () => `/forms/${form.id}`;
  const save = async (definition: object, name = 'Report') =>
    ok(await owner.api.post(`${base()}/reports`, { name, definition }), 201).report;
  const share = (report: any, viewers: object[], expose: object = {}) =>
    owner.api.post(`${base()}/reports/${report.id}/share`, { viewers, expose });
  const bytes = async (user: TestUser, body: object) => {
    const response = await fetch(`${app.base}/apis/v1${base()}/report.xlsx`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  const textOf = (archive: Uint8Array): string =>
    Object.values(unzipSync(archive))
      .map((file) => Buffer.from(file).toString())
      .join('\n');

  const BY_TEAM = {
    columns: ['team', 'score'],
    group_by: 'team',
    metrics: [
      { question: 'score', function: 'mean' },
      { question: 'score', function: 'max' },
    ],
    charts: [{ question: 'team', kind: 'pie' }],
  };

  test('a report is saved, read, listed, changed and deleted', async () => {
    const report = await save(BY_TEAM);
    expect(report).toMatchObject({
      form_id: form.id,
      name: 'Report',
      rev: 1,
      definition: { ...BY_TEAM, filters: [], suppress_below: 0 },
    });
    const path = `${base()}/reports/${report.id}`;
    expect(ok(await owner.api.get(path)).report).toEqual(report);
    expect(ok(await owner.api.get(`${base()}/reports`)).reports.map(({ id }: any) => id)).toContain(
      report.id,
    );
    const changed = ok(await owner.api.put(path, { name: 'Renamed', rev: 1 })).report;
    expect(changed).toMatchObject({ name: 'Renamed', rev: 2, definition: report.definition });
    const stale = await owner.api.put(path, { name: 'x', rev: 1 });
    expect([stale.status, stale.body.error, stale.body.rev]).toEqual([409, 'conflict', 2]);
    expect(ok(await owner.api.delete(path)).deleted).toBe(true);
    for (const call of [owner.api.get(path), owner.api.put(path, { name: 'x' }), owner.api.delete(path)])
      expect((await call).status).toBe(404);
    expect((await outsider.api.get(`${base()}/reports`)).status).toBe(404);
  });

  test('everything in a report refers to its columns', async () => {
    const invalid: [object, string][] = [
      [{ columns: [] }, 'columns'],
      [{ columns: ['nope'] }, 'columns.0'],
      [{ columns: ['team', 'team'] }, 'columns.1'],
      [{ columns: ['team'], group_by: 'secret' }, 'group_by'],
      [{ columns: ['score'], group_by: 'score' }, 'group_by'],
      [{ columns: ['team'], metrics: [{ question: 'score', function: 'sum' }] }, 'metrics.0.question'],
      [{ columns: ['team'], metrics: [{ question: 'team', function: 'sum' }] }, 'metrics.0.function'],
      [
        { columns: ['team'], filters: [{ question: 'secret', operator: 'contains', value: 'm' }] },
        'filters.0.question',
      ],
      [{ columns: ['team'], charts: [{ question: 'secret' }] }, 'charts.0.question'],
      [{ columns: ['team'], suppress_below: -1 }, 'suppress_below'],
    ];
    for (const [definition, field] of invalid) {
      const { status, body } = await owner.api.post(`${base()}/reports`, { name: 'x', definition });
      expect([definition, status, body.error, body.details?.[0]?.field]).toEqual([
        definition,
        422,
        'invalid_report',
        field,
      ]);
    }
  });

  test('a snapshot has questions, rows and aggregates, and the same ETag for the same data', async () => {
    const report = await save({
      ...BY_TEAM,
      filters: [{ question: 'score', operator: 'at_most', value: 6 }],
    });
    const response = await owner.api.get(`${base()}/report_snapshot?report_id=${report.id}`);
    const snapshot = ok(response);
    expect(snapshot.form.questions.map(({ id, removed }: any) => [id, removed])).toEqual([
      ['team', false],
      ['score', false],
    ]);
    expect(snapshot.rows.map(({ answers }: any) => answers)).toEqual([
      { team: 'red', score: 1 },
      { team: 'red', score: 2 },
      { team: 'red', score: 6 },
      { team: 'blue', score: 5 },
    ]);
    expect(snapshot.aggregates.responses).toBe(4);
    expect(snapshot.aggregates.metrics.map(({ value }: any) => value)).toEqual([3.5, 6]);
    expect(
      snapshot.aggregates.groups.map(({ key, label, count, metrics }: any) => [
        key,
        label,
        count,
        metrics[0].value,
      ]),
    ).toEqual([
      ['red', 'Red', 3, 3],
      ['blue', 'Blue', 1, 5],
    ]);
    expect(response.headers.get('etag')).toBe(`"${snapshot.etag}"`);
    expect(ok(await owner.api.get(`${base()}/report_snapshot?report_id=${report.id}`)).etag).toBe(
      snapshot.etag,
    );
    const whole = ok(await owner.api.get(`${base()}/report_snapshot`));
    expect([whole.form.questions.length, whole.rows.length, whole.etag === snapshot.etag]).toEqual([
      4,
      5,
      false,
    ]);
    expect((await outsider.api.get(`${base()}/report_snapshot`)).status).toBe(404);
  });

  test('the workbook has a summary, metrics, the tables of charts and rows', async () => {
    const report = await save(BY_TEAM, '=Report');
    const { bytes: archive } = await bytes(owner, { report_id: report.id });
    const files = unzipSync(archive);
    const names = [
      ...Buffer.from(files['xl/workbook.xml']!)
        .toString()
        .matchAll(/sheet name="([^"]+)"/g),
    ].map(([, name]) => name);
    expect(names).toEqual(['Summary', 'Metrics', 'Team', 'Responses']);
    expect(textOf(archive)).not.toContain(MARKER);
    expect(Buffer.from(files['xl/worksheets/sheet3.xml']!).toString()).toContain('Blue');
    expect((await bytes(owner, { definition: { columns: ['secret'] } })).status).toBe(200);
    for (const body of [{}, { report_id: report.id, definition: {} }, { definition: { columns: ['nope'] } }])
      expect((await bytes(owner, body)).status).toBe(422);
    expect((await bytes(outsider, { report_id: report.id })).status).toBe(404);
  });

  test('the workbook has groups without metrics, and the ranks of a chart', async () => {
    const options = [option('red', 'Red'), option('blue', 'Blue')];
    const { id } = await published(
      owner,
      definitionOf([
        { id: 'team', type: 'dropdown', title: 'Team', options },
        { id: 'order', type: 'ranking', title: 'Order', options },
      ]),
    );
    ok(
      await owner.api.post(`/forms/${id}/submit`, { answers: { team: 'blue', order: ['blue', 'red'] } }),
      201,
    );
    const sheets = async (definition: object) => {
      const response = await fetch(`${app.base}/apis/v1/forms/${id}/report.xlsx`, {
        method: 'POST',
        headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ definition: { columns: ['team', 'order'], ...definition } }),
      });
      const files = unzipSync(new Uint8Array(await response.arrayBuffer()));
      return [2, 3].map((n) => Buffer.from(files[`xl/worksheets/sheet${n}.xml`] ?? '').toString());
    };
    const [groups] = await sheets({ group_by: 'team' });
    expect(groups).toMatch(/Group<.*Responses<.*Blue<.*<v>1<\/v>/);
    const [ranks, rows] = await sheets({ charts: [{ question: 'order', kind: 'bar' }] });
    expect(ranks).toMatch(/Blue<.*<v>1<\/v>.*Red<.*<v>2<\/v>/);
    expect(rows).toContain('submitted_at');
  });

  test('viewers see the columns and the exposed fields; the end of their access takes effect at once', async () => {
    const report = await save(BY_TEAM, 'Shared');
    const path = `/reports/shared/${report.id}`;
    expect((await viewer.api.get(path)).status).toBe(404);
    const shared = ok(await share(report, [{ user_id: viewer.id }]));
    expect(shared).toEqual({
      viewers: [{ kind: 'user', id: viewer.id, name: 'Vic' }],
      expose: { responses: false, form: false },
    });
    expect(ok(await owner.api.get(`${base()}/reports/${report.id}/share`))).toEqual(shared);
    expect(ok(await viewer.api.get('/reports/shared')).reports.map(({ id }: any) => id)).toEqual([report.id]);
    expect(ok(await viewer.api.get(path)).data.aggregates.responses).toBe(5);
    for (const part of ['responses', 'form'])
      expect((await viewer.api.get(`${path}/${part}`)).body.error).toBe('not_exposed');
    ok(await share(report, [{ user_id: viewer.id }], { responses: true, form: true }));
    expect(ok(await viewer.api.get(`${path}/responses`)).responses[0].answers).toEqual({
      team: 'red',
      score: 1,
    });
    const scores: number[] = [];
    for (let next: string | null = '', n = 0; next !== null && n < 9; n += 1) {
      const page: any = ok(await viewer.api.get(`${path}/responses?limit=2${next && `&cursor=${next}`}`));
      expect(page.responses.length).toBeLessThanOrEqual(2);
      scores.push(...page.responses.map(({ answers }: any) => answers.score));
      ({ next } = page);
    }
    expect(scores).toEqual([1, 2, 6, 5, 10]);
    const invalid = await viewer.api.get(`${path}/responses?cursor=x.y`);
    expect([invalid.status, invalid.body.error]).toEqual([422, 'invalid_cursor']);
    expect((await viewer.api.get(`${path}/responses?limit=1001`)).status).toBe(422);
    expect(ok(await viewer.api.get(`${path}/form`)).form.questions.map(({ id }: any) => id)).toEqual([
      'team',
      'score',
    ]);
    // The share of a report gives no role on the form.
    for (const route of [
      '',
      '/responses',
      '/analytics',
      '/reports',
      `/reports/${report.id}`,
      '/report_snapshot',
      '/export.csv',
    ])
      expect([route, (await viewer.api.get(`${base()}${route}`)).status]).toEqual([route, 404]);
    ok(await share(report, []));
    expect((await viewer.api.get(path)).status).toBe(404);
    expect(ok(await viewer.api.get('/reports/shared')).reports).toEqual([]);
    const members = await app.sql(`SELECT id FROM rbac_groups WHERE tenant_id = $1 AND key = 'members'`, [
      owner.tenantId,
    ]);
    ok(await share(report, [{ group_id: members[0].id }]));
    expect((await member.api.get(path)).status).toBe(200);
    const [foreign] = await app.tenant('evil', 'foreign');
    expect((await foreign.api.get(path)).status).toBe(404);
    const unknown = await share(report, [{ user_id: foreign.id }]);
    expect([unknown.status, unknown.body.error]).toEqual([404, 'unknown_viewer']);
    expect((await share(report, [{}])).status).toBe(422);
    const other = await published(owner, DEFINITION);
    const misplaced = await owner.api.post(`/forms/${other.id}/reports/${report.id}/share`, { viewers: [] });
    expect(misplaced.status).toBe(404);
    ok(await owner.api.delete(base()));
    expect((await member.api.get(path)).status).toBe(404);
    await app.sql(`UPDATE forms SET deleted_at = NULL WHERE id = $1`, [form.id]);
  });

  test('a deleted group is in no list of those with access to a form, a report or a calendar', async () => {
    const [root, boss, ann] = await app.tenant('regrouped', 'root', 'boss', 'ann');
    const { group } = ok(await root.api.post('/rbac/groups', { name: 'Crew' }), 201);
    const granted = [
      { group_id: group.id, role: 'viewer' },
      { user_id: ann.id, role: 'viewer' },
    ];
    const form = await published(boss, DEFINITION);
    ok(await boss.api.put(`/forms/${form.id}/access`, { access: granted }));
    const { report } = ok(
      await boss.api.post(`/forms/${form.id}/reports`, { name: 'R', definition: { columns: ['team'] } }),
      201,
    );
    const viewers = granted.map(({ role: _role, ...viewer }) => viewer);
    ok(await boss.api.post(`/forms/${form.id}/reports/${report.id}/share`, { viewers }));
    const shares = granted.map((share) => ({ ...share, role: 'reader' }));
    const { calendar } = ok(await boss.api.post('/calendar', { name: 'Shared', shares }), 201);
    const names = async () => {
      const lists = [
        ok(await boss.api.get(`/forms/${form.id}/access`)).access,
        ok(await boss.api.get(`/forms/${form.id}/reports/${report.id}/share`)).viewers,
        ok(await boss.api.get('/calendar')).calendars.find(({ id }: any) => id === calendar.id).shares,
      ];
      return lists.map((list: any[]) => list.map(({ name }) => name).toSorted());
    };
    expect(await names()).toEqual([
      ['Ann', 'Crew'],
      ['Ann', 'Crew'],
      ['Ann', 'Crew'],
    ]);
    ok(await root.api.delete(`/rbac/groups/${group.id}`));
    expect(await names()).toEqual([['Ann'], ['Ann'], ['Ann']]);
    // A client that read the lists before may still repeat them.
    ok(await boss.api.put(`/forms/${form.id}/access`, { access: granted }));
    ok(await boss.api.post(`/forms/${form.id}/reports/${report.id}/share`, { viewers }));
    ok(await boss.api.put(`/calendar/${calendar.id}`, { shares }));
    expect(await names()).toEqual([['Ann'], ['Ann'], ['Ann']]);
  });

  test('no route shows a viewer a hidden column', async () => {
    const report = await save({ columns: ['team', 'comment'] }, 'Redacted');
    ok(await share(report, [{ user_id: viewer.id }], { responses: true, form: true }));
    const path = `/reports/shared/${report.id}`;
    for (const route of [path, `${path}/responses`, `${path}/form`, '/reports/shared']) {
      const { status, text } = await viewer.api.get(route);
      expect([
        route,
        status,
        text.includes(MARKER),
        text.includes('secret'),
        text.includes(owner.email),
      ]).toEqual([route, 200, false, false, false]);
    }
    expect((await viewer.api.get(`${path}/responses`)).text).toContain('remark-1');
    for (const text of [
      (await owner.api.get(`${base()}/report_snapshot?report_id=${report.id}`)).text,
      textOf((await bytes(owner, { report_id: report.id })).bytes),
    ])
      expect([text.includes('remark-1'), text.includes(MARKER)]).toEqual([true, false]);
    // Texts of single responses are rows too.
    ok(await share(report, [{ user_id: viewer.id }], { responses: false }));
    expect((await viewer.api.get(path)).text).not.toContain('remark-1');
  });

  test('answers of a former type of a question are in no group and contain no text', async () => {
    const choice = (type: string) => ({ id: 'c', type, title: 'C', options: [option('x'), option('y')] });
    const other = await published(
      owner,
      definitionOf([{ id: 't', type: 'number', title: 'T' }, choice('multiple_choice')]),
    );
    const path = `/forms/${other.id}`;
    const submit = async (answers: object) => ok(await owner.api.post(`${path}/submit`, { answers }), 201);
    await submit({ t: 5, c: ['x', 'y'] });
    const definition = definitionOf([{ id: 't', type: 'short_text', title: 'T' }, choice('single_choice')]);
    ok(await owner.api.patch(path, { definition }));
    ok(await owner.api.post(`${path}/publish`));
    await submit({ t: 'Room 5', c: 'x' });
    const snapshot = async (more: object) => {
      const report = { name: 'R', definition: { columns: ['t', 'c'], ...more } };
      const { id } = ok(await owner.api.post(`${path}/reports`, report), 201).report;
      expect((await owner.api.post(`${path}/report.xlsx`, { report_id: id })).status).toBe(200);
      return ok(await owner.api.get(`${path}/report_snapshot?report_id=${id}`));
    };
    const filtered = await snapshot({ filters: [{ question: 't', operator: 'contains', value: '5' }] });
    expect(filtered.rows.map(({ answers }: any) => answers.t)).toEqual(['Room 5']);
    const { aggregates } = await snapshot({
      group_by: 'c',
      metrics: [{ question: 'c', function: 'count' }],
    });
    expect(aggregates.groups.map(({ key, label }: any) => [key, label])).toEqual([
      [null, null],
      ['x', 'X'],
    ]);
  });

  test('the metrics of a question that was text before have its numbers only', async () => {
    const definition = (type: string) => definitionOf([{ id: 't', type, title: 'T' }]);
    const { id } = await published(owner, definition('short_text'));
    const path = `/forms/${id}`;
    ok(await owner.api.post(`${path}/submit`, { answers: { t: 'none' } }), 201);
    ok(await owner.api.patch(path, { definition: definition('number') }));
    ok(await owner.api.post(`${path}/publish`));
    for (const t of [10, 20]) ok(await owner.api.post(`${path}/submit`, { answers: { t } }), 201);
    const metrics = ['count', 'sum', 'mean'].map((name) => ({ question: 't', function: name }));
    const report = { name: 'R', definition: { columns: ['t'], metrics } };
    const saved = ok(await owner.api.post(`${path}/reports`, report), 201).report;
    const { aggregates } = ok(await owner.api.get(`${path}/report_snapshot?report_id=${saved.id}`));
    expect(aggregates.metrics.map(({ value }: any) => value)).toEqual([3, 30, 15]);
  });

  test('a list of viewers or of access may keep a member who was deactivated', async () => {
    const [root, dan] = await app.tenant('keep', 'root', 'dan');
    const { id } = await published(root, DEFINITION);
    const { report } = ok(
      await root.api.post(`/forms/${id}/reports`, { name: 'R', definition: BY_TEAM }),
      201,
    );
    const access = [{ user_id: dan.id, role: 'respondent' }];
    const viewers = [{ user_id: dan.id }];
    const set = () => root.api.put(`/forms/${id}/access`, { access });
    const view = () => root.api.post(`/forms/${id}/reports/${report.id}/share`, { viewers });
    ok(await set());
    ok(await view());
    ok(await root.api.post(`/tenant/members/${dan.id}/deactivate`));
    expect(ok(await set()).access).toMatchObject([{ id: dan.id }]);
    expect(ok(await view()).viewers).toMatchObject([{ id: dan.id }]);
    ok(await root.api.put(`/forms/${id}/access`, { access: [] }));
    expect((await set()).status).toBe(422);
  });

  test('a metric of few answers is suppressed in its group, and where the total would show it', async () => {
    const { id } = await published(owner, DEFINITION);
    for (const [team, score] of [
      ['red', 1],
      ['red', 2],
      ['blue', 9],
      ['blue', undefined],
    ] as const)
      ok(await owner.api.post(`/forms/${id}/submit`, { answers: { team, score } }), 201);
    const metrics = [{ question: 'score', function: 'sum' }];
    const definition = { ...BY_TEAM, metrics, suppress_below: 2 };
    const { report } = ok(await owner.api.post(`/forms/${id}/reports`, { name: 'R', definition }), 201);
    const { aggregates } = ok(await owner.api.get(`/forms/${id}/report_snapshot?report_id=${report.id}`));
    expect(aggregates.metrics[0].value).toBe(12);
    expect(aggregates.groups.map(({ count, metrics: [sum] }: any) => [count, sum.value])).toEqual([
      [2, null],
      [2, null],
    ]);
  });

  test('small groups are suppressed, and rows cannot be exposed beside them', async () => {
    const definition = { ...BY_TEAM, columns: ['team', 'score', 'comment'] };
    const report = await save({ ...definition, suppress_below: 2 }, 'Suppressed');
    const seen = async ({ id }: any) => ok(await viewer.api.get(`/reports/shared/${id}`)).data.aggregates;
    ok(await share(report, [{ user_id: viewer.id }]));
    const aggregates = await seen(report);
    expect(aggregates.groups.map(({ key }: any) => key)).toEqual(['red']);
    expect([aggregates.responses, aggregates.suppressed_groups]).toEqual([5, 2]);
    // The maximum is suppressed, because it shows the answer of one response.
    expect(aggregates.metrics.map(({ value }: any) => value)).toEqual([4.8, null]);
    const [team, score, comment] = aggregates.questions;
    // Three of four answers are red: the difference would show the single blue one, so all options are suppressed.
    expect([team.answered, team.options]).toEqual([4, []]);
    expect([score.statistics, comment.samples]).toEqual([undefined, undefined]);
    const three = await save({ ...definition, suppress_below: 3 });
    ok(await share(three, [{ user_id: viewer.id }]));
    // The difference from the group of three would show the two others, so this group is suppressed too.
    expect(await seen(three)).toMatchObject({ responses: 5, groups: [], suppressed_groups: 3 });
    expect((await share(report, [{ user_id: viewer.id }], { responses: true })).status).toBe(422);
    const few = await save({ ...BY_TEAM, suppress_below: 6 });
    ok(await share(few, [{ user_id: viewer.id }]));
    expect(ok(await viewer.api.get(`/reports/shared/${few.id}`)).data.aggregates).toMatchObject({
      responses: null,
      questions: [],
      groups: [],
      metrics: [{ value: null }, { value: null }],
    });
    expect(textOf((await bytes(owner, { report_id: report.id })).bytes)).not.toContain('remark-1');
  });
});
