import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WildDuckAsps } from './wild-duck-asps.ts';

/** A request to a real WildDuck 1.46 and its response. */
export interface Capture {
  label: string;
  method: string;
  path: string;
  body?: unknown;
  status: number;
  type: string;
  json?: any;
  /** Base64 of a response that is not JSON. */
  bytes?: string;
}

export const CAPTURES: Capture[] = JSON.parse(
  readFileSync(new URL('wild-duck.captures.json', import.meta.url), 'utf8'),
);

export const capture = (label: string): Capture => {
  const found = CAPTURES.find((each) => each.label === label);
  if (!found) throw new Error(`no capture is called ${label}`);
  return found;
};

/** Mailboxes of the captured account. */
export const INBOX = '6b0108e57d46ea6fe43d660f';
export const TRASH = '6b0108e57d46ea6fe43d6611';
export const DRAFTS = '6b0108e57d46ea6fe43d6612';
export const NOWHERE = '0'.repeat(24);

export interface Recorded {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  /** Parsed JSON, else text. */
  body: any;
  /** Username of the token's owner; null for the service token. */
  as: string | null;
}

type Reply = { status: number; json?: unknown };
/** Returns a response, `true` after handling the response itself, or undefined for the captured one. */
export type Script = (
  request: Recorded,
  response: ServerResponse,
) => Reply | true | undefined | Promise<Reply | true | undefined>;

interface Account {
  id: string;
  username: string;
  password: string;
  address: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const INVALID_TOKEN = capture('bob-suspended-list').json;

/**
 * A mail service that responds as a captured WildDuck and records all requests. The captures belong to the account that is
 * created first; other accounts have no mail.
 */
export class WildDuck {
  readonly requests: Recorded[] = [];
  readonly accounts = new Map<string, Account>();
  readonly asps = new WildDuckAsps();
  readonly serviceToken = randomBytes(20).toString('hex');
  /** Runs before any other handling. */
  script: Script | undefined;
  /** All bytes received. */
  bytes = 0;
  connections = 0;
  private readonly tokens = new Map<string, string>();
  private readonly sockets = new Set<Socket>();
  private server!: Server;

