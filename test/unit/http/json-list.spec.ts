import fc from 'fast-check';
import { jsonList } from '../../../src/platform/http/json-reply.js';

describe('jsonList', () => {
  test('is the JSON of the object, to the byte, whatever the items hold', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z_]{1,12}$/), { minLength: 1, maxLength: 3 });
    const items = fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 6 });
    fc.assert(
      fc.property(names, items, fc.option(fc.string({ unit: 'binary' })), (listNames, values, next) => {
        const text = values.map((value) => JSON.stringify(value));
        const bytes = jsonList(listNames, text, `"next":${JSON.stringify(next)}}`);
        const expected = `{${listNames.map((name) => `"${name}":[${text.join(',')}],`).join('')}"next":${JSON.stringify(next)}}`;
        expect(bytes.equals(Buffer.from(expected))).toBe(true);
      }),
    );
  });
});
