import { readFileSync } from 'node:fs';

export interface Operation {
  method: string;
  /** With `{param}` as in OpenAPI. */
  path: string;
}

export interface OpenApi {
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, any>>;
  components: { schemas: Record<string, any> };
  security: object[];
}

/** The committed document as it is. */
export const committedOpenApi = (): OpenApi & { components: Record<string, Record<string, any>> } =>
  JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));

let resolved: OpenApi | undefined;

/** The committed document with references resolved, except those to schemas, and the security of each operation. */
export function openApi(): OpenApi {
  return (resolved ??= dereferenced(committedOpenApi()));
}

export function dereferenced(document: ReturnType<typeof committedOpenApi>): OpenApi {
  const resolve = (node: any): any => {
    if (Array.isArray(node)) return node.map(resolve);
    if (typeof node !== 'object' || node === null) return node;
    const [, section, name] =
      /^#\/components\/(responses|parameters|examples|headers|requestBodies)\/(.+)$/.exec(node.$ref) ?? [];
    if (section) return resolve(document.components[section]![name!]);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]));
  };
  const paths: OpenApi['paths'] = resolve(document.paths);
  for (const item of Object.values(paths))
    for (const operation of Object.values(item)) operation.security ??= document.security;
  return { ...document, paths };
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

type DescribedOperation = Operation & { spec: any };
let operations: DescribedOperation[] | undefined;

/** Every operation of the committed description. */
export const describedOperations = (): DescribedOperation[] =>
  (operations ??= Object.entries(openApi().paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      method: method.toUpperCase(),
      path,
      spec: item[method],
    })),
  ));

/** A path with its parameters filled in: ids, also those of mailboxes, with `id`, other parameters with 1. */
export function fillPath(path: string, id: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (/(^|_)id$|^mailbox$/.test(name) ? id : '1'));
}
