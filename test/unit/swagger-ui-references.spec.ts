import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { resolveOwnReferences } from '../../src/docs/serve-docs.js';

type Operations = Record<string, object>;

const openapi = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Operations>;
  webhooks: Record<string, Operations>;
};
const { resolveSubtree } = resolveOwnReferences().fn;

const resolve = async (document: unknown, ...path: string[]): Promise<unknown> =>
  (await resolveSubtree(document as never, path)).spec;

/** References to the document itself. A circular one would not end, one that leads nowhere would throw. */
const referencesIn = (value: unknown): string[] => JSON.stringify(value).match(/"\$ref":"#[^"]*"/g) ?? [];

describe('references on the page of Swagger UI', () => {
  test.each(['paths', 'webhooks'] as const)('each operation of the %s resolves whole', async (section) => {
    expect(referencesIn(openapi[section])).not.toEqual([]);
    for (const [path, operations] of Object.entries(openapi[section]))
      for (const method of Object.keys(operations))
        expect(referencesIn(await resolve(openapi, section, path, method))).toEqual([]);
  });

  test('a reference becomes what it names, within lists and within what other references name', async () => {
    const document = {
      paths: { '/a~b': { get: { parameters: [{ $ref: '#/components/parameters/of~1a~0b' }] } } },
      components: {
        parameters: { 'of/a~b': { name: 'limit', schema: { $ref: '#/components/schemas/Limit' } } },
        schemas: { Limit: { type: 'integer', description: 'Items of a page.' } },
      },
    };
    expect(await resolve(document, 'paths', '/a~b', 'get')).toEqual({
      parameters: [{ name: 'limit', schema: { type: 'integer', description: 'Items of a page.' } }],
    });
  });

  test('a field beside a reference precedes that of the component', async () => {
    const document = {
      of: { $ref: '#/schema', description: 'Its own.' },
      schema: { type: 'string', description: 'Of the component.' },
    };
    expect(await resolve(document, 'of')).toEqual({ type: 'string', description: 'Its own.' });
  });

  test('an attribute named $ref of an example stays', async () => {
    const example = {
      members: [{ $ref: 'https://workspace.example/Users/1', properties: { $ref: { type: 'string' } } }],
    };
    expect(await resolve({ example }, 'example')).toEqual(example);
  });

  test('the function uses nothing outside of itself, because the page contains its text', async () => {
    const alone = runInNewContext(`(${resolveOwnReferences.toString()})()`) as ReturnType<
      typeof resolveOwnReferences
    >;
    const document = { of: { $ref: '#/to' }, to: { type: 'null' } };
    expect((await alone.fn.resolveSubtree(document, ['of'])).spec).toMatchObject({ type: 'null' });
  });
});
