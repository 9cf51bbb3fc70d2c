import { unzipSync } from 'fflate';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { definitionOf, ok, option, published } from '../../support/domains/forms.ts';
import { form as formData } from '../../support/network/multipart.ts';

/** In each text and id of a column that the report leaves out. */
const MARK = 'hidden-marker';
/** In each answer to such a column. */
const ANSWER = `${MARK}-answer`;

const SHOWN = [
  { id: 'team', type: 'dropdown', title: 'Team', options: [option('red', 'Red'), option('blue', 'Blue')] },
  { id: 'score', type: 'number', title: 'Score' },
];
const hidden = (id: string, type: string, more: object = {}) => ({
  id: `${MARK}-${id}`,
  type,
  title: `${MARK} ${id}`,
  help: MARK,
  ...more,
});
const OPTIONS = [option(`${ANSWER}-x`, `${ANSWER} X`), option('y', `${MARK} Y`)];
const REMOVED = hidden('removed', 'short_text');
const HIDDEN = [
  hidden('text', 'short_text', { validation: { pattern: '.*', pattern_message: MARK } }),
  hidden('long', 'long_text'),
  hidden('number', 'number'),
  hidden('choice', 'single_choice', { options: OPTIONS }),
  hidden('choices', 'multiple_choice', { options: OPTIONS }),
  hidden('ranking', 'ranking', { options: OPTIONS }),
  hidden('matrix', 'matrix', { options: OPTIONS, rows: [option('r', MARK)] }),
  hidden('file', 'file'),
  hidden('section', 'section_text'),
];
const LOGIC = [
  {
    id: MARK,
    action: 'skip',
    target: 'score',
    conditions: [{ question: `${MARK}-text`, operator: 'equals', value: MARK }],
  },
];

const ROUTES = [
  '',
  '?version=1',
  '/responses',
  '/responses?q=hidden',
  `/responses?filter[${MARK}-text]=hidden`,
  '/responses/:response',
  '/responses/:response/files/:file',
  '/analytics',
  '/export.csv',
  '/export.xlsx',
  `/export.csv?columns=${MARK}-text`,
  '/reports',
  '/reports/:report',
  '/reports/:report/share',
  '/report_snapshot',
  '/report_snapshot?report_id=:report',
  '/access',
];
const SHARED = [
  '/reports/shared',
  '/reports/shared/:report',
  '/reports/shared/:report/responses',
  '/reports/shared/:report/form',
];

