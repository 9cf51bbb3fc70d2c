import type { Rng } from '../../sync/rng.ts';
import { form } from '../../support/network/multipart.ts';
import type { Operation } from '../../support/contract/operations.ts';
import { mutateBody, oddParameter } from './mutations.ts';
import { type Schema, Values } from './values.ts';
import type { FuzzWorkspace } from './workspace.ts';

export interface FuzzRequest {
  operation: Operation & { spec: any };
  method: string;
  /** The query string is included. */
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
  /** The names of the mutations; empty for a request that the document allows. */
  mutations: string[];
}

/** Operations after which a token or an account is unusable: only the user who is made for them calls these. */
const DESTRUCTIVE = new Set([
  'changePassword',
  'deactivateProfile',
  'deactivateTenantMember',
  'disableTwoFactor',
  'enableTwoFactor',
  'endMemberSession',
  'endMemberSessions',
  'endSession',
  'signOut',
  // The policy can require a second factor, which the owner does not have.
  'updateTenantPolicy',
]);

const PLAIN = 0.25;

/** Makes requests for the operations of the document: allowed ones, and mutations of these. */
export class Requests {
  private readonly values: Values;

  constructor(
    document: Record<string, any>,
    private readonly workspace: FuzzWorkspace,
    /** The most expensive requests: allowed ones of the owner, with all parameters, and lists of up to this many items. */
    private readonly widest?: number,
  ) {
    this.values = new Values(document, () => workspace.allIds, widest);
  }

  make(rng: Rng, operation: Operation & { spec: any }): FuzzRequest {
    const request: FuzzRequest = {
      operation,
      method: operation.method,
      path: '',
      headers: this.credentials(rng, operation),
      body: undefined,
      mutations: [],
    };
    const mutate = this.widest === undefined && !rng.chance(PLAIN);
    const parameters: Schema[] = (operation.spec.parameters ?? []).map((node: Schema) =>
      this.values.resolve(node),
    );
    const body = operation.spec.requestBody && this.values.resolve(operation.spec.requestBody);
    // At most one part of a request is mutated, so that the other parts do not hide it.
    const target = mutate
      ? rng.pick(['path', 'query', 'header', ...(body ? ['body', 'body', 'body'] : [])])
      : '';
    request.path = this.path(rng, operation, parameters, target === 'path' && request);
    request.path += this.query(rng, parameters, target === 'query' && request);
    this.addHeaders(rng, parameters, request, target === 'header');
    if (body) this.addBody(rng, operation, body, request, target === 'body');
    return request;
  }

  private credentials(rng: Rng, { spec }: { spec: any }): Record<string, string> {
    const { owner, member, expendable, scim } = this.workspace;
    if (spec.security.some((scheme: object) => 'scim' in scheme) && rng.chance(0.95))
      return { authorization: `Bearer ${scim}` };
    if (DESTRUCTIVE.has(spec.operationId)) return { authorization: `Bearer ${rng.pick(expendable)}` };
    if (this.widest !== undefined) return { authorization: `Bearer ${owner}` };
    const kind = rng.weighted({ owner: 75, member: 22, none: 1, invalid: 2 });
    if (kind === 'none') return {};
    if (kind === 'invalid')
      return { authorization: rng.pick(['Bearer x', 'Bearer', 'Basic eDp5', 'Bearer a.b.c']) };
    return { authorization: `Bearer ${kind === 'owner' ? owner : member}` };
  }

  private path(rng: Rng, { path }: Operation, parameters: Schema[], mutated: FuzzRequest | false): string {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const odd = mutated && names.length > 0 ? rng.pick(names) : undefined;
    const domain = path.split('/')[3];
    if (mutated && odd) mutated.mutations.push(`path ${odd}`);
    return path.replaceAll(/([\w.-]+)\/\{(\w+)\}/g, (_, segment: string, name: string) => {
      if (name === odd) return `${segment}/${oddParameter(rng) || '%20'}`;
      const known = this.workspace.ids[`${domain} ${segment}`] ?? this.workspace.ids[segment];
      const parameter = parameters.find((each) => each['in'] === 'path' && each['name'] === name);
      const value =
        known && rng.chance(0.9) ? rng.pick(known) : String(this.values.of(rng, parameter?.['schema']));
      return `${segment}/${encodeURIComponent(value)}`;
    });
  }

