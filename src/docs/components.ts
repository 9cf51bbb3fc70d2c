import type { OpenAPIObject } from '@nestjs/swagger';

type Json = Record<string, unknown>;
type Section = 'responses' | 'parameters' | 'examples';

/**
 * Moves error responses, parameters and examples that occur more than once into `components` and refers to them by `$ref`
 * (OpenAPI 3.1, section 4.8.7). Generated decorators repeat them in each operation, which is two thirds of the document.
 * The dereferenced result equals the input.
 */
export function shareComponents(document: OpenAPIObject): OpenAPIObject {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item) as Json[]);
  const responses = new SharedSection('responses');
  const parameters = new SharedSection('parameters');
  const examples = new SharedSection('examples');
  for (const { responses: byStatus = {}, parameters: list = [], tags = [] } of operations) {
    const [tag = ''] = tags as string[];
    for (const [status, response] of errorsOf(byStatus as Json)) {
      const [code = 'error'] = Object.keys(examplesOf(response));
      responses.count(response, `${status}.${code}`, tag);
      for (const [name, example] of Object.entries(examplesOf(response))) examples.count(example, name, tag);
    }
    for (const parameter of list as Json[])
      parameters.count(parameter, `${String(parameter['in'])}.${String(parameter['name'])}`, tag);
  }
  for (const operation of operations) {
    const byStatus = operation['responses'] as Json;
    for (const [status, response] of errorsOf(byStatus)) byStatus[status] = responses.share(response);
    operation['parameters'] &&= (operation['parameters'] as Json[]).map((each) => parameters.share(each));
  }
  const all = [
    ...Object.values(responses.entries),
    ...operations.flatMap(({ responses: byStatus }) =>
      errorsOf(byStatus as Json).map(([, response]) => response),
    ),
  ];
  for (const response of all) {
    const named = examplesOf(response);
    for (const [code, example] of Object.entries(named)) named[code] = examples.share(example);
  }
  Object.assign(
    (document.components ??= {}),
    ...[responses, parameters, examples].map(({ section, entries }) => ({ [section]: entries })),
  );
  return document;
}

/** One section of `components`: the values that occur at least twice, each under a name of its own. */
class SharedSection {
  readonly entries: Record<string, Json> = {};
  private readonly seen = new Map<string, { name: string; times: number }>();
  private readonly names = new Set<string>();

  constructor(readonly section: Section) {}

  /**
   * @param name of the first value; a different value of the same name is distinguished by its tag, then by a number, so that
   *   a new domain does not rename the entries of the others
   */
  count(value: unknown, name: string, tag: string): void {
    const key = JSON.stringify(value);
    const known = this.seen.get(key);
    if (known) known.times += 1;
    else this.seen.set(key, { name: this.freeName(name, tag), times: 1 });
  }

  /** @returns a reference, or the value itself where it occurs once */
  share(value: unknown): Json {
    const known = this.seen.get(JSON.stringify(value));
    if (!known || known.times < 2) return value as Json;
    this.entries[known.name] ??= value as Json;
    return { $ref: `#/components/${this.section}/${known.name}` };
  }

  private freeName(name: string, tag: string): string {
    const base = name.replaceAll(/[^\w.-]+/g, '_');
    const tagged = `${base}.${tag.replaceAll(' ', '-')}`;
    let free = this.names.has(base) ? tagged : base;
    for (let n = 2; this.names.has(free); n += 1) free = `${tagged}.${n}`;
    this.names.add(free);
    return free;
  }
}

function errorsOf(byStatus: Json): [string, Json][] {
  return Object.entries(byStatus).filter(
    (entry): entry is [string, Json] => Number(entry[0]) >= 400 && !('$ref' in (entry[1] as Json)),
  );
}

function examplesOf(response: Json): Json {
  const content = response['content'] as Record<string, { examples?: Json }> | undefined;
  return content?.['application/json']?.examples ?? {};
}

/** The schemas that a value refers to, directly or through others, in their order. */
export function reachableSchemas(root: unknown, schemas: Json): Json {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value ?? null).matchAll(
      /"#\/components\/schemas\/([\w.-]+)"/g,
    )) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemas[name]);
    }
  };
  visit(root);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => found.has(name)));
}
