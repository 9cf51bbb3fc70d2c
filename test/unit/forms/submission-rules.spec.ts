import { DEFAULT_SETTINGS } from '../../../src/modules/forms/input/form.dto.js';
import {
  type AcceptingForm,
  type EarlierResponse,
  isClosedByQuota,
  isClosedByWindow,
  isDecidedByForm,
  type NewResponse,
  rejectReuse,
  replace,
  type SubmissionFacts,
  submit,
} from '../../../src/modules/forms/model/form-rules.js';
import { ApiError } from '../../../src/platform/http/errors.js';

const now = new Date('2026-11-29T12:34:56.789Z');
const BEFORE = '2026-11-29T12:34:56.788Z';
const AFTER = '2026-11-29T12:34:56.790Z';

type Change = Partial<AcceptingForm['settings']> & Partial<Omit<AcceptingForm, 'settings'>>;

/** A published form. @param change of its columns and settings */
const form = ({ state, accepting, current_version, ...settings }: Change = {}): AcceptingForm => ({
  state: state ?? 'published',
  accepting: accepting ?? true,
  current_version: current_version ?? 2,
  draft_rev: 7,
  settings: { ...DEFAULT_SETTINGS, ...settings },
});

const response = (change: Partial<NewResponse> = {}): NewResponse => ({
  id: 'r',
  userId: 'ann',
  clientResponseId: null,
  version: 1,
  checkedVersion: 2,
  answers: {},
  searchText: '',
  durationSeconds: null,
  uploads: [],
  ...change,
});

const facts = (change: Partial<SubmissionFacts> = {}): SubmissionFacts => ({
  hasFiles: true,
  own: null,
  isKnown: false,
  count: 0,
  ...change,
});

/** The code of an error with the members of its body, or what a rule returned. */
function outcomeOf(result: unknown): unknown {
  if (!(result instanceof ApiError)) return result;
  const { error, message: _, ...more } = result.body;
  return { error, ...more };
}

const closed = (reason: string, more: object = {}) => ({ error: 'not_accepting', reason, ...more });

describe('a form accepts no responses', () => {
  const cases: [Change, object][] = [
    [{ state: 'archived', accepting: false }, closed('archived')],
    [{ state: 'draft' }, { error: 'not_found' }],
    [{ accepting: false }, closed('closed')],
    [
      { accepting: false, closed_message: 'It is over.' },
      closed('closed', { closed_message: 'It is over.' }),
    ],
    [{ opens_at: AFTER }, closed('not_open')],
    [{ closes_at: now.toISOString() }, closed('closed')],
    [{ closes_at: BEFORE }, closed('closed')],
  ];
  it.each(cases)('%j: %j', (change, error) => {
    const closedForm = form({ allow_edit: true, ...change });
    expect(outcomeOf(submit(closedForm, facts(), response(), now))).toEqual(error);
    const known = { isOwn: true, hasFiles: true };
    expect(outcomeOf(replace(closedForm, known, response(), now))).toEqual(error);
  });

  it('and accepts them from the start of the window to its end', () => {
    const open = form({ opens_at: now.toISOString(), closes_at: AFTER });
    expect(submit(open, facts(), response(), now)).toMatchObject({ submittedAt: now });
  });
});

