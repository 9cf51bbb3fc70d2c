import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const read = (name: string) => JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'));

describe('the packages of the client library', () => {
  const { dependencies, devDependencies } = read('sdk/package.json');
  const locked: Record<string, { dev?: boolean; dependencies?: object }> = read('package-lock.json').packages;
  const isOfService = (name: string) =>
    Object.values(locked).some(({ dev, dependencies: needed = {} }) => !dev && name in needed);

  test('are not installed by a start, nor in the image, unless the service has them too', () => {
    expect(locked['sdk']?.dev).toBe(true);
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      const entries = Object.entries(locked).filter(([place]) => place.endsWith(`node_modules/${name}`));
      const isAbsent = entries.every(([, { dev }]) => dev) || isOfService(name);
      expect([name, entries.length > 0, isAbsent]).toEqual([name, true, true]);
    }
  });
});

describe('the types of errors', () => {
  test('have each code of the contract, and single codes where the code decides the fields', async () => {
    const { narrowErrors } = await import(path.join(ROOT, 'sdk', 'build', 'narrow-errors.mjs'));
    const { document, codes } = narrowErrors(read('openapi.json'));
    const schemaOf = (name: string) => document.components.responses[name].content['application/json'].schema;
    const enumerated = ({ allOf }: any): string[] => allOf?.[1].properties.error.enum ?? [];
    const responses: [string, any][] = [
      ...Object.entries(document.components.responses),
      ...Object.values(document.paths).flatMap((item: any) =>
        Object.values(item).flatMap((operation: any) => Object.entries(operation.responses ?? {})),
      ),
    ] as [string, any][];
    const lost = responses.flatMap(([status, { content }]) => {
      const json = content?.['application/json'];
      if (Number.parseInt(status, 10) < 400 || !json?.examples) return [];
      const branches: any[] = json.schema.anyOf ?? [json.schema];
      if (branches.some(({ $ref }) => $ref !== undefined)) return [];
      const known = new Set(branches.flatMap(enumerated));
      return Object.keys(json.examples).filter((code) => !known.has(code));
    });
    expect(lost).toEqual([]);
    expect(codes).toEqual(expect.arrayContaining(['conflict', 'not_found', 'too_many_requests']));
    expect(enumerated(schemaOf('429'))).toEqual(['too_many_requests']);
    expect(enumerated(schemaOf('410'))).toEqual(['cursor_expired']);
  });
});
