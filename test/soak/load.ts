import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const ATTEMPT_MS = 60_000;
const PAUSE_MS = 20;
/** Failures that a client has to expect while a fault lasts. */
const EXPECTED = new Set([503, 502, 504, 507]);
/** The error of mail routes when the mail service does not respond, with status 500 (contract). */
const MAIL_FAILED = 'Proxy failed';

interface Response {
  status: number;
  body: any;
}

/** What the load knows: the acknowledged writes by table, and the outcomes by domain. */
export class Ledger {
  readonly written: Record<string, Set<string>> = {};
  /** The newest acknowledged revision of each note. */
  readonly notes = new Map<string, number>();
  readonly files: { task: string; id: string; content: string; token: string }[] = [];
  readonly outcomes: Record<string, number> = {};
  readonly violations: string[] = [];

  add(table: string, id: string): void {
    (this.written[table] ??= new Set()).add(id);
  }

  count(outcome: string): void {
    this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1;
  }
}

/** A member who uses every domain in turn, at the addresses of all processes. */
export class Actor {
  private next = 0;
  private room = '';
  private book = '';
  private calendar = '';
  private form = '';
  private mailbox: string | undefined;

  readonly token: string;
  private readonly bases: readonly string[];
  private readonly ledger: Ledger;

  constructor(token: string, bases: readonly string[], ledger: Ledger) {
    this.token = token;
    this.bases = bases;
    this.ledger = ledger;
  }

  async prepare(): Promise<void> {
    const made = async (method: string, path: string, body?: unknown): Promise<any> => {
      const response = await this.send(method, path, body);
      if (!response) throw new Error(`no preparation: ${method} ${path}`);
      return response.body;
    };
    this.room = (await made('POST', '/chat/rooms', { type: 'group', name: 'Soak' })).room.id;
    this.book = (await made('GET', '/contact/addressbooks')).addressbooks[0].id;
    this.calendar = (await made('GET', '/calendar')).calendars.find((each: any) => each.is_default).id;
    const questions = [{ id: 'q', type: 'short_text', title: 'Q' }];
    const definition = { sections: [{ id: 's', title: 'S', questions }] };
    this.form = (await made('POST', '/forms', { title: 'Soak', definition })).form.id;
    await made('POST', `/forms/${this.form}/publish`, {});
  }

  async run(goOn: () => boolean): Promise<void> {
    const actions = [
      () => this.writeNote(),
      () => this.create('tasks', '/tasks', { title: 'Soak' }, 'task'),
      () => this.create('contacts', `/contact/addressbooks/${this.book}/contacts`, person(), 'contact'),
      () => this.create('calendar_events', `/calendar/${this.calendar}/events`, event(), 'event'),
      () => this.create('chat_messages', `/chat/rooms/${this.room}/messages`, message(), 'message'),
      () => this.create('form_responses', `/forms/${this.form}/submit`, { answers: { q: 'x' } }, 'response'),
      () => this.attach(),
      () => this.mail(),
      () => this.read(),
    ];
    for (let n = 0; goOn(); n += 1) {
      await actions[n % actions.length]!();
      await delay(PAUSE_MS);
    }
  }

  private async create(
    table: string,
    path: string,
    body: object,
    member: string,
  ): Promise<string | undefined> {
    const response = await this.send('POST', path, body);
    const id = response?.body[member]?.id as string | undefined;
    if (id !== undefined) this.ledger.add(table, id);
    return id;
  }

  private async writeNote(): Promise<void> {
    const body = { title: 'first', content: `<p>${'text '.repeat(200)}</p>` };
    const made = await this.send('POST', '/notes', body);
    if (!made) return;
    const { id } = made.body.note;
    this.ledger.add('notes', id);
    this.ledger.notes.set(id, 1);
    const changed = await this.send('PATCH', `/notes/${id}`, { title: 'second', base_revision: 1 });
    if (changed) this.ledger.notes.set(id, changed.body.note.revision);
  }

