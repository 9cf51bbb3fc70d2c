import fc from 'fast-check';
import {
  AnswerChecker,
  checkComplete,
  checkDefinition,
  QUESTION_TYPES,
} from '../../../src/lib/forms/index.js';
import { definitionOf, option } from '../../support/domains/forms.ts';
import { runs } from '../../support/property-runs.ts';

const codes = (plain: unknown) =>
  checkDefinition(plain).problems.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);

const q = (id: string, type: string, more: object = {}) => ({ id, type, title: id, ...more });
const rule = (target: string, question: string, more: object = {}) => ({
  id: `${target}-${question}`,
  action: 'show',
  target,
  conditions: [{ question, operator: 'answered' }],
  ...more,
});

describe('definitions', () => {
  test('each type of question is accepted and keeps its members; unknown members are dropped', () => {
    const options = [option('a'), option('b')];
    const questions = QUESTION_TYPES.map((type: string) =>
      q(`q-${type}`, type, { options, rows: options, made_up: 1 }),
    );
    const { definition, problems } = checkDefinition(definitionOf(questions));
    expect(problems).toEqual([]);
    expect(definition.sections[0]!.questions.map(({ type }: { type: string }) => type)).toEqual(
      QUESTION_TYPES,
    );
    expect(JSON.stringify(definition)).not.toContain('made_up');
    expect(checkDefinition(definition)).toEqual({ definition, problems: [] });
    expect(checkComplete(definition)).toEqual([]);
  });

  test('errors have a path', () => {
    expect(codes([])).toEqual([' is_object']);
    expect(codes(definitionOf([q('a', 'signature')]))).toEqual(['sections.0.questions.0.type is_in']);
    expect(codes(definitionOf([q('a', 'number'), q('a', 'number')]))).toEqual([
      'sections.0.questions.1.id unique',
    ]);
    expect(codes(definitionOf([q('__proto__', 'number')]))).toEqual(['sections.0.questions.0.id is_id']);
    expect(codes(definitionOf([q('constructor', 'number')]))).toEqual(['sections.0.questions.0.id is_id']);
    const twice = { options: [option('x'), option('x')] };
    expect(codes(definitionOf([q('a', 'ranking', twice)]))).toEqual([
      'sections.0.questions.0.options.1.id unique',
    ]);
    const bounds = { validation: { min: 5, max: 1 } };
    expect(codes(definitionOf([q('a', 'number', bounds)]))).toEqual([
      'sections.0.questions.0.validation.max min',
    ]);
    for (const pattern of ['(', '(?=a)', 'a{1000}', '((a{100}){100}){100}', 'x'.repeat(501)])
      expect(codes(definitionOf([q('a', 'short_text', { validation: { pattern } })]))[0]).toMatch(
        /^sections\.0\.questions\.0\.validation\.pattern (is_pattern|max_length)$/,
      );
    const many = Array.from({ length: 301 }, (_, n) => q(`q${n}`, 'number'));
    expect(codes(definitionOf(many))).toEqual(['sections.0.questions array_max_size']);
    const long = Array.from({ length: 60 }, (_, n) => q(`q${n}`, 'number', { help: 'x'.repeat(9_999) }));
    expect(codes(definitionOf(long))).toEqual(['sections max_bytes']);
  });

  test('logic refers to known questions, compares comparable values, and has no cycle', () => {
    const choice = q('b', 'single_choice', { options: [option('x')] });
    const questions = [q('a', 'number'), choice, q('c', 'file'), q('d', 'time')];
    const of = (...logic: object[]) => codes(definitionOf(questions, logic));
    expect(of(rule('b', 'a'))).toEqual([]);
    expect(of(rule('b', 'z'))).toEqual(['logic.0.conditions.0.question unknown_question']);
    expect(of(rule('z', 'a'))).toEqual(['logic.0.target unknown_target']);
    expect(of(rule('main', 'a'))).toEqual(['logic acyclic']);
    expect(of(rule('a', 'b'), rule('b', 'a'))).toEqual(['logic acyclic']);
    const compare = (question: string, operator: string, value?: unknown) =>
      of({ id: 'r', action: 'show', target: 'c', conditions: [{ question, operator, value }] });
    expect(compare('a', 'at_least', 3)).toEqual([]);
    expect(compare('a', 'at_least', '3')).toEqual(['logic.0.conditions.0.value comparable']);
    expect(compare('a', 'contains', '3')).toEqual(['logic.0.conditions.0.operator is_in']);
    expect(compare('b', 'equals', 'y')).toEqual(['logic.0.conditions.0.value comparable']);
    expect(compare('b', 'in', ['x'])).toEqual([]);
    expect(compare('d', 'at_least', '23:59')).toEqual([]);
    expect(compare('d', 'at_most', '24:00')).toEqual([]);
    expect(compare('d', 'at_least', '9:00')).toEqual(['logic.0.conditions.0.value comparable']);
    expect(compare('c', 'equals', 'y')).toEqual(
      ['logic.0.target unknown_target'].slice(1).concat(['logic.0.conditions.0.operator is_in']),
    );
  });

  test('a draft may be incomplete, a published version may not', () => {
    const incomplete = checkDefinition(
      definitionOf([q('a', 'dropdown'), { id: 'b', type: 'number' }]),
    ).definition;
    expect(checkComplete(incomplete).map(({ path }: { path: string }) => path)).toEqual([
      'sections.0.questions.0',
      'sections.0.questions.1',
    ]);
    expect(checkComplete(checkDefinition({}).definition)[0]?.code).toBe('no_questions');
  });

  test.each(['', '  ', '\u200b', '\u3164'])('a published option or row has a visible label: %j', (label) => {
    const entries = (text: string) => [
      { id: 'x', label: 'X' },
      { id: 'y', label: text },
    ];
    const problems = (options: object[], rows: object[]) =>
      checkComplete(checkDefinition(definitionOf([q('a', 'matrix', { options, rows })])).definition);
    expect(problems(entries('Y'), entries('Z'))).toEqual([]);
    for (const found of [problems(entries(label), entries('Z')), problems(entries('Y'), entries(label))])
      expect(found).toMatchObject([{ path: 'sections.0.questions.0', code: 'incomplete' }]);
  });

  test('no input throws; an accepted definition stays the same when it is read again', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'main', '', '__proto__');
    const question = fc.record(
      {
        id,
        type: fc.constantFrom(...QUESTION_TYPES, 'nope'),
        title: fc.string(),
        required: fc.boolean(),
        options: fc.array(fc.record({ id, label: fc.string() }), { maxLength: 3 }),
        rows: fc.array(fc.record({ id, label: fc.string() }), { maxLength: 3 }),
        validation: fc.oneof(
          fc.object(),
          fc.record({ min: fc.integer(), max: fc.integer(), pattern: fc.string() }),
        ),
        settings: fc.object(),
      },
      { requiredKeys: ['id', 'type'] },
    );
    const condition = fc.record({
      question: id,
      operator: fc.constantFrom('answered', 'equals', 'in'),
      value: fc.anything(),
    });
    const logic = fc.array(
      fc.record({
        id,
        action: fc.constantFrom('show', 'skip', 'require'),
        target: id,
        conditions: fc.array(condition),
      }),
      { maxLength: 3 },
    );
    const plain = fc.oneof(
      fc.anything(),
      fc.record({
        sections: fc.array(fc.record({ id, questions: fc.array(question, { maxLength: 4 }) })),
        logic,
      }),
    );
    fc.assert(
      fc.property(plain, fc.dictionary(id, fc.anything()), (input, answers) => {
        const { definition, problems } = checkDefinition(input);
        if (problems.length > 0) return;
        expect(checkDefinition(JSON.parse(JSON.stringify(definition)))).toEqual({ definition, problems: [] });
        const checked = new AnswerChecker(definition).check(answers);
        if (checked.problems.length > 0) return;
        expect(new AnswerChecker(definition).check(checked.answers)).toEqual({ ...checked, discarded: [] });
      }),
      { numRuns: runs(500) },
    );
  });
});
