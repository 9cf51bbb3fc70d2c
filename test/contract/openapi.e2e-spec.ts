import { describeApp } from '../../src/docs/describe-app.js';
import { ERROR_KINDS } from '../../src/platform/http/api-error.js';
import { describedOperations, openApi } from '../support/operations.ts';

/** A file to keep is described as nothing else: one media type that is not JSON, bytes, and the header with its name. */
function isFile({ content, headers }: any): boolean {
  const types = Object.keys(content ?? {});
  return (
    types.length === 1 &&
    types[0] !== 'application/json' &&
    content[types[0]!].schema?.format === 'binary' &&
    headers?.['Content-Disposition'] !== undefined
  );
}

describe('the OpenAPI description', () => {
  test('is that of the code (npm run openapi writes it anew)', async () => {
    expect(JSON.parse(JSON.stringify(await describeApp()))).toEqual(openApi());
  });

  test('every operation has an id, a summary, a tag, a success with a schema, and errors in the one shape', () => {
    for (const { method, path, spec } of describedOperations()) {
      const where = `${method} ${path}`;
      expect([where, spec.operationId, spec.summary, spec.tags]).toEqual([
        where,
        expect.stringMatching(/^[a-z][A-Za-z0-9]+$/),
        expect.any(String),
        [expect.any(String)],
      ]);
      expect([where, spec.security]).toEqual([where, expect.any(Array)]);
      const successes = Object.keys(spec.responses).filter((status) => status.startsWith('2'));
      // A file that is stored can be had in parts too, and need not be sent to who has it.
      const partial = spec.responses['206'] && isFile(spec.responses['206']);
      expect([where, successes.length]).toEqual([where, partial ? 2 : 1]);
      for (const [status, response] of Object.entries<any>(spec.responses)) {
        if ((status.startsWith('2') && isFile(response)) || (partial && status === '304')) continue;
        const content = response.content?.['application/json'];
        expect([where, status, content?.schema]).toEqual([where, status, expect.anything()]);
        if (!status.startsWith('2')) {
          expect(content.schema.$ref).toBe('#/components/schemas/ErrorResponse');
          expect(Object.keys(content.examples).length).toBeGreaterThan(0);
        }
      }
    }
  });

  test('every property of every schema has an example, or is made of others that have', () => {
    for (const [name, schema] of Object.entries<any>(openApi().components.schemas)) {
      for (const [property, value] of Object.entries<any>(schema.properties ?? {})) {
        const composed = value.$ref ?? value.allOf ?? value.items?.$ref ?? value.default;
        if (composed === undefined)
          expect([`${name}.${property}`, value]).toEqual([
            `${name}.${property}`,
            expect.objectContaining({ example: value.example }),
          ]);
        if (composed === undefined)
          expect([`${name}.${property}`, 'example' in value]).toEqual([`${name}.${property}`, true]);
      }
    }
  });

  test('every error that can be answered is described somewhere', () => {
    const described = new Set(
      describedOperations().flatMap(({ spec }) =>
        Object.entries<any>(spec.responses).flatMap(([status, response]) =>
          Object.keys(response.content?.['application/json']?.examples ?? {}).map(
            (code) => `${status} ${code}`,
          ),
        ),
      ),
    );
    const declared = ERROR_KINDS.map(({ status, code }) => `${status} ${code}`);
    expect(declared.filter((kind) => !described.has(kind))).toEqual([]);
  });
});