  private async attach(): Promise<void> {
    const task = await this.create('tasks', '/tasks', { title: 'With a file' }, 'task');
    if (task === undefined) return;
    const content = randomBytes(10_000).toString('base64');
    const form = new FormData();
    form.append('file', new Blob([content]), 'soak.txt');
    const made = await this.send('POST', `/tasks/${task}/attachments`, form);
    if (!made) return;
    const { id } = made.body.attachment;
    this.ledger.add('task_attachments', id);
    this.ledger.files.push({ task, id, content, token: this.token });
  }

  private async mail(): Promise<void> {
    if (this.mailbox === undefined) {
      const boxes = await this.send('GET', '/mail/users/me/mailboxes');
      this.mailbox = boxes?.body.results?.find((box: any) => box.path === 'INBOX')?.id;
    }
    if (this.mailbox !== undefined)
      await this.send('GET', `/mail/users/me/mailboxes/${this.mailbox}/messages`);
  }

  private async read(): Promise<void> {
    const today = new Date().toISOString().slice(0, 10);
    for (const path of [
      '/notes?limit=20',
      '/tasks?limit=20',
      '/search/notes?q=text',
      '/notes/changes',
      `/calendar/${this.calendar}/instances?from=${today}&to=2027-02-01`,
      `/chat/rooms/${this.room}/messages`,
      '/sync/state',
    ])
      await this.send('GET', path);
  }

  /** Repeats a request that gets no response or a temporary error. @returns undefined for another expected failure */
  private async send(method: string, path: string, body?: unknown): Promise<Response | undefined> {
    const key: Record<string, string> = method === 'GET' ? {} : { 'idempotency-key': randomUUID() };
    for (const end = Date.now() + ATTEMPT_MS; ;) {
      const base = this.bases[(this.next += 1) % this.bases.length] as string;
      const response = await this.once(base, method, path, body, key);
      if (response && response.status < 300) {
        this.ledger.count(`${domainOf(path)} ok`);
        return response;
      }
      if (response && response.status !== 503) return undefined;
      if (Date.now() > end) {
        this.ledger.violations.push(`${method} ${path}: no response for ${ATTEMPT_MS / 1000} s`);
        return undefined;
      }
      await delay(250);
    }
  }

  private async once(
    base: string,
    method: string,
    path: string,
    body: unknown,
    key: Record<string, string>,
  ): Promise<Response | undefined> {
    const isForm = body instanceof FormData;
    const headers = { authorization: `Bearer ${this.token}`, ...key };
    try {
      const response = await fetch(`${base}/apis/v1${path}`, {
        method,
        headers: isForm || body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        body: isForm ? body : body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(30_000),
      });
      const text = await response.text();
      const { status } = response;
      const parsed = JSON.parse(text);
      if (status >= 300) {
        this.ledger.count(`${domainOf(path)} ${status} ${parsed.error}`);
        const typed = typeof parsed.error === 'string' && typeof parsed.message === 'string';
        if (!typed || !(EXPECTED.has(status) || parsed.error === MAIL_FAILED))
          this.ledger.violations.push(`${method} ${path}: ${status} ${text}`);
      }
      return { status, body: parsed };
    } catch (error) {
      const { name, cause } = error as Error & { cause?: { code?: string } };
      this.ledger.count(`${domainOf(path)} no response (${cause?.code ?? name})`);
      return undefined;
    }
  }
}

const domainOf = (path: string): string => /^\/(\w+)/.exec(path)?.[1] as string;
const person = () => ({ full_name: `Person ${randomBytes(4).toString('hex')}` });
const message = () => ({ client_msg_id: randomUUID(), body: 'hello' });
const time = (instant: number) => ({
  date_time: new Date(instant).toISOString().slice(0, 19),
  time_zone: 'UTC',
});
const event = () => {
  const start = Date.now() + Math.floor(Math.random() * 5_000_000) * 1000;
  return { title: 'Soak', start: time(start), end: time(start + 3_600_000), send_updates: 'none' };
};