  static async start(): Promise<WildDuck> {
    const duck = new WildDuck();
    // An aborted request throws here.
    duck.server = createServer(
      (request, response) => void duck.serve(request, response).catch(() => undefined),
    );
    // Clients have to close idle connections themselves.
    duck.server.keepAliveTimeout = 60_000;
    duck.server.on('connection', (socket: Socket) => {
      duck.connections += 1;
      duck.sockets.add(socket);
      socket.on('data', (chunk) => (duck.bytes += chunk.length));
      socket.on('close', () => duck.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => duck.server.listen(0, '127.0.0.1', resolve));
    return duck;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Settings of an application that uses it. */
  get settings(): Record<string, string> {
    return { MAIL_SERVICE_URL: this.url, MAIL_SERVICE_TOKEN: this.serviceToken };
  }

  /** Requests about mail, as opposed to accounts. */
  get mail(): Recorded[] {
    return this.requests.filter(({ url }) => /^\/users\/[^/]+\/mailboxes/.test(url));
  }

  /** Clears the recorded requests. */
  clear(): void {
    this.requests.length = 0;
    this.script = undefined;
  }

  /** Revokes all tokens, or those of one account. */
  killTokens(username?: string): void {
    for (const [token, of] of this.tokens)
      if (username === undefined || of === username) this.tokens.delete(token);
  }

  add(username: string, password: string, address = `${username}@example.com`): Account {
    const account = { id: randomBytes(12).toString('hex'), username, password, address };
    this.accounts.set(username, account);
    return account;
  }

  get openConnections(): number {
    return this.sockets.size;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const token = request.headers['x-access-token'];
    const as = typeof token === 'string' ? (this.tokens.get(token) ?? null) : null;
    const { method = '', url = '', headers, rawHeaders } = request;
    const recorded = { method, url, headers, rawHeaders, body: parsed(text), as };
    this.requests.push(recorded);
    // Headers of a real WildDuck that must not be forwarded.
    response.setHeader('Server', 'WildDuck API');
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Set-Cookie', 'a=b');
    response.setHeader('Vary', 'origin,access-control-request-method,access-control-request-headers');
    const scripted = await this.script?.(recorded, response);
    if (scripted === true) return;
    const answer = scripted ?? this.answer(recorded, token);
    if ('bytes' in answer) {
      response.writeHead(200, { 'Content-Type': answer.type });
      response.end(answer.bytes);
      return;
    }
    response.writeHead(answer.status, { 'Content-Type': JSON_TYPE });
    response.end(JSON.stringify(answer.json));
  }

  private answer(
    { method, url, body, as }: Recorded,
    token: unknown,
  ): Reply | { bytes: Buffer; type: string } {
    const isService = token === this.serviceToken;
    if (!isService && as === null) return { status: 403, json: INVALID_TOKEN };
    if (method === 'POST' && url === '/users') return this.createUser(body);
    if (method === 'POST' && url === '/authenticate') return this.authenticate(body);
    const resolve = /^\/users\/resolve\/([^/?]+)$/.exec(url);
    if (resolve) return this.resolve(decodeURIComponent(resolve[1]!));
    const [, who = '', rest = ''] = /^\/users\/([^/]+)(\/(?:mailboxes|asps).*)$/.exec(url) ?? [];
    const account =
      as === null ? [...this.accounts.values()].find(({ id }) => id === who) : this.accounts.get(as);
    if (account === undefined || (as !== null && who !== 'me'))
      return { status: 400, json: capture('me-with-root-token').json };
    if (rest.startsWith('/asps')) return this.asps.answer(account.id, method, rest, body);
    return this.mailOf(account, method, url.replace(`/users/${who}/`, '/users/me/'), body);
  }

  private mailOf(
    account: Account,
    method: string,
    url: string,
    body: unknown,
  ): Reply | { bytes: Buffer; type: string } {
    const [owner] = this.accounts.values();
    if (account !== owner) {
      const [, , , , mailbox, ...below] = url.split('?', 1)[0]!.split('/');
      return mailbox === undefined && method === 'GET'
        ? { status: 200, json: { success: true, results: [] } }
        : inNoMailbox(method, below);
    }
    const found = CAPTURES.find(
      (each) =>
        !/token|^bob-|^own-id/.test(each.label) &&
        each.method === method &&
        canonical(each.path) === canonical(url) &&
        same(each.body ?? '', body ?? ''),
    );
    if (!found)
      return { status: 418, json: { error: `not captured: ${method} ${url} ${JSON.stringify(body)}` } };
    if (found.bytes !== undefined) return { bytes: Buffer.from(found.bytes, 'base64'), type: found.type };
    return { status: found.status, json: found.json };
  }

  private createUser({ username, password, address }: any): Reply {
    if (this.accounts.has(username))
      return { status: 500, json: { ...capture('create-user-duplicate').json, username } };
    if ([...this.accounts.values()].some((account) => account.address === address))
      return { status: 400, json: { error: 'This address already exists', code: 'AddressExistsError' } };
    return { status: 200, json: { success: true, id: this.add(username, password, address).id } };
  }

  private authenticate({ username, password }: any): Reply {
    const account = this.accounts.get(username);
    if (account?.password !== password) return { status: 403, json: capture('authenticate-wrong').json };
    const token = randomBytes(20).toString('hex');
    this.tokens.set(token, username);
    return { status: 200, json: { ...capture('authenticate-alice').json, id: account!.id, username, token } };
  }

  private resolve(username: string): Reply {
    const account = this.accounts.get(username);
    return account
      ? { status: 200, json: { success: true, id: account.id } }
      : { status: 404, json: { error: 'This user does not exist', code: 'UserNotFound' } };
  }
}

/**
 * WildDuck's response for a mailbox that the user does not have, the same for unknown ids and those of other users.
 * @param below the path below the mailbox
 */
function inNoMailbox(method: string, [messages, message]: string[]): Reply {
  const as = (label: string): Reply => ({ status: capture(label).status, json: capture(label).json });
  if (messages === undefined && method === 'PUT') {
    const { code } = capture('delete-mailbox-again').json;
    return { status: 404, json: { error: `Mailbox update failed with code ${code}`, code } };
  }
  if (messages === undefined && method === 'DELETE') return as('delete-mailbox-again');
  if (messages !== undefined && method === 'PUT') return as('bulk-put-move-missing-target');
  if (message === undefined) return as('get-mailbox-missing');
  return as(method === 'DELETE' ? 'delete-message-again' : 'get-message-missing');
}

/** Message lists ignore unknown parameters. */
function canonical(target: string): string {
  const [path = '', query = ''] = target.split('?');
  const parameters = new URLSearchParams(query);
  if (path.endsWith('/messages')) for (const name of ['cursor', 'direction']) parameters.delete(name);
  parameters.sort();
  return `${path}?${parameters.toString()}`;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A captured message list with `unseen`. */
export const withUnseen = (list: any): any => ({
  ...list,
  results: list.results.map((row: any) => ({ ...row, unseen: !row.seen })),
});

/** The captured response with the fields of the contract that WildDuck lacks; the same object where it lacks none. */
export function withContractFields({ method, path, status, json, body }: Capture): any {
  if (status !== 200) return json;
  const [, , , , mailbox, messages, message] = path.split('?', 1)[0]!.split('/');
  if (method === 'GET' && mailbox === undefined)
    return { ...json, total: json.results.length, nextCursor: false, previousCursor: false };
  if (method === 'POST' && mailbox === undefined) {
    const { path: name, retention } = body as { path: string; retention?: number };
    const full = name.replace(/^\//, '');
    return {
      ...json,
      path: full,
      name: full.split('/').at(-1),
      subscribed: true,
      ...(retention !== undefined && { retention }),
    };
  }
  if (method !== 'GET' || messages === undefined) return json;
  if (message !== undefined) return { ...json, unseen: !json.seen };
  return json.results.length > 0 ? withUnseen(json) : json;
}
