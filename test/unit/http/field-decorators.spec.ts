import { ApiError } from '../../../src/platform/http/errors.js';
import {
  EmailAddress,
  Entries,
  Flag,
  IntegerFrom,
  Labels,
  Line,
  Name,
  OneOf,
  Optional,
  Text,
  Time,
  Uuid,
  VisibleOrEmpty,
} from '../../../src/platform/http/input.decorators.js';
import { validated } from '../../../src/platform/http/input.pipe.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

class Part {
  @Text(3) code!: string;
}

class Fields {
  @Optional() @Flag({ example: true }) flag: boolean = false;
  @Optional() @OneOf(['a', 'b'], { example: 'a' }) one?: 'a' | 'b';
  @Optional() @Text(5, { minLength: 2 }) text?: string;
  @Optional() @Text(5, { message: 'once must be given once' }) once?: string;
  @Optional() @IntegerFrom(1, 9, { example: 2 }) whole?: number;
  @Optional() @IntegerFrom(1, { default: 1 }) open?: number;
  @Optional() @EmailAddress() email?: string;
  @Optional() @Uuid({ example: ID }) id?: string;
  @Optional() @Time() time?: Date;
  @Optional() @Name(10, { example: 'Team' }) name?: string;
  @Optional() @Line(10, { example: 'Work' }) line?: string;
  @Optional() @VisibleOrEmpty() @Text(10) group?: string;
  @Optional() @Labels(2, 5, { required: false }) labels?: string[];
  @Optional() @Entries(Part, 2, { minItems: 1 }) parts?: Part[];
}

/** Code and message of the one error of a body, or null. */
function errorOf(body: object): [string, string] | null {
  try {
    validated(Fields, body);
    return null;
  } catch (error) {
    const [first] = (error as ApiError).extras.details ?? [];
    return [first!.code, first!.message];
  }
}

const documented = (key: string): unknown =>
  Reflect.getMetadata('swagger/apiModelProperties', Fields.prototype, key);

describe('field decorators', () => {
  it.each([
    {},
    { flag: true, one: 'b', text: 'ab', once: '', whole: 9, open: 1e9, id: ID },
    { line: ' ', group: '', labels: [] },
    { line: '⚓', group: 'a', labels: ['a', 'b'] },
    { email: ' mailto:ina@home.example\u200b' },
    { time: '9999-12-31T23:30:00-00:29' },
    { time: '2026-11-21T09:30:00Z', name: ' Team ', parts: [{ code: 'abc' }] },
  ])('accept %j', (body) => {
    expect(errorOf(body)).toBeNull();
  });

  it.each([
    [{ flag: 'true' }, 'is_boolean', 'flag must be a boolean value'],
    [{ flag: null }, 'is_boolean', 'flag must be a boolean value'],
    [{ one: 'c' }, 'is_in', 'one must be one of the following values: a, b'],
    [{ text: 1 }, 'is_string', 'text must be a string'],
    [{ text: 'a' }, 'is_length', 'text must be longer than or equal to 2 characters'],
    [{ once: ['a', 'b'] }, 'is_string', 'once must be given once'],
    [{ once: 'abcdef' }, 'max_length', 'once must be shorter than or equal to 5 characters'],
    [{ whole: 1.5 }, 'is_int', 'whole must be an integer number'],
    [{ whole: 0 }, 'min', 'whole must not be less than 1'],
    [{ whole: 10 }, 'max', 'whole must not be greater than 9'],
    [{ open: 0 }, 'min', 'open must not be less than 1'],
    [{ email: 'mailto:ina' }, 'is_email', 'email must be an e-mail address'],
    [{ id: 'x' }, 'is_uuid', 'id must be a UUID'],
    [
      { time: '2026-02-30T00:00:00Z' },
      'is_date',
      'time must be an RFC 3339 time such as 2026-11-21T09:30:00Z',
    ],
    [
      { time: '9999-12-31T23:30:00-00:30' },
      'is_date',
      'time must be an RFC 3339 time such as 2026-11-21T09:30:00Z',
    ],
    [{ line: '\u200b' }, 'matches', 'line must have a visible character or be empty'],
    [{ group: ' ' }, 'matches', 'group must have a visible character or be empty'],
    [{ labels: 'a' }, 'is_array', 'labels must be an array'],
    [{ labels: ['a', 'b', 'c'] }, 'array_max_size', 'labels must contain no more than 2 elements'],
    [{ labels: [1] }, 'is_string', 'each value in labels must be a string'],
    [
      { labels: [''] },
      'is_length',
      'each value in labels must be longer than or equal to 1 and shorter than or equal to 5 characters',
    ],
    [{ labels: ['a', '\u3164'] }, 'matches', 'each value in labels must have a visible character'],
    [{ parts: {} }, 'is_array', 'parts must be an array'],
    [{ parts: [] }, 'array_min_size', 'parts must contain at least 1 elements'],
    [
      { parts: ['x'] },
      'nested_validation',
      'each value in nested property parts must be either object or array',
    ],
    [{ parts: [{ code: 'abcd' }] }, 'max_length', 'code must be shorter than or equal to 3 characters'],
  ])('reject %j with %s', (body, code, message) => {
    expect(errorOf(body)).toEqual([code, message]);
  });

  it.each([
    ['flag', { required: false, example: true }],
    ['one', { enum: ['a', 'b'], required: false, example: 'a' }],
    ['text', { minLength: 2, maxLength: 5 }],
    ['whole', { type: 'integer', minimum: 1, maximum: 9, example: 2 }],
    ['open', { type: 'integer', minimum: 1, default: 1 }],
    ['id', { format: 'uuid', example: ID }],
    ['time', { type: String, format: 'date-time' }],
    ['name', { minLength: 1, maxLength: 10, example: 'Team' }],
    ['labels', { type: String, isArray: true, maxItems: 2, required: false }],
    ['parts', { type: Part, isArray: true, minItems: 1, maxItems: 2 }],
  ])('document %s', (key, docs) => {
    expect(documented(key)).toMatchObject(docs);
    expect(documented(key)).not.toHaveProperty('message');
  });
});

test.each([
  ['2027-06-01t10:00:00z', '2027-06-01T10:00:00.000Z'],
  ['2027-06-01t10:00:00.5+02:00', '2027-06-01T08:00:00.500Z'],
  ['2027-06-01T10:00:00Z', '2027-06-01T10:00:00.000Z'],
])('%s is a time of RFC 3339', (text, expected) => {
  expect(validated(Fields, { time: text }).time?.toISOString()).toBe(expected);
});

test.each(['2027-02-30t10:00:00z', '2027-06-01 10:00:00z', '2027-06-01t10:00z'])('%s is none', (text) => {
  expect(errorOf({ time: text })).not.toBeNull();
});
