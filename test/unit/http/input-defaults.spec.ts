import { IsArray, IsOptional, IsString } from 'class-validator';
import { validated } from '../../../src/platform/http/input.pipe.js';

class Input {
  text: string = 'default';
  list: string[] = [];
  other?: string | null;
}
for (const name of ['text', 'other']) {
  IsOptional()(Input.prototype, name);
  IsString()(Input.prototype, name);
}
IsOptional()(Input.prototype, 'list');
IsArray()(Input.prototype, 'list');

describe('fields with a default', () => {
  test.each([[{}], [{ text: null, list: null }]])('%j gives the default', (plain) => {
    expect(validated(Input, plain)).toEqual({ text: 'default', list: [] });
  });

  test('requests do not share a default', () => {
    validated(Input, { list: null }).list.push('of another request');
    expect(validated(Input, { list: null }).list).toEqual([]);
  });

  test('other fields keep null', () => {
    expect(validated(Input, { other: null }).other).toBeNull();
  });
});
