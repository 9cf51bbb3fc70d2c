import { AnswerChecker, checkDefinition, ExportColumns, Summaries } from '../../../src/lib/forms/index.js';
import { definitionOf, option } from '../../support/domains/forms.ts';

const q = (id: string, type: string, more: object = {}) => ({ id, type, title: id.toUpperCase(), ...more });

function definition(questions: object[], logic: object[] = []) {
  const checked = checkDefinition(definitionOf(questions, logic));
  expect(checked.problems).toEqual([]);
  return checked.definition;
}

const checker = (questions: object[], logic: object[] = []) =>
  new AnswerChecker(definition(questions, logic));

/** The canonical answer, or the code of the problem. */
function answer(type: string, value: unknown, more: object = {}): unknown {
  const { answers, problems } = checker([q('a', type, more)]).check({ a: value });
  return problems.length > 0 ? `! ${problems[0]!.code}` : answers['a'];
}

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const options = [option('x'), option('y'), option('z')];

describe('answers', () => {
  test.each([
    ['short_text', 'as given ', 'as given ', {}],
    ['short_text', '  ', undefined, {}],
    ['short_text', '\u200b', undefined, {}],
    ['short_text', ' \u3164\u2800', undefined, {}],
    ['long_text', '\u2060\n\ufe0f', undefined, {}],
    ['short_text', '\ud83d\ude00', '\ud83d\ude00', {}],
    ['short_text', 'two\nlines', '! one_line', {}],
    ['long_text', 'two\r\nlines', 'two\r\nlines', {}],
    ['long_text', 'bell\u0007', '! characters', {}],
    ['long_text', 'x'.repeat(10_001), '! max_length', {}],
    ['short_text', 'AB12', 'AB12', { validation: { pattern: '[A-Z]{2}\\d+' } }],
    ['short_text', 'xAB12', '! pattern', { validation: { pattern: '[A-Z]{2}\\d+' } }],
    ['short_text', 'a', '! min_length', { validation: { min_length: 2 } }],
    // Characters are code points: a rare ideograph and an emoji are one.
    ['short_text', '𠮷𠮷𠮷', '𠮷𠮷𠮷', { validation: { min_length: 2, max_length: 3 } }],
    ['short_text', '𠮷', '! min_length', { validation: { min_length: 2 } }],
    ['short_text', '𠮷ab😀', '! max_length', { validation: { max_length: 3 } }],
    ['short_text', '\u{20bb7}', '! min_length', { validation: { min_length: 2 } }],
    ['short_text', '\u{20bb7}'.repeat(3), '\u{20bb7}'.repeat(3), { validation: { max_length: 3 } }],
    ['short_text', '\u{20bb7}'.repeat(4), '! max_length', { validation: { max_length: 3 } }],
    ['long_text', '\u{1f600}'.repeat(10_000), '\u{1f600}'.repeat(10_000), {}],
    ['long_text', '\u{1f600}'.repeat(10_001), '! max_length', {}],
    ['email', ' ann@acme.example', 'ann@acme.example', {}],
    ['email', '\u202aann@acme.example\u200b', 'ann@acme.example', {}],
    ['email', 'mailto:ann@acme.example', 'ann@acme.example', {}],
    ['email', 'ann@acme', '! is_email', {}],
    ['email', 'ann-.b+c@x-y.acme.example', 'ann-.b+c@x-y.acme.example', {}],
    ['email', 'ann@-acme.example', '! is_email', {}],
    ['email', 'ann@acme-.example', '! is_email', {}],
    ['email', 'ann@acme.-example', '! is_email', {}],
    ['email', 'ann..b@acme.example', '! is_email', {}],
    ['email', '.ann@acme.example', '! is_email', {}],
    ['email', 'ann.@acme.example', '! is_email', {}],
    ['email', `${'a'.repeat(65)}@acme.example`, '! is_email', {}],
    ['phone', '+84 28 3829 (0)', '+84 28 3829 (0)', {}],
    ['phone', '\u0660\u0665\u0660\u0661\u0662\u0663', '\u0660\u0665\u0660\u0661\u0662\u0663', {}],
    ['phone', '\uff0b\uff14\uff17 55 50', '\uff0b\uff14\uff17 55 50', {}],
    ['phone', '\u202a+47\u00a055\u201150\u202c', '\u202a+47\u00a055\u201150\u202c', {}],
    ['phone', '123 ext 5', '123 ext 5', {}],
    ['phone', '12 ext', '! is_phone', {}],
    ['phone', 'call me', '! is_phone', {}],
    ['phone', '٠٥٠١٢٣٤', '٠٥٠١٢٣٤', {}],
    ['phone', '＋４７ ０５０１２３', '＋４７ ０５０１２３', {}],
    ['phone', '+47\u00a055\u202f50', '+47\u00a055\u202f50', {}],
    ['phone', '\u202a+1 201 555 0123\u202c', '\u202a+1 201 555 0123\u202c', {}],
    ['phone', '+1 201\u2011555\u20110123 ext. 5', '+1 201\u2011555\u20110123 ext. 5', {}],
    ['phone', '12 x', '! is_phone', {}],
    // An input that is left empty is no answer, of every type.
    ['number', '', undefined, {}],
    ['rating', '  ', undefined, {}],
    ['nps', null, undefined, {}],
    ['date_range', { from: '', to: '' }, undefined, {}],
    ['date_range', { from: null }, undefined, {}],
    ['date_range', {}, undefined, {}],
    ['multiple_choice', '', undefined, { options }],
    ['ranking', [], undefined, { options }],
    ['consent', '', undefined, {}],
    ['file', '', undefined, {}],
    ['url', 'https://acme.example/a?b', 'https://acme.example/a?b', {}],
    ['url', 'javascript:alert(1)', '! is_url', {}],
    ['color', '#2F80ED', '#2f80ed', {}],
    ['color', 'red', '! is_color', {}],
    ['number', -0, 0, {}],
    ['number', '3', '! is_number', {}],
    ['number', 2.5, '! is_int', { validation: { integer: true } }],
    ['number', 11, '! max', { validation: { max: 10 } }],
    ['linear_scale', 6, '! is_int', {}],
    ['rating', 5, 5, {}],
    ['nps', 0, 0, {}],
    ['nps', 11, '! is_int', {}],
    ['date', '2024-02-29', '2024-02-29', {}],
    ['date', '2023-02-29', '! is_date', {}],
    ['date', '2024-01-01', '! min', { validation: { min: '2024-01-02' } }],
    ['time', '24:00', '! is_time', {}],
    ['time', '09:30', '09:30', {}],
    ['date_range', { from: '2024-01-02', to: '2024-01-01' }, '! is_date_range', {}],
    [
      'date_range',
      { from: '2024-01-01', to: '2024-01-02', x: 1 },
      { from: '2024-01-01', to: '2024-01-02' },
      {},
    ],
    ['single_choice', 'x', 'x', { options }],
    ['dropdown', 'w', '! unknown_option', { options }],
    ['multiple_choice', ['z', 'x'], ['x', 'z'], { options }],
    ['multiple_choice', ['x', 'x'], '! unique', { options }],
    ['multiple_choice', ['x'], '! min_choices', { options, validation: { min_choices: 2 } }],
    ['ranking', ['z', 'x', 'y'], ['z', 'x', 'y'], { options }],
    ['ranking', ['z', 'x'], '! all_options', { options }],
    ['matrix', { x: 'y' }, { x: 'y' }, { options, rows: options }],
    ['matrix', { x: 'y' }, '! all_rows', { options, rows: options, validation: { all_rows: true } }],
    [
      'matrix',
      { x: ['y', 'x'] },
      { x: ['y', 'x'] },
      { options, rows: options, settings: { multiple: true } },
    ],
    ['matrix', { w: 'y' }, '! unknown_row', { options, rows: options }],
    ['url', '\u202a https://x.example/a\u202c', 'https://x.example/a', {}],
    ['url', '\u200bjavascript:alert(1)', '! is_url', {}],
    ['url', '\u{e0001}https://x.example/a\u{e007f}', 'https://x.example/a', {}],
    ['url', '\u200b', undefined, {}],
    ['short_text', 'Ma\u0308rz', 'M\u00e4rz', { validation: { pattern: '\\p{L}{4}' } }],
    ['short_text', 'a\u0308', '! min_length', { validation: { min_length: 2 } }],
    ['long_text', 'a\u0308', '\u00e4', { validation: { max_length: 1 } }],
    // Rules of a text hold for texts in a fixed form too, in their canonical form.
    ['email', ' ann@acme.example', 'ann@acme.example', { validation: { pattern: '.+@acme\\.example' } }],
    ['email', 'ann@other.example', '! pattern', { validation: { pattern: '.+@acme\\.example' } }],
    ['email', 'ann@acme', '! is_email', { validation: { pattern: '.+@acme\\.example' } }],
    ['phone', '+84 28 3829', '! pattern', { validation: { pattern: '\\+49.*' } }],
    ['phone', '112', '! min_length', { validation: { min_length: 5 } }],
    ['url', 'https://x.example/a', '! max_length', { validation: { max_length: 10 } }],
    ['url', 'https://x.example/a', 'https://x.example/a', { validation: { pattern: 'https:.*' } }],
    ['color', '#2F80ED', '! pattern', { validation: { pattern: '#ff.*' } }],
    ['consent', false, false, {}],
    ['consent', false, '! required', { required: true }],
    ['file', { upload_ids: [ID.toUpperCase()] }, { upload_ids: [ID] }, {}],
    ['file', { upload_ids: [ID, ID] }, '! unique', {}],
    ['file', { upload_ids: ['../x'] }, '! is_upload', {}],
    ['section_text', 'x', '! unknown_question', {}],
  ])('%s: %j becomes %j', (type, given, expected, more) => {
    expect(answer(type, given, more)).toEqual(expected);
  });

  test('the time to check an address does not grow with the square of its invisible characters', () => {
    const value = `x${'\u200b'.repeat(9_998)}x`;
    const start = performance.now();
    expect(answer('url', value)).toBe('! is_url');
    expect(performance.now() - start).toBeLessThan(200);
  });

  test('required questions, unknown questions and other values are reported', () => {
    const form = checker([q('a', 'number', { required: true }), q('b', 'number')]);
    expect(form.check({ b: 1 }).problems).toEqual([
      { path: 'a', code: 'required', message: 'must be answered' },
    ]);
    expect(form.check({ a: 1, z: 2 }).problems.map(({ code }: { code: string }) => code)).toEqual([
      'unknown_question',
    ]);
    expect(form.check([1]).problems[0]!.code).toBe('is_object');
    expect(form.check({ a: null }).problems[0]!.code).toBe('required');
  });

  test('hidden questions: answers are discarded and named, rules that depend on them do not hold', () => {
    const when = (question: string, operator: string, value?: unknown) => ({ question, operator, value });
    const form = checker(
      [q('c', 'number', { required: true }), q('b', 'number'), q('a', 'consent')],
      [
        { id: '1', action: 'show', target: 'b', conditions: [when('a', 'equals', true)] },
        {
          id: '2',
          action: 'skip',
          target: 'c',
          match: 'any',
          conditions: [when('b', 'not_answered'), when('b', 'less_than', 3)],
        },
      ],
    );
    expect(form.check({ a: false, b: 5, c: 'not checked' })).toEqual({
      answers: { a: false },
      discarded: ['c', 'b'],
      problems: [],
    });
    expect(form.check({ a: true, b: 5, c: 1 })).toEqual({
      answers: { a: true, b: 5, c: 1 },
      discarded: [],
      problems: [],
    });
    expect(form.check({ a: true, b: 5 }).problems[0]).toMatchObject({ path: 'c', code: 'required' });
    expect(form.check({ a: true, b: 1 }).problems).toEqual([]);
  });

  test.each([
    ['equals', 'Ma\u0308rz'],
    ['contains', 'a\u0308R'],
  ])('composed and decomposed text are one: %s', (operator, value) => {
    const conditions = [{ question: 'a', operator, value }];
    const form = checker(
      [q('a', 'short_text'), q('b', 'number')],
      [{ id: '1', action: 'show', target: 'b', conditions }],
    );
    for (const a of ['Ma\u0308rz', 'M\u00e4rz'])
      expect(form.check({ a, b: 5 }).answers).toEqual({ a: 'M\u00e4rz', b: 5 });
  });

  test.each([
    ['straße', 'HAUPTSTRASSE 5'],
    ['οδος', 'ΟΔΟΣ 5'],
    ['yes', 'ＹＥＳ'],
    ['final', 'my ﬁnal'],
  ])('contains %s regardless of case and of variants: %s', (value, given) => {
    const conditions = [{ question: 'a', operator: 'contains', value }];
    const form = checker(
      [q('a', 'short_text'), q('b', 'number')],
      [{ id: '1', action: 'require', target: 'b', conditions }],
    );
    expect(form.check({ a: given }).problems).toMatchObject([{ path: 'b', code: 'required' }]);
    expect(form.check({ a: 'other' }).problems).toEqual([]);
  });

  test('a rule can require an answer, and hide a whole section', () => {
    const checked = checkDefinition({
      sections: [
        { id: 's1', questions: [q('a', 'consent'), q('b', 'number')] },
        { id: 's2', questions: [q('c', 'number', { required: true })] },
      ],
      logic: [
        {
          id: '1',
          action: 'require',
          target: 'b',
          conditions: [{ question: 'a', operator: 'equals', value: true }],
        },
        {
          id: '2',
          action: 'show',
          target: 's2',
          conditions: [{ question: 'b', operator: 'at_least', value: 1 }],
        },
      ],
    });
    expect(checked.problems).toEqual([]);
    const form = new AnswerChecker(checked.definition);
    expect(form.check({ a: true }).problems).toEqual([
      { path: 'b', code: 'required', message: 'must be answered' },
    ]);
    expect(form.check({ a: false, c: 1 }).discarded).toEqual(['c']);
    expect(form.check({ b: 1 }).problems[0]).toMatchObject({ path: 'c', code: 'required' });
  });

  test('a consent that a rule requires must be given', () => {
    const conditions = [{ question: 'a', operator: 'equals', value: 1 }];
    const checked = checkDefinition({
      sections: [{ id: 's', questions: [q('a', 'number'), q('b', 'consent')] }],
      logic: [{ id: '1', action: 'require', target: 'b', conditions }],
    });
    const form = new AnswerChecker(checked.definition);
    expect(form.check({ a: 1, b: false }).problems).toMatchObject([{ path: 'b', code: 'required' }]);
    expect(form.check({ a: 1, b: true }).answers).toEqual({ a: 1, b: true });
    expect(form.check({ a: 2, b: false }).answers).toEqual({ a: 2, b: false });
  });
});

