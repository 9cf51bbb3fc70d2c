import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { shareComponents } from '../../src/docs/components.js';
import { describeApp } from '../../src/docs/describe-app.js';
import { ERROR_KINDS } from '../../src/platform/http/errors.js';
import {
  committedOpenApi,
  dereferenced,
  describedOperations,
  openApi,
} from '../support/contract/operations.ts';

/** True for a response with a file: all its media types are binary, none is JSON, and it has a `Content-Disposition`. */
function isFile({ content, headers }: any): boolean {
  const types = Object.entries<any>(content ?? {});
  const isBytes = types.every(
    ([type, { schema }]) => type !== 'application/json' && schema?.format === 'binary',
  );
  return types.length > 0 && isBytes && headers?.['Content-Disposition'] !== undefined;
}

const ajv = new Ajv2020({ strict: false });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);
const { schemas } = openApi().components;
const shapes = (schema: any): { $ref: string }[] => schema.anyOf ?? [schema];
const schemaOf = ({ $ref }: { $ref: string }) => schemas[$ref.split('/').at(-1)!];

describe('the OpenAPI description', () => {
  test('is that of the code (npm run openapi regenerates it)', async () => {
    expect(JSON.parse(JSON.stringify((await describeApp()).openApi))).toEqual(committedOpenApi());
  });

  test('the security of most operations is that of the document', () => {
    const { security, paths } = committedOpenApi();
    expect(security).toContainEqual({ bearer: [] });
    const own = Object.values(paths).flatMap((item) =>
      Object.values(item).flatMap((spec) => spec.security ?? []),
    );
    expect(own).not.toContainEqual({ bearer: [] });
  });

  test('responses, parameters and bodies that occur in several operations are references', () => {
    const uses = new Map<string, number>();
    for (const item of Object.values(committedOpenApi().paths))
      for (const { responses, parameters = [], requestBody = { $ref: '' } } of Object.values<any>(item)) {
        const parts = [...Object.values(responses), ...parameters, requestBody];
        for (const value of parts.map((entry) => JSON.stringify(entry)))
          uses.set(value, (uses.get(value) ?? 0) + 1);
      }
    expect([...uses].filter(([value, times]) => times > 1 && !value.startsWith('{"$ref"'))).toEqual([]);
    expect([...uses].filter(([value]) => value.startsWith('{"$ref"')).length).toBeGreaterThan(50);
  });

  test('references to shared components keep the meaning of the document', () => {
    const plain = openApi();
    const shared: any = shareComponents(structuredClone({ ...plain, components: { schemas } }) as never);
    expect(JSON.stringify(shared).length).toBeLessThan(JSON.stringify(plain).length / 2);
    expect(dereferenced(shared).paths).toEqual(plain.paths);
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
      // A stored file can also be requested in parts (206).
      const partial = spec.responses['206'] && isFile(spec.responses['206']);
      // A creation that finds the item present responds 200 with the same shape.
      const unchanged = spec.responses['200'] && spec.responses['201'];
      // 202 beside 200: the request has no result yet.
      const isPending = spec.responses['200'] && spec.responses['202'];
      if (unchanged) expect(spec.responses['200'].content).toEqual(spec.responses['201'].content);
      expect([where, successes.length]).toEqual([where, partial || unchanged || isPending ? 2 : 1]);
      for (const [status, response] of Object.entries<any>(spec.responses)) {
        if (status.startsWith('2') && isFile(response)) continue;
        // The copy of a file that the client has stored is current.
        if (status === '304' && isFile(spec.responses['200'])) continue;
        // A page for browsers.
        if (response.content?.['text/html']) continue;
        // SCIM has its own media type and error shape (ADR 45).
        if (spec.tags[0] === 'provisioning') {
          const { schema } = response.content?.['application/scim+json'] ?? {};
          const isEmpty = status === '204' || status === '304';
          expect([where, status, schema?.$ref]).toEqual([
            where,
            status,
            isEmpty ? undefined : expect.any(String),
          ]);
          if (status >= '400') expect(schema.$ref).toMatch(/\/ScimError$/);
          continue;
        }
        const content = response.content?.['application/json'];
        expect([where, status, content?.schema]).toEqual([where, status, expect.anything()]);
        if (!status.startsWith('2')) {
          // Errors of the mail service are passed through; they have no message beside the error.
          const inOurs = shapes(content.schema).filter(({ $ref }) => !$ref.endsWith('/MailServiceError'));
          expect([where, inOurs.length > 0 || spec.tags[0] === 'mail']).toEqual([where, true]);
          for (const shape of inOurs)
            expect(schemaOf(shape)).toMatchObject({
              required: expect.arrayContaining(['error', 'message']),
              properties: { error: expect.anything(), message: expect.anything() },
            });
          expect(Object.keys(content.examples).length).toBeGreaterThan(0);
        }
      }
    }
  });

  test('every operation has a description that differs from its summary', () => {
    const bare = describedOperations().filter(
      ({ spec: { summary, description = '' } }) =>
        !/^\S.{11}.*\.$/s.test(description) || description.replace(/\.$/, '') === summary,
    );
    expect(bare.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  test('members of an error beyond code and message are in its schema', () => {
    const missing = describedOperations().flatMap(({ method, path, spec }) =>
      Object.entries<any>(spec.responses).flatMap(([status, response]) => {
        const { schema, examples } = response.content?.['application/json'] ?? {};
        if (status.startsWith('2') || !schema) return [];
        const known = new Set(shapes(schema).flatMap((shape) => Object.keys(schemaOf(shape).properties)));
        return Object.values<any>(examples)
          .flatMap(({ value }) => Object.keys(value))
          .filter((member) => !known.has(member))
          .map((member) => `${method} ${path} ${status} ${member}`);
      }),
    );
    expect(missing).toEqual([]);
  });

  test('the error of an Idempotency-Key in use documents Retry-After', () => {
    const inUse = describedOperations().filter(
      ({ spec }) => spec.responses['409']?.content['application/json']?.examples?.request_in_flight,
    );
    expect(inUse.length).toBeGreaterThan(50);
    for (const { method, path, spec } of inUse)
      expect([method, path, spec.responses['409'].headers?.['Retry-After']]).toEqual([
        method,
        path,
        expect.anything(),
      ]);
  });

  test('the examples of errors and bodies match their schemas', () => {
    const compiled = new Map<string, ValidateFunction>();
    const validator = (schema: object) => {
      const key = JSON.stringify(schema);
      const known = compiled.get(key) ?? ajv.compile({ ...schema, components: { schemas } });
      compiled.set(key, known);
      return known;
    };
    const wrong = describedOperations().flatMap(({ method, path, spec }) =>
      [spec.requestBody ?? {}, ...Object.values<any>(spec.responses)].flatMap(({ content }) => {
        const { schema, examples = {} } = content?.['application/json'] ?? {};
        return Object.values<any>(examples)
          .filter(({ value }) => !validator(schema)(value))
          .map(({ value }) => ({ method, path, value, errors: validator(schema).errors }));
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('the body that Swagger UI prefills for a creation has no id of its own: a second request would conflict', () => {
    const creations = describedOperations().flatMap(({ method, spec }) => {
      const { schema, examples } = spec.requestBody?.content['application/json'] ?? {};
      const { properties = {}, required = [] } = schema?.$ref ? schemaOf(schema) : (schema ?? {});
      if (method !== 'POST' || !properties.id || required.includes('id')) return [];
      // Without an example, Swagger UI makes one of the examples of all properties.
      const [prefilled = { value: properties }] = Object.values<any>(examples ?? {});
      return [[spec.operationId, 'id' in prefilled.value]];
    });
    expect(creations).toEqual(creations.map(([operation]) => [operation, false]));
    expect(creations.length).toBeGreaterThan(5);
  });

  test('429 and 503 document Retry-After', () => {
    for (const { path, spec } of describedOperations())
      for (const status of ['429', '503'].filter((code) => spec.responses[code]))
        expect([path, status, spec.responses[status].headers]).toEqual([
          path,
          status,
          expect.objectContaining({ 'Retry-After': expect.anything() }),
        ]);
  });

  test('every tag is described, in the order in which they are shown', () => {
    const used = new Set(describedOperations().flatMap(({ spec }) => spec.tags));
    const described = openApi().tags.map(({ name }) => name);
    expect(described.toSorted()).toEqual([...used].toSorted());
    expect(described[0]).toBe('notes');
  });

  test('lists resources first, and their synchronisation last', () => {
    for (const tag of ['notes', 'note folders', 'tasks', 'task folders']) {
      const ids = describedOperations().flatMap(({ spec }) => (spec.tags[0] === tag ? spec.operationId : []));
      expect([ids[0], ids[1]]).toEqual([expect.stringMatching(/^list/), expect.stringMatching(/^create/)]);
      expect(ids.slice(-2)).toEqual([expect.stringMatching(/Changes$/), expect.stringMatching(/Index$/)]);
    }
  });

  test('every parameter has a description, and those of paths an example', () => {
    for (const { method, path, spec } of describedOperations())
      for (const { name, in: place, description, schema } of spec.parameters ?? []) {
        const where = `${method} ${path} ${name}`;
        expect([where, description]).toEqual([where, expect.any(String)]);
        if (place !== 'path') continue;
        expect([where, schema.example ?? schema.examples?.[0]]).toEqual([where, expect.anything()]);
        // Clients choose the external_id of a contact; an instance of a series is named by the id of the series and its start.
        if (/(^|_)id$/.test(name) && !['external_id', 'event_id'].includes(name))
          expect([where, schema.format]).toEqual([where, 'uuid']);
      }
  });

  test('JSON bodies have named schemas, after which generated clients name their types', () => {
    for (const { method, path, spec } of describedOperations()) {
      const bodies = Object.entries<any>(spec.responses).filter(([status]) => status.startsWith('2'));
      for (const { content } of [spec.requestBody ?? {}, ...bodies.map(([, response]) => response)]) {
        const schema = content?.['application/json']?.schema;
        if (schema) expect([method, path, schema.$ref]).toEqual([method, path, expect.any(String)]);
      }
    }
  });

  test('only bodies of JSON have the schema of the JSON body', () => {
    const files = describedOperations().flatMap(({ spec }) =>
      Object.entries<any>(spec.requestBody?.content ?? {})
        .filter(([type, { schema }]) => schema?.$ref && !/[/+]json$/.test(type))
        .map(([type]) => `${spec.operationId} ${type}`),
    );
    expect(files).toEqual([]);
  });

  test('a body without required fields may be missing where the operation needs none', () => {
    for (const id of ['restoreNote', 'restoreTask']) {
      const { requestBody } = describedOperations().find(({ spec }) => spec.operationId === id)!.spec;
      expect([id, requestBody.required]).toEqual([id, false]);
    }
  });

  test('no example contains a $ref: generators of clients would resolve it', () => {
    const references = new Set<string>();
    JSON.stringify(committedOpenApi(), (key, value: unknown) => {
      if (key === '$ref' && typeof value === 'string') references.add(value);
      return value;
    });
    expect([...references].filter((reference) => !reference.startsWith('#/'))).toEqual([]);
  });

  test('an update has no defaults: omitted fields stay', () => {
    const defaults = Object.entries<any>(schemas)
      .filter(([name]) => name.startsWith('Update'))
      .flatMap(([name, { properties }]) =>
        Object.keys(properties).flatMap((key) => ('default' in properties[key] ? `${name}.${key}` : [])),
      );
    expect(defaults).toEqual([]);
  });

  test('every property of every schema has an example, or consists of properties that have one', () => {
    for (const [name, schema] of Object.entries<any>(openApi().components.schemas)) {
      for (const [property, value] of Object.entries<any>(schema.properties ?? {})) {
        const composed = value.$ref ?? value.allOf ?? value.properties ?? value.items?.$ref ?? value.default;
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

  test('every error that can be returned is documented', () => {
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
