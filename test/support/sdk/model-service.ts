import type { WorkspaceClient } from '@workspace-backend/client';

type Note = Record<string, any>;
interface Request {
  method: string;
  path: string;
  body: Record<string, any>;
  headers?: Record<string, string>;
}
interface Reply {
  status: number;
  body: Record<string, any>;
}

/** Notes as the service keeps them: revisions, keys and one feed. For properties over many orders of events; not a copy of the service. */
export class ModelService {
  readonly notes = new Map<string, Note>();
  private readonly replies = new Map<string, Reply>();
  private head = 0;

  /** @param fails called before and after each request: true loses it, or its response */
  client(fails: () => boolean): WorkspaceClient {
    const lose = () => {
      if (fails()) throw new TypeError('the connection is lost');
    };
    const exchange = async (data: () => object) => {
      lose();
      const result = { data: data(), response: new Response(null, { status: 200 }) };
      lose();
      return result;
    };
    return {
      GET: async (_path: string, { params, signal }: any) => {
        if (params.query.wait) await aborted(signal);
        return exchange(() => ({ head: this.head, collections: { notes: this.head }, objects: {} }));
      },
      POST: (_path: string, { body }: any) =>
        exchange(() => ({
          responses: body.requests.map((one: Request) => {
            const reply = this.run(one);
            const { id, revision } = reply.body['note'] ?? {};
            return { ...reply, headers: id === undefined ? {} : { etag: `"note:${id}:r${revision}"` } };
          }),
        })),
    } as unknown as WorkspaceClient;
  }

  private run(request: Request): Reply {
    const key = request.headers?.['Idempotency-Key'];
    const known = key === undefined ? undefined : this.replies.get(key);
    if (known) return known;
    const url = new URL(request.path.replace('/apis/v1', ''), 'http://model');
    const reply = request.method === 'GET' ? this.read(url) : this.write(request, url.pathname.split('/')[2]);
    if (key !== undefined && reply.status < 300) this.replies.set(key, reply);
    return reply;
  }

  private read({ pathname, searchParams }: URL): Reply {
    const after = pathname.endsWith('index') ? 0 : Number(searchParams.get('cursor') ?? 0);
    const isSummary = searchParams.get('include') === 'summary';
    const notes = [...this.notes.values()]
      .filter(({ seq }) => seq > after)
      .map(({ seq: _seq, content, ...note }) => (isSummary ? note : { ...note, content }));
    return { status: 200, body: { notes, cursor: `${this.head}`, has_more: false } };
  }

  private write({ method, body }: Request, id: string | undefined): Reply {
    const { base_revision: base, device_id: _, ...fields } = body;
    if (method === 'POST') {
      if (this.notes.has(fields['id'])) return { status: 409, body: { error: 'already_exists' } };
      return this.put({ content: '', ...fields, revision: 1, deleted: false }, 201);
    }
    const note = this.notes.get(id!);
    if (!note) return { status: 404, body: { error: 'not_found' } };
    if (note['deleted']) return { status: 409, body: { error: 'deleted' } };
    if (note['revision'] !== base) return { status: 409, body: { error: 'conflict' } };
    if (method === 'DELETE') return this.put({ ...note, deleted: true }, 200);
    return this.put({ ...note, ...fields, revision: base + 1 }, 200);
  }

  private put(note: Note, status: number): Reply {
    this.head += 1;
    this.notes.set(note['id'], { ...note, seq: this.head });
    return { status, body: { note } };
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
