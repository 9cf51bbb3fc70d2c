import type { OpenAPIObject } from '@nestjs/swagger';

type Json = Record<string, unknown>;
type Section = 'responses' | 'parameters' | 'examples' | 'headers' | 'requestBodies';

/** Operations of a document, with the parts that are shared. */
type Operation = {
  tags?: string[];
  responses: Record<string, Json>;
  parameters?: Json[];
  requestBody?: Json;
  security?: Json[];
};

/**
 * Moves responses, parameters, examples, headers and bodies that occur more than once into `components` and refers to them by
 * `$ref` (OpenAPI 3.1, section 4.8.7). Generated decorators repeat them in each operation, which is two thirds of the document.
 * The security of most operations becomes that of the document. The dereferenced result equals the input.
 */
export function shareComponents(document: OpenAPIObject): OpenAPIObject {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item) as Operation[]);
  const responses = new SharedSection('responses');
  const parameters = new SharedSection('parameters');
  const bodies = new SharedSection('requestBodies');
  for (const {
    responses: byStatus = {},
    parameters: list = [],
    requestBody,
    tags: [tag = ''] = [],
  } of operations) {
    for (const [status, response] of Object.entries(byStatus))
      responses.count(response, status, nameOf(response), tag);
    for (const parameter of list)
      parameters.count(parameter, String(parameter['in']), String(parameter['name']), tag);
    if (requestBody) bodies.count(requestBody, 'body', nameOf(requestBody), tag);
  }
  for (const operation of operations) {
    const { responses: byStatus, parameters: list, requestBody } = operation;
    for (const [status, response] of Object.entries(byStatus)) byStatus[status] = responses.share(response);
    if (list) operation.parameters = list.map((each) => parameters.share(each));
    if (requestBody) operation.requestBody = bodies.share(requestBody);
  }
  const inner = shareParts(operations, [...responses.listShared(), ...bodies.listShared()]);
  const sections = [responses, parameters, bodies, ...inner];
  Object.assign(
    (document.components ??= {}),
    ...sections.map(({ section, entries }) => ({ [section]: entries })),
  );
  return withSharedSecurity(document, operations);
}

/** Shares the headers and examples inside of responses and bodies. */
function shareParts(operations: Operation[], shared: Json[]): SharedSection[] {
  const holders = [
    ...shared.map((holder) => ({ holder, tag: 'shared' })),
    ...operations.flatMap(({ responses, requestBody, tags: [tag = ''] = [] }) =>
      [...Object.values(responses), ...(requestBody ? [requestBody] : [])]
        .filter((holder) => !('$ref' in holder))
        .map((holder) => ({ holder, tag })),
    ),
  ];
  return [
    shareIn('headers', holders, (holder) => [holder['headers'] as Json | undefined]),
    shareIn('examples', holders, (holder) => mediaOf(holder).map(({ examples }) => examples)),
  ];
}

function shareIn(
  section: Section,
  holders: { holder: Json; tag: string }[],
  mapsOf: (holder: Json) => (Json | undefined)[],
): SharedSection {
  const values = new SharedSection(section);
  for (const { holder, tag } of holders)
    for (const map of mapsOf(holder))
      for (const [name, value] of Object.entries(map ?? {})) values.count(value, name, '', tag);
  for (const { holder } of holders)
    for (const map of mapsOf(holder))
      for (const [name, value] of Object.entries(map ?? {})) map![name] = values.share(value);
  return values;
}

/** The most frequent security becomes that of the document, which applies to operations without their own. */
function withSharedSecurity(document: OpenAPIObject, operations: Operation[]): OpenAPIObject {
  const byText = Map.groupBy(operations, ({ security }) => JSON.stringify(security));
  const [most] = [...byText.values()].toSorted((one, other) => other.length - one.length);
  const { security } = most?.[0] ?? {};
  if (!most || security === undefined) return document;
  for (const operation of most) delete operation.security;
  return Object.assign(document, { security });
}

interface Counted {
  value: Json;
  kind: string;
  name: string;
  tag: string;
  times: number;
}

/** One section of `components`: the values that occur at least twice, each under a name of its own. */
class SharedSection {
  readonly entries: Record<string, Json> = {};
  private readonly seen = new Map<string, Counted>();
  private names: Map<string, string> | undefined;

  constructor(readonly section: Section) {}

  /** @param kind status of a response, or location of a parameter. The most frequent error of a status is named after the status. */
  count(value: unknown, kind: string, name: string, tag: string): void {
    const key = JSON.stringify(value);
    const known = this.seen.get(key);
    if (known) known.times += 1;
    else this.seen.set(key, { value: value as Json, kind, name, tag, times: 1 });
  }

  /** @returns a reference, or the value itself where it occurs once */
  share(value: unknown): Json {
    const key = JSON.stringify(value);
    this.names ??= this.named();
    const name = this.names.get(key);
    if (name === undefined) return value as Json;
    this.entries[name] ??= this.seen.get(key)!.value;
    return { $ref: `#/components/${this.section}/${name}` };
  }

  /** The values that occur at least twice. */
  listShared(): Json[] {
    return Object.values(this.entries);
  }

  /**
   * Different values of one name are distinguished by their tags, then by a number, so that a new domain does not rename the
   * entries of the others.
   */
  private named(): Map<string, string> {
    const taken = new Set<string>();
    const repeated = [...this.seen].filter(([, { times }]) => times > 1);
    const free = (first: string, tagged: string): string => {
      let name = taken.has(first) ? tagged : first;
      for (let n = 2; taken.has(name); n += 1) name = `${tagged}.${n}`;
      taken.add(name);
      return name;
    };
    const names = repeated
      .toSorted(([, one], [, other]) => other.times - one.times)
      .map(([key, { kind, name, tag }]): [string, string] => {
        const base = safe(name === '' ? kind : `${kind}.${name}`);
        const isStatus = Number(kind) >= 400 && !taken.has(kind);
        return [key, free(isStatus ? kind : base, `${base}.${safe(tag)}`)];
      });
    return new Map(names);
  }
}

const safe = (name: string): string => name.replaceAll(/[^\w.-]+/g, '-');

const mediaOf = ({ content }: Json): { schema?: Json; examples?: Json }[] => Object.values(content ?? {});

/** The code of the first error of a response, or the schema of a success or body. */
function nameOf(holder: Json): string {
  const [media] = mediaOf(holder);
  const [code] = Object.keys(media?.examples ?? {});
  const schema = (media?.schema?.['$ref'] as string | undefined)?.split('/').at(-1) ?? 'file';
  return code === undefined || code === 'example' ? schema : code;
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
