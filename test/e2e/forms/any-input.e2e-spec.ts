import fc from 'fast-check';
import { QUESTION_TYPES } from '../../../src/lib/forms/index.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { definitionOf, draft, ok, option, published } from '../../support/domains/forms.ts';
import { runs } from '../../support/property-runs.ts';

const OPTIONS = ['a', 'b', 'c'].map((id) => option(id));
const ROWS = ['r', 's'].map((id) => option(id));

/** A question of each type that takes answers without files. */
const QUESTIONS = QUESTION_TYPES.filter((type) => !['file', 'section_text'].includes(type)).map((type) => ({
  id: type,
  type,
  title: type,
  ...(['single_choice', 'dropdown', 'multiple_choice', 'ranking', 'matrix'].includes(type) && {
    options: OPTIONS,
  }),
  ...(type === 'matrix' && { rows: ROWS }),
}));

const day = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const word = fc.stringMatching(/^[a-z]{1,12}$/);
const id = fc.constantFrom('a', 'b', 'c');
/** Valid answers in their canonical form, without the first characters of formulas, which CSV changes. */
const ANSWERS: Record<string, fc.Arbitrary<any>> = {
  short_text: fc.stringMatching(/^[\w é"',;<&😀]{0,30}$/u).map((text) => `x${text}`),
  long_text: fc.stringMatching(/^[\w é"',;<&😀\r\n\t]{0,30}$/u).map((text) => `x${text}`),
  email: word.map((name) => `${name}@${name}.example`),
  phone: fc.integer({ min: 100, max: 9e9 }).map(String),
  url: word.map((name) => `https://${name}.example/?q=${name}`),
  color: fc.stringMatching(/^#[\da-f]{6}$/),
  number: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((n) => n + 0),
  linear_scale: fc.integer({ min: 1, max: 5 }),
  rating: fc.integer({ min: 1, max: 5 }),
  nps: fc.integer({ min: 0, max: 10 }),
  date: day,
  time: fc
    .tuple(fc.nat(23), fc.nat(59))
    .map((parts) => parts.map((n) => String(n).padStart(2, '0')).join(':')),
  date_range: fc.tuple(day, day).map((days) => {
    const [from, to] = days.toSorted();
    return { from, to };
  }),
  single_choice: id,
  dropdown: id,
  multiple_choice: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
  ranking: fc.shuffledSubarray(['a', 'b', 'c'], { minLength: 3 }),
  matrix: fc.record({ r: id, s: id }, { requiredKeys: ['r'] }),
  consent: fc.boolean(),
};

/** The cells of an answer as a reader of CSV expects them. */
function cellsOf(type: string, answer: any): string[] {
  const label = (one: string) => one.toUpperCase();
  switch (type) {
    case 'single_choice':
    case 'dropdown':
      return [label(answer)];
    case 'multiple_choice':
      return [answer.map(label).join('; ')];
    case 'ranking':
      return answer.map(label);
    case 'matrix':
      return ['r', 's'].map((row) => (answer[row] ? label(answer[row]) : ''));
    case 'date_range':
      return [answer.from, answer.to];
    default:
      return [String(answer)];
  }
}

const EMPTY: Record<string, string[]> = { ranking: ['', '', ''], matrix: ['', ''], date_range: ['', ''] };

/** Fields of a line of CSV (RFC 4180) may contain line ends. */
function recordsOf(csv: string): string[][] {
  const records: string[][] = [[]];
  let [field, isQuoted] = ['', false];
  for (let n = 0; n < csv.length; n += 1) {
    const char = csv[n]!;
    if (isQuoted && char === '"' && csv[n + 1] === '"') field += csv[(n += 1)];
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (char === ',' || char === '\r')) {
      records.at(-1)!.push(field);
      field = '';
      if (char === '\r') {
        records.push([]);
        n += 1;
      }
    } else field += char;
  }
  return records.slice(0, -1);
}

describe('forms: any input', () => {
  let app: TestApp;
  let owner: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [owner] = await app.tenant('acme', 'olga');
  });
  afterAll(() => app?.stop());

  test('an accepted answer of any type is stored and exported as given', async () => {
    const form = await published(owner, definitionOf(QUESTIONS));
    const path = `/forms/${form.id}`;
    const given = new Map<string, Record<string, any>>();
    await fc.assert(
      fc.asyncProperty(fc.record(ANSWERS, { requiredKeys: [] }), async (answers) => {
        const { response } = ok(await owner.api.post(`${path}/submit`, { answers }), 201);
        given.set(response.id, answers);
        expect(ok(await owner.api.get(`${path}/responses/${response.id}`)).response.answers).toEqual(answers);
      }),
      { numRuns: runs(40) },
    );
    const response = await fetch(`${app.base}/apis/v1${path}/export.csv`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    const [, ...records] = recordsOf((await response.text()).replace(/^\ufeff/, ''));
    expect(records).toHaveLength(given.size);
    for (const [responseId, , , , ...cells] of records) {
      const answers = given.get(responseId!)!;
      const expected = QUESTIONS.flatMap(({ type }) => {
        const empty = EMPTY[type] ?? [''];
        return type in answers ? cellsOf(type, answers[type]) : empty;
      });
      expect(cells).toEqual(expected);
    }
  });

  test('no definition, answer or parameter gives a 5xx', async () => {
    const { id: formId } = await draft(owner);
    const open = await published(owner, definitionOf(QUESTIONS));
    const name = fc.constantFrom('a', 'b', 'main', '__proto__', 'constructor', '', '\u0000', 'x'.repeat(65));
    const json = fc.oneof(fc.jsonValue(), fc.constantFrom(1e308, -0, '\u0000', '\ud800', 'x'.repeat(20_000)));
    const question = fc.record(
      {
        id: fc.oneof(name, json),
        type: fc.oneof(fc.constantFrom(...QUESTION_TYPES), json),
        title: json,
        help: json,
        required: json,
        options: fc.oneof(json, fc.array(fc.record({ id: name, label: json }), { maxLength: 3 })),
        rows: json,
        validation: fc.oneof(
          json,
          fc.record({
            min: json,
            max: json,
            pattern: fc.constantFrom('(', '(a+)+$', '\\1', 'a{1000}', '\u0000'),
          }),
        ),
        settings: json,
      },
      { requiredKeys: [] },
    );
    const definition = fc.oneof(
      json,
      fc.record(
        {
          sections: fc.array(fc.record({ id: name, questions: fc.array(question, { maxLength: 3 }) })),
          logic: json,
        },
        { requiredKeys: [] },
      ),
    );
    const answer = fc.oneof(json, ...Object.values(ANSWERS), fc.record({ upload_ids: json }));
    const input = fc.record(
      {
        answers: fc.oneof(json, fc.dictionary(fc.oneof(name, fc.constantFrom(...QUESTION_TYPES)), answer)),
        version: fc.oneof(json, fc.constantFrom(2 ** 31, 1e15)),
        client_response_id: json,
        response_id: fc.oneof(json, fc.uuid()),
        started_at: json,
        share_token: json,
      },
      { requiredKeys: ['answers'] },
    );
    const query = fc.record({
      key: fc.constantFrom(
        'from',
        'to',
        'tz',
        'version',
        'q',
        'columns',
        'cursor',
        'filter[number]',
        'filter[date]',
        'filter[short_text]',
      ),
      value: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('9'.repeat(30), '%', '\\', '\u0000', '0001-01-01T00:00:00Z'),
      ),
    });
    const report = fc.record(
      {
        columns: fc.oneof(json, fc.array(fc.constantFrom(...QUESTION_TYPES))),
        filters: json,
        group_by: json,
        metrics: json,
        charts: json,
        suppress_below: json,
      },
      { requiredKeys: [] },
    );
    const seen = new Set<number>();
    const run = async (method: string, path: string, body?: unknown) => {
      const { status, text } = await owner.api.request(method, path, { body });
      seen.add(status);
      expect([method, path, status < 500 ? 'fine' : text]).toEqual([method, path, 'fine']);
    };
    await fc.assert(
      fc.asyncProperty(definition, input, query, report, async (plain, body, { key, value }, shown) => {
        await run('PATCH', `/forms/${formId}`, { definition: plain });
        await run('POST', `/forms/${formId}/publish`, {});
        await run('POST', `/forms/${open.id}/submit`, body);
        const search = `?${encodeURIComponent(key)}=${encodeURIComponent(value.toWellFormed())}`;
        for (const route of ['responses', 'analytics', 'export.csv', 'export.xlsx', 'report_snapshot'])
          await run('GET', `/forms/${open.id}/${route}${search}`);
        await run('POST', `/forms/${open.id}/reports`, { name: 'Any', definition: shown });
      }),
      { numRuns: runs(40) },
    );
    expect([200, 422].every((status) => seen.has(status))).toBe(true);
  });
});
