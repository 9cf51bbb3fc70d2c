import fc from 'fast-check';
import { type TestUser, TestApp } from '../../support/app.ts';
import { describedOperations, fillPath, openApi } from '../../support/contract/operations.ts';
import { runs } from '../../support/property-runs.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** Names that a JSON object may have as its own and that libraries look up on every object. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);

/** An object as its entries, because an object literal cannot have `__proto__` as an own key. */
type Json = null | boolean | number | string | Json[] | { entries: [string, Json][] };

const object = (...entries: [string, Json][]): Json => ({ entries });

function text(json: Json): string {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(text).join(',')}]`;
  return `{${json.entries.map(([key, value]) => `${JSON.stringify(key)}:${text(value)}`).join(',')}}`;
}

const JSON_OPERATIONS = describedOperations().flatMap(({ method, path, spec }) => {
  const schema = spec.requestBody?.content?.['application/json']?.schema;
  // Operations of SCIM need another token and are tested elsewhere.
  return schema && !path.includes('/scim/v2/') ? [{ method, path, fields: propertiesOf(schema) }] : [];
});

function propertiesOf(schema: any): string[] {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1];
  const resolved = name ? openApi().components.schemas[name] : schema;
  const parts = [...(resolved.allOf ?? []), ...(resolved.anyOf ?? []), ...(resolved.oneOf ?? [])];
  return [...new Set([...Object.keys(resolved.properties ?? {}), ...parts.flatMap(propertiesOf)])];
}

describe('JSON bodies with keys of Object.prototype', () => {
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

  const send = async (operation: { method: string; path: string }, body: Json) => {
    const path = fillPath(operation.path.replace('/apis/v1', ''), ID);
    const response = await alice.api.request(operation.method, path, { raw: text(body) });
    // The other requests need a session, which this may have ended.
    if (path.startsWith('/auth/')) [alice] = await app.tenant('acme', 'alice');
    else expect(response.status).not.toBe(401);
    return { request: `${operation.method} ${path} ${text(body)}`, status: response.status };
  };

  it('are read by more than forty operations', () => expect(JSON_OPERATIONS.length).toBeGreaterThan(40));

  test.each([['constructor'], INHERITED])('%s: never a 500', async (...keys) => {
    const hostile = object(...keys.map((key): [string, Json] => [key, 1]));
    const key = keys[0]!;
    const failed = [];
    for (const operation of JSON_OPERATIONS) {
      const bodies = [
        object([key, 1], ['extra', hostile], ['list', [hostile, [hostile]]]),
        object(...operation.fields.map((field): [string, Json] => [field, hostile])),
        object(...operation.fields.map((field): [string, Json] => [field, [hostile]])),
        object(...operation.fields.map((field): [string, Json] => [field, key])),
      ];
      for (const body of bodies) {
        const result = await send(operation, body);
        if (result.status === 500) failed.push(result.request);
      }
    }
    expect(failed).toEqual([]);
  });

  it('change nothing, like any unknown field', async () => {
    const body = object(['title', 'Plain'], ['extra', object(['constructor', 1])], ['__proto__', object()]);
    const response = await alice.api.post('/notes', undefined, { raw: text(body) });
    expect([response.status, response.body.note.title]).toEqual([201, 'Plain']);
  });

  it('are safe in any combination', async () => {
    const value = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<Json>(null, true, 0, -1.5, '', ID, ...INHERITED),
        fc.array(tie('json'), { maxLength: 3 }),
        fc
          .array(fc.tuple(fc.constantFrom(...INHERITED, 'id', 'type', 'length', 'then'), tie('json')), {
            maxLength: 3,
          })
          .map((entries) => object(...entries)),
      ),
    })).json;
    const request = fc.constantFrom(...JSON_OPERATIONS).chain((operation) =>
      fc.record({
        operation: fc.constant(operation),
        entries: fc.array(fc.tuple(fc.constantFrom(...operation.fields, ...INHERITED), value), {
          maxLength: 6,
        }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(request, async ({ operation, entries }) => {
        expect(await send(operation, object(...entries))).not.toMatchObject({ status: 500 });
      }),
      { numRuns: runs(300) },
    );
  });

  test('errors of the bodies of deletions are documented', async () => {
    const bodies = [
      '[]',
      '"x"',
      String.raw`{"x":"\u0000"}`,
      String.raw`{"base_revision":"\ud800"}`,
      '{',
      'null',
    ];
    const found = new Set<string>();
    for (const { method, path, spec } of describedOperations()) {
      const isDeletion = method === 'DELETE' && spec.requestBody?.content?.['application/json'];
      if (!isDeletion || path.includes('/scim/v2/')) continue;
      for (const raw of bodies) {
        const { status, body } = await alice.api.request(method, fillPath(path.replace('/apis/v1', ''), ID), {
          raw,
        });
        found.add(body.error);
        expect([method, path, raw, status, JSON.stringify(spec.responses[status])]).toEqual([
          method,
          path,
          raw,
          status,
          expect.stringContaining(`\`${body.error}\``),
        ]);
      }
    }
    expect(found).toContain('validation_failed');
  });
});
