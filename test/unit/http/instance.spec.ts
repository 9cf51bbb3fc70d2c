import { plainToInstance, Transform, Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import { instanceOf } from '../../../src/platform/http/body/instance.js';
import { EachAs } from '../../../src/platform/http/input.decorators.js';

class Part {
  name!: string;
}
IsString()(Part.prototype, 'name');
Transform(({ value }) => `${value}!`)(Part.prototype, 'name');

class Base {
  inherited?: string;
}
IsOptional()(Base.prototype, 'inherited');

class Input extends Base {
  part?: Part;
  parts?: Part[];
  free?: Record<string, unknown>;
  text: string = 'default';
  twice?: string;
}
for (const name of ['part', 'parts']) {
  Type(() => Part)(Input.prototype, name);
  ValidateNested()(Input.prototype, name);
}
ArrayMaxSize(2)(Input.prototype, 'parts');
IsObject()(Input.prototype, 'free');
IsString()(Input.prototype, 'text');
IsString()(Input.prototype, 'twice');
Transform(({ value }) => `${value}a`)(Input.prototype, 'twice');
Transform(({ value, obj }) => `${value}b${(obj as { text: string }).text}`)(Input.prototype, 'twice');

const PLAIN = {
  twice: '0',
  text: 'given',
  inherited: 'yes',
  part: { name: 'one', other: 1 },
  parts: [{ name: 'two' }, 'no object'],
  free: { any: { thing: [1, null] } },
};

describe('an instance of an input class', () => {
  test('equals that of class-transformer, without the fields that no rule declares', () => {
    const expected = plainToInstance(Input, PLAIN, { exposeUnsetFields: false });
    delete (expected.part as { other?: number }).other;
    const made = instanceOf(Input, { ...PLAIN, unknown: 1, constructor: 2 });
    expect(made).toEqual(expected);
    expect(Object.keys(made)).toEqual(Object.keys(expected));
    expect([made.part, made.parts![0]].every((part) => part instanceof Part)).toBe(true);
  });

  test('keeps defaults, and values without a class as they are', () => {
    const free = { a: 1 };
    const made = instanceOf(Input, { free });
    expect([made.text, made.free === free]).toEqual(['default', true]);
  });

  test('undeclared keys are not read', () => {
    const hostile = {
      text: 'given',
      get unknown(): never {
        throw new Error('read');
      },
    };
    expect(instanceOf(Input, hostile).text).toBe('given');
  });

  test('a list beyond its maximum is converted no further than needed to reject it', () => {
    const made = instanceOf(Input, { parts: Array.from({ length: 1_000 }, () => ({ name: 'x' })) });
    expect(made.parts).toHaveLength(3);
    class List {
      list!: unknown[];
    }
    IsArray()(List.prototype, 'list');
    EachAs((entry) => [entry], 2)(List.prototype, 'list');
    expect(instanceOf(List, { list: [1, 2, 3, 4, 5] }).list).toEqual([[1], [2], [3]]);
  });
});
