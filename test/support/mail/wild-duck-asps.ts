import { randomBytes } from 'node:crypto';

/** An application password of the fake, in clear text for assertions. */
export interface Asp {
  id: string;
  user: string;
  description: string;
  scopes: string[];
  password: string;
  ttl?: number;
}

const SCOPES = new Set(['imap', 'pop3', 'smtp']);

/** WildDuck's application passwords (lib/api/asps.js, `generateASP`) with its validation and responses. */
export class WildDuckAsps {
  readonly kept: Asp[] = [];
  /** WildDuck's `const:asp:limit`. */
  limit = 50;

  /** @param rest of the path, below the user's own tree */
  answer(user: string, method: string, rest: string, body: any): { status: number; json: unknown } {
    const [path = '', query = ''] = rest.split('?');
    const [, , id] = path.split('/');
    if (id === undefined && method === 'GET') return this.list(user, query);
    if (id === undefined && method === 'POST') return this.create(user, body);
    const place = this.kept.findIndex((asp) => asp.user === user && asp.id === id);
    if (method === 'DELETE' && place < 0)
      return {
        status: 404,
        json: { error: 'Application Specific Password was not found', code: 'AspNotFound' },
      };
    if (method !== 'DELETE') return { status: 405, json: { code: 'MethodNotAllowed', message: method } };
    this.kept.splice(place, 1);
    return { status: 200, json: { success: true } };
  }

  private list(user: string, query: string) {
    const all = new URLSearchParams(query).get('showAll') === 'true';
    const results = this.kept
      .filter((asp) => asp.user === user && (all || asp.ttl === undefined))
      .map(({ id, description, scopes }) => ({ id, description, scopes, lastUse: {}, created: new Date() }));
    return { status: 200, json: { success: true, results } };
  }

  private create(user: string, body: any) {
    const { description, scopes, password, ttl, ...more } = body;
    const text = typeof description === 'string' ? description.trim() : '';
    const right =
      text !== '' &&
      text.length <= 255 &&
      Array.isArray(scopes) &&
      scopes.length > 0 &&
      new Set(scopes).size === scopes.length &&
      scopes.every((scope) => SCOPES.has(scope)) &&
      /^[a-z]{16}$/.test(password) &&
      (ttl === undefined || typeof ttl === 'number') &&
      Object.keys(more).length === 0;
    if (!right) return { status: 400, json: { error: 'wrong', code: 'InputValidationError', details: {} } };
    if (this.kept.filter((asp) => asp.user === user).length >= this.limit)
      return { status: 403, json: { error: 'Maximum application password limit reached', code: 'TooMany' } };
    const id = randomBytes(12).toString('hex');
    this.kept.push({ id, user, description: text, scopes, password, ttl });
    return { status: 200, json: { success: true, id, password } };
  }
}