describe('a new response', () => {
  it('names the respondent and the time, unless the form is anonymous', () => {
    const stored = { respondentId: 'ann', submittedAt: now, fillsForm: false, highestCount: null };
    expect(submit(form(), facts(), response(), now)).toEqual(stored);
    expect(submit(form({ anonymous: true }), facts(), response(), now)).toEqual({
      ...stored,
      respondentId: null,
      submittedAt: new Date('2026-11-29T12:34:00Z'),
    });
  });

  it('is outdated after a publication since the check of its answers', () => {
    expect(submit(form({ current_version: 3 }), facts(), response(), now)).toBe('outdated');
  });

  const rejections: [Change, Partial<SubmissionFacts>, object | null][] = [
    [{ max_responses: 2 }, { count: 1 }, null],
    [{ max_responses: 2 }, { count: 2 }, closed('full')],
    [{}, { hasFiles: false }, { error: 'upload_used' }],
    [{ one_per_user: true }, {}, null],
    [{ one_per_user: true }, { isKnown: true }, { error: 'already_submitted' }],
    [{ one_per_user: true }, { isKnown: true, own: 'r1' }, { error: 'already_submitted', response_id: 'r1' }],
    [
      { one_per_user: true },
      { own: 'r1', hasFiles: false },
      { error: 'already_submitted', response_id: 'r1' },
    ],
    [{ one_per_user: true, anonymous: true }, { isKnown: true, own: 'r1' }, { error: 'already_submitted' }],
    [{ one_per_user: true, anonymous: true, max_responses: 1 }, { isKnown: true, count: 1 }, closed('full')],
    [{ one_per_user: false }, { isKnown: true, own: 'r1' }, null],
  ];
  it.each(rejections)('%j with %j: %j', (settings, known, error) => {
    const result = submit(form(settings), facts(known), response(), now);
    if (error) expect(outcomeOf(result)).toEqual(error);
    else expect(result).toMatchObject({ submittedAt: now });
  });

  it('fills the form with the last place', () => {
    const filled = [0, 1, 2].map((count) =>
      submit(form({ max_responses: 3 }), facts({ count }), response(), now),
    );
    expect(filled).toMatchObject([
      { fillsForm: false, highestCount: 1 },
      { fillsForm: false, highestCount: 1 },
      { fillsForm: true, highestCount: 2 },
    ]);
  });

  it.each([
    [{}, {}, true],
    [{ max_responses: 5 }, {}, true],
    [{ one_per_user: true }, {}, false],
    [{}, { uploads: ['u'] }, false],
    [{ closes_at: '2026-11-29T12:35:30Z' }, {}, false],
    [{ closes_at: '2026-11-29T12:36:30Z' }, {}, true],
  ])('of a form with %j and %j is decided by the form alone: %s', (settings, change, expected) => {
    expect(isDecidedByForm(form(settings).settings, response(change), now)).toBe(expected);
  });
});

describe('a response with the client_response_id of a stored one', () => {
  const earlier = (change: Partial<EarlierResponse> = {}): EarlierResponse => ({
    id: 'r',
    version: 1,
    submitted_at: now,
    respondent_id: 'ann',
    has_same_answers: true,
    ...change,
  });

  it.each([
    [{}, {}, null],
    [{}, { has_same_answers: false }, { error: 'client_response_id_reused' }],
    [{}, { respondent_id: 'ben' }, { error: 'client_response_id_reused' }],
    [{ anonymous: true }, { respondent_id: null }, null],
    [{}, { respondent_id: null }, { error: 'client_response_id_reused' }],
  ])('settings %j, stored %j: %j', (settings, change, error) => {
    expect(outcomeOf(rejectReuse(form(settings), earlier(change), response()))).toEqual(error);
  });
});

describe('other answers of a response', () => {
  const known = { isOwn: true, hasFiles: true };
  it.each([
    [{ allow_edit: true }, known, null],
    [{}, known, { error: 'not_editable' }],
    [{ current_version: 3 }, known, { error: 'not_editable' }],
    [{ allow_edit: true, current_version: 3 }, { ...known, isOwn: false }, 'outdated'],
    [{ allow_edit: true }, { isOwn: false, hasFiles: false }, { error: 'not_found' }],
    [{ allow_edit: true }, { ...known, hasFiles: false }, { error: 'upload_used' }],
  ])('%j with %j: %j', (change, state, expected) => {
    expect(outcomeOf(replace(form(change), state, response(), now))).toEqual(expected);
  });
});

describe('a closure that no user requests', () => {
  const settings = (max_responses: number | null) => ({ ...DEFAULT_SETTINGS, max_responses });

  it.each([
    [null, 5, true],
    [5, 4, true],
    [5, 5, false],
  ])('by the window, with the quota %s and %d responses: %s', (quota, count, expected) => {
    expect(isClosedByWindow(settings(quota), count)).toBe(expected);
  });

  it.each([
    [true, null, 3, 3, true],
    [true, 4, 2, 3, true],
    [true, 3, 2, 3, false],
    [true, null, 4, 3, false],
    [false, null, 3, 3, false],
    [true, 4, null, 3, false],
  ])(
    'by settings: accepting %s, quota %s, then %s, %d responses: %s',
    (accepting, before, after, count, expected) => {
      const closedBy = isClosedByQuota({ accepting, settings: settings(before) }, settings(after), count);
      expect(closedBy).toBe(expected);
    },
  );
});