describe('columns and summaries', () => {
  const first = definition([
    q('a', 'number'),
    q('gone', 'short_text', { title: 'Same' }),
    q('m', 'matrix', { rows: [option('r1'), option('r2')], options }),
  ]);
  const second = definition([
    q('same', 'short_text', { title: 'Same' }),
    q('m', 'matrix', { rows: [option('r2'), option('r3')], options }),
    q('a', 'single_choice', { options: [option('x', 'Ex')] }),
  ]);
  const versions = [
    { version: 1, definition: first },
    { version: 2, definition: second },
  ];

  test('all versions have their columns: removed ones stay, equal titles and changed types get columns of their own', () => {
    const columns = new ExportColumns(versions);
    expect(columns.titles).toEqual([
      'Same (same, short_text)',
      'M [R2]',
      'M [R3]',
      'M [R1]',
      'A (a, single_choice)',
      'A (a, number)',
      'Same (gone, short_text)',
    ]);
    const shown = (version: number, answers: any) =>
      columns.cells(version, answers).map((cell: any) => cell?.value ?? null);
    expect(shown(1, { a: 3, gone: 'g', m: { r1: 'x', r2: 'y' } })).toEqual([
      null,
      'Y',
      null,
      'X',
      null,
      3,
      'g',
    ]);
    expect(shown(2, { a: 'x', same: 's', m: { r3: 'z' } })).toEqual(['s', null, 'Z', null, 'Ex', null, null]);
    expect(new ExportColumns(versions, ['same']).titles).toEqual(['Same']);
  });

  test('counts, statistics and removed questions', () => {
    const form = definition([
      q('n', 'number'),
      q('p', 'nps'),
      q('o', 'multiple_choice', { options }),
      q('r', 'ranking', { options }),
      q('t', 'short_text'),
      q('d', 'date'),
    ]);
    const summaries = new Summaries([{ version: 1, definition: form }]);
    const ranking = ['y', 'x', 'z'];
    summaries.add(1, { n: 1, p: 10, o: ['x', 'y'], r: ranking, t: 'first', d: '2024-05-01' });
    summaries.add(1, { n: 4, p: 3, o: ['x'], t: 'second', d: '2023-05-01' });
    summaries.add(1, { n: 1 });
    const [n, p, o, r, t, d] = summaries.all() as any[];
    expect(n).toMatchObject({
      answered: 3,
      skipped: 0,
      statistics: { min: 1, max: 4, mean: 2, median: 1, standard_deviation: 1.41 },
    });
    expect(p).toMatchObject({ skipped: 1, nps: { promoters: 1, passives: 0, detractors: 1, score: 0 } });
    expect(o.options.map(({ count, percent }: any) => [count, percent])).toEqual([
      [2, 100],
      [1, 50],
      [0, 0],
    ]);
    expect(r.ranks.map(({ id, count, mean_rank }: any) => [id, count, mean_rank])).toEqual([
      ['y', 1, 1],
      ['x', 1, 2],
      ['z', 1, 3],
    ]);
    expect(t.samples).toEqual(['second', 'first']);
    expect(d.range).toEqual({ first: '2023-05-01', last: '2024-05-01' });
    const both = new Summaries(versions);
    both.add(1, { a: 3 });
    both.add(2, { a: 'x' });
    expect(
      both
        .all()
        .map(({ id, type, removed, answered, skipped }: any) => [id, type, removed, answered, skipped]),
    ).toEqual([
      ['same', 'short_text', false, 0, 1],
      ['m', 'matrix', false, 0, 2],
      ['a', 'single_choice', false, 1, 0],
      ['a', 'number', true, 1, 0],
      ['gone', 'short_text', true, 0, 1],
    ]);
  });
});
