import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { JsonReply } from '../../../src/platform/http/json-reply.js';
import { writeJson } from '../../../src/platform/http/replies/reply-writer.js';
import { ownBytes } from '../../../src/platform/memory/cache-size.js';

describe('JsonReply.namedList', () => {
  test('is the JSON of the object, to the byte, whatever the items hold', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z_]{1,12}$/), { minLength: 1, maxLength: 3 });
    const items = fc.array(fc.tuple(fc.jsonValue({ maxDepth: 2 }), fc.boolean()), { maxLength: 6 });
    fc.assert(
      fc.property(names, items, fc.option(fc.string({ unit: 'binary' })), (listNames, values, next) => {
        const text = values.map(([value]) => JSON.stringify(value));
        const given = values.map(([, isBytes], n) => (isBytes ? ownBytes(text[n]!) : text[n]!));
        const rest = next === null ? {} : { next };
        const { json } = JsonReply.namedList(listNames, given, rest);
        const members = [
          ...listNames.map((name) => `"${name}":[${text.join(',')}]`),
          ...(next === null ? [] : [`"next":${JSON.stringify(next)}`]),
        ];
        expect(Buffer.from(`{${members.join(',')}}`).equals(json as Buffer)).toBe(true);
        // The page has copies.
        for (const item of given) if (typeof item !== 'string') expect(item).toHaveLength(0);
      }),
    );
  });
});

describe('writeJson', () => {
  test('frees the bytes of a list after it has sent them, and no memory that they share', async () => {
    const { json } = JsonReply.namedList(['notes'], ['"é"'.repeat(100_000)], { next: null });
    const list = json as Buffer;
    const pooled = Buffer.from('{}');
    const expected = list.toString();
    let closed: Promise<unknown> | undefined;
    const server = createServer((request, response) => {
      closed = once(response, 'close');
      writeJson(response as never, 200, request.url === '/list' ? list : pooled);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const get = async (path: string) => {
      const text = await (await fetch(url + path)).text();
      await closed;
      return text;
    };
    try {
      expect(await get('/list')).toBe(expected);
      expect(await get('/pooled')).toBe('{}');
      expect([list.length, pooled.toString()]).toEqual([0, '{}']);
    } finally {
      server.close();
    }
  });
});