  private query(rng: Rng, parameters: Schema[], mutated: FuzzRequest | false): string {
    const pairs: string[] = [];
    for (const { in: place, name, required, schema } of parameters) {
      if (place !== 'query' || !(required || rng.chance(this.widest === undefined ? 0.3 : 0.6))) continue;
      // A long poll would wait for its whole time.
      const value = name === 'wait' ? 0 : this.values.of(rng, schema);
      pairs.push(`${name}=${encodeURIComponent(String(value).toWellFormed())}`);
    }
    if (mutated) this.mutateQuery(rng, parameters, pairs, mutated);
    return pairs.length > 0 ? `?${pairs.join('&')}` : '';
  }

  private mutateQuery(rng: Rng, parameters: Schema[], pairs: string[], request: FuzzRequest): void {
    const names = parameters.filter((each) => each['in'] === 'query').map((each): string => each['name']);
    const name =
      rng.chance(0.2) || names.length === 0
        ? rng.pick(['unknown', 'constructor', '__proto__'])
        : rng.pick(names);
    const mutation = rng.pick(['odd value', 'duplicate', 'list', 'nested', 'no value', 'missing']);
    request.mutations.push(`query ${name}: ${mutation}`);
    if (mutation === 'missing') {
      pairs.splice(0, pairs.length, ...pairs.filter((pair) => !pair.startsWith(`${name}=`)));
      return;
    }
    const value = name === 'wait' ? '0' : oddParameter(rng);
    const written: Record<string, string[]> = {
      'odd value': [`${name}=${value}`],
      duplicate: [`${name}=1`, `${name}=2`],
      list: [`${name}[]=${value}`],
      nested: [`${name}[a][b]=${value}`],
      'no value': [name],
    };
    pairs.push(...written[mutation]!);
  }

  private addHeaders(rng: Rng, parameters: Schema[], request: FuzzRequest, mutated: boolean): void {
    for (const { in: place, name, schema } of parameters) {
      if (place !== 'header' || !rng.chance(name === 'X-Guest-Session' ? 0.9 : 0.4)) continue;
      if (name === 'X-Guest-Session') {
        request.headers['x-guest-session'] = rng.pick(this.workspace.guestSessions);
        continue;
      }
      const id = request.path.split('/')[4]?.split('?')[0];
      const kind = request.path.includes('/tasks/') ? 'task' : 'note';
      request.headers[name.toLowerCase()] =
        name === 'If-Match' && !request.path.includes('/scim/')
          ? `"${kind}:${id}:r${rng.int(1, 3)}"`
          : String(this.values.of(rng, schema)).replaceAll(/[^\x20-\x7e]/g, '?');
    }
    if (!mutated) return;
    const name = rng.pick([
      'if-match',
      'idempotency-key',
      'range',
      'if-none-match',
      'content-type',
      'accept',
      'x-request-id',
    ]);
    request.headers[name] = rng.pick([
      '',
      '*',
      '""',
      'x'.repeat(5_000),
      '"note:x:r1"',
      'W/"1"',
      'bytes=5-1',
      'text/html',
    ]);
    request.mutations.push(`header ${name}`);
  }

  private addBody(
    rng: Rng,
    operation: Operation & { spec: any },
    body: any,
    request: FuzzRequest,
    mutated: boolean,
  ): void {
    const types = Object.keys(body.content);
    const type = rng.pick(types);
    if (type === 'multipart/form-data') {
      const part = mutated
        ? rng.pick([
            { field: 'other', filename: 'a' },
            { filename: '' },
            { filename: '\0' },
            { field: 'file' },
          ])
        : { filename: 'file.txt', type: 'text/plain' };
      if (mutated) request.mutations.push(`form ${JSON.stringify(part)}`);
      const made = form({ ...part, content: 'content' });
      request.body = made.raw;
      request.headers = { ...made.headers, ...request.headers };
      return;
    }
    request.headers['content-type'] ??= type;
    if (!/^application\/(?:scim\+)?json$/.test(type)) {
      request.body = mutated ? Buffer.from('not an image') : this.workspace.image;
      if (mutated) request.mutations.push('bytes');
      return;
    }
    const examples = Object.values<any>(body.content[type].examples ?? {});
    const value =
      examples.length > 0 && rng.chance(0.3)
        ? structuredClone(rng.pick(examples).value)
        : this.values.of(rng, body.content[type].schema);
    if (!mutated) {
      request.body = JSON.stringify(value);
      return;
    }
    const { text, mutation } = mutateBody(rng, value);
    request.body = text;
    request.mutations.push(`body ${mutation}`);
  }
}