describe('redaction: each role against each route', () => {
  let app: TestApp;
  let form: any;
  let ids: Record<string, string>;
  let users: Record<string, TestUser>;

  beforeAll(async () => {
    app = await TestApp.start();
    const names = [
      'root',
      'owner',
      'editor',
      'viewer',
      'respondent',
      'reader',
      'grouped',
      'both',
      'colleague',
    ];
    const made = await app.tenant('acme', ...names);
    const [outsider] = await app.tenant('evil', 'outsider');
    users = Object.fromEntries([...names.map((name, n) => [name, made[n]!]), ['outsider', outsider]]);
    await fill();
  });
  afterAll(() => app?.stop());

  const user = (name: string): TestUser => users[name]!;

  /** The form in two versions, a response of the owner, and the shared report. */
  async function fill(): Promise<void> {
    const { api } = user('owner');
    form = await published(user('owner'), definitionOf([...SHOWN, REMOVED]), { title: 'Survey' });
    const path = `/forms/${form.id}`;
    ok(await api.post(`${path}/submit`, { answers: { team: 'red', [REMOVED.id]: ANSWER } }), 201);
    ok(await api.patch(path, { definition: definitionOf([...SHOWN, ...HIDDEN], LOGIC) }));
    ok(await api.post(`${path}/publish`));
    const upload = await api.request(
      'POST',
      `${path}/attachments?question_id=${MARK}-file`,
      formData({ content: ANSWER, filename: `${ANSWER}.txt` }),
    );
    const file = ok(upload, 201).upload.id;
    const answers = {
      team: 'blue',
      score: 3,
      [`${MARK}-text`]: ANSWER,
      [`${MARK}-long`]: ANSWER,
      [`${MARK}-number`]: 1,
      [`${MARK}-choice`]: `${ANSWER}-x`,
      [`${MARK}-choices`]: [`${ANSWER}-x`],
      [`${MARK}-ranking`]: [`${ANSWER}-x`, 'y'],
      [`${MARK}-matrix`]: { r: `${ANSWER}-x` },
      [`${MARK}-file`]: { upload_ids: [file] },
    };
    const { response } = ok(await api.post(`${path}/submit`, { answers }), 201);
    const access = ['editor', 'viewer', 'respondent', 'both'].map((name) => ({
      user_id: user(name).id,
      role: name === 'both' ? 'respondent' : name,
    }));
    ok(await api.put(`${path}/access`, { access }));
    const definition = {
      columns: ['team', 'score'],
      group_by: 'team',
      metrics: [{ question: 'score', function: 'sum' }],
      charts: [{ question: 'team', kind: 'bar' }],
    };
    const { report } = ok(await api.post(`${path}/reports`, { name: 'Teams', definition }), 201);
    const group = ok(await user('root').api.post('/rbac/groups', { name: 'Readers', permissions: [] }), 201)
      .group.id;
    ok(await user('root').api.post(`/rbac/groups/${group}/members`, { user_id: user('grouped').id }), 201);
    const viewers = [{ user_id: user('reader').id }, { user_id: user('both').id }, { group_id: group }];
    ok(
      await api.post(`${path}/reports/${report.id}/share`, {
        viewers,
        expose: { responses: true, form: true },
      }),
    );
    ids = { response: response.id, file, report: report.id };
  }

  const filled = (route: string) =>
    route.replaceAll(/:(response|file|report)\b/g, (_, name: string) => ids[name]!);

  /** Status and text of a response; workbooks are unpacked. */
  async function read(who: TestUser, url: string, body?: object): Promise<{ status: number; text: string }> {
    const response = await fetch(`${app.base}/apis/v1${filled(url)}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isArchive = bytes.subarray(0, 2).toString() === 'PK';
    const files = isArchive ? Object.values(unzipSync(bytes)).map((each) => Buffer.from(each)) : [bytes];
    const disposition = response.headers.get('content-disposition') ?? '';
    return { status: response.status, text: [disposition, ...files.map(String)].join('\n') };
  }

  const onForm = async (name: string) => {
    const results: Record<string, { status: number; text: string }> = {};
    for (const route of ROUTES) results[route] = await read(user(name), `/forms/${form.id}${route}`);
    results['xlsx of report'] = await read(user(name), `/forms/${form.id}/report.xlsx`, {
      report_id: ids['report'],
    });
    results['xlsx of all'] = await read(user(name), `/forms/${form.id}/report.xlsx`, {
      definition: { columns: [`${MARK}-text`] },
    });
    return results;
  };
  const onShared = async (name: string) => {
    const results: Record<string, { status: number; text: string }> = {};
    for (const route of SHARED) results[route] = await read(user(name), route);
    return results;
  };
  const statuses = (results: Record<string, { status: number }>) =>
    [...new Set(Object.values(results).map(({ status }) => status))].toSorted();
  const marked = (results: Record<string, { text: string }>, mark: string) =>
    Object.keys(results).filter((route) => results[route]!.text.includes(mark));

  test.each(['owner', 'editor', 'viewer'])(
    '%s: all columns, except in the output of the report',
    async (name) => {
      const results = await onForm(name);
      const allowed = Object.entries(results).filter(([, { status }]) => status === 200);
      expect(Object.keys(results).filter((route) => results[route]!.status !== 200)).toEqual(
        name === 'viewer' ? ['/access'] : [],
      );
      const seen = marked(Object.fromEntries(allowed), MARK);
      for (const route of [
        '/reports',
        '/reports/:report',
        '/reports/:report/share',
        '/report_snapshot?report_id=:report',
        'xlsx of report',
      ])
        expect([route, seen.includes(route)]).toEqual([route, false]);
      for (const route of [
        '',
        '/responses',
        '/analytics',
        '/export.csv',
        '/export.xlsx',
        '/report_snapshot',
        'xlsx of all',
      ])
        expect([route, seen.includes(route)]).toEqual([route, true]);
      expect(statuses(await onShared(name))).toEqual([200, 404]);
    },
  );

  test('a respondent reads the questions of the form, and no answers of others', async () => {
    const results = await onForm('respondent');
    const { '': definition, '?version=1': first, ...others } = results;
    expect([definition!.status, first!.status]).toEqual([200, 200]);
    for (const [route, { status }] of Object.entries(others))
      expect([route, [403, 404].includes(status)]).toEqual([route, true]);
    expect(marked(others, MARK)).toEqual([]);
    expect(statuses(await onShared('respondent'))).toEqual([200, 404]);
  });

  test.each(['reader', 'grouped'])(
    '%s: a viewer of the report has no role on the form and sees its columns only',
    async (name) => {
      const results = await onForm(name);
      expect(statuses(results)).toEqual([404]);
      const shared = await onShared(name);
      expect(statuses(shared)).toEqual([200]);
      for (const each of [results, shared]) {
        expect(marked(each, MARK)).toEqual([]);
        expect(marked(each, user('owner').email)).toEqual([]);
      }
      expect(shared['/reports/shared/:report/responses']!.text).toContain('blue');
      for (const q of ['hidden', 'survey'])
        expect(ok(await user(name).api.get(`/search/forms?q=${q}`)).results).toEqual([]);
      expect(ok(await user(name).api.get('/forms?q=hidden')).forms).toEqual([]);
      await app.get(OutboxWorker).drain();
      const { text } = await user(name).api.get('/notifications');
      expect([text.includes('Teams'), text.includes(MARK)]).toEqual([true, false]);
    },
  );

  test('a respondent who views the report sees no answer of a hidden column anywhere', async () => {
    const results = { ...(await onForm('both')), ...(await onShared('both')) };
    const { '': definition, '?version=1': first, ...others } = results;
    expect([definition!.status, first!.status]).toEqual([200, 200]);
    expect(marked(others, MARK)).toEqual([]);
    for (const route of SHARED) expect([route, others[route]!.status]).toEqual([route, 200]);
  });

  test.each(['colleague', 'outsider'])('%s: nothing', async (name) => {
    const results = await onForm(name);
    expect(statuses(results)).toEqual([404]);
    const { '/reports/shared': list, ...shared } = await onShared(name);
    expect(JSON.parse(list!.text.trim()).reports).toEqual([]);
    expect(statuses(shared)).toEqual([404]);
    expect(marked({ ...results, ...shared }, MARK)).toEqual([]);
  });
});
