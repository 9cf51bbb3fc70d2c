import { Pool } from 'undici';

export interface Seen {
  requests: number;
  p50: number;
  p99: number;
  longest: number;
  /** Operation of the longest request. */
  slowest: string;
  /** Responses of 500 and above, and broken connections. */
  failures: string[];
  /** Whether each readiness probe returned 200. */
  isReady: boolean;
}

/** A client of another workspace: it reads, writes and polls, one request after the other, with probes of the readiness between them. */
export class OrdinaryClient {
  private readonly pool: Pool;
  private readonly headers: Record<string, string>;

  constructor(base: string, token: string) {
    this.pool = new Pool(base, { connections: 2 });
    this.headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }

  /** @param milliseconds in which it works */
  async work(milliseconds: number): Promise<Seen> {
    const times: number[] = [];
    let longest = 0;
    let slowest = '';
    const failures: string[] = [];
    let isReady = true;
    const end = performance.now() + milliseconds;
    const send = async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<any> => {
      const started = performance.now();
      try {
        const { headers } = this;
        const response = await this.pool.request({
          method,
          path: `/apis/v1${path}`,
          headers,
          ...(body && { body: JSON.stringify(body) }),
        });
        const text = await response.body.text();
        if (path === '/health/ready') isReady &&= response.statusCode === 200;
        else if (response.statusCode >= 500)
          failures.push(`${method} ${path.split('?')[0]} ${response.statusCode}`);
        const time = performance.now() - started;
        times.push(time);
        if (time > longest) [longest, slowest] = [time, `${method} ${path.replace(/[?].*|[^/]{36}/, '')}`];
        return JSON.parse(text);
      } catch (error) {
        failures.push(`${method} ${path} ${String(error)}`);
        return {};
      }
    };
    while (performance.now() < end) {
      const { note } = await send('POST', '/notes', { title: 'A note', content: '<p>Text</p>' });
      await send('GET', '/notes?limit=20');
      if (note) await send('PATCH', `/notes/${note.id}`, { title: 'Changed', base_revision: note.revision });
      await send('GET', '/notes/changes?limit=20');
      await send('GET', '/tasks?limit=20');
      await send('GET', '/chat/rooms?limit=20');
      await send('GET', '/health/ready');
    }
    times.sort((a, b) => a - b);
    const at = (part: number): number =>
      times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
    return {
      requests: times.length,
      p50: at(0.5),
      p99: at(0.99),
      longest,
      slowest,
      failures,
      isReady,
    };
  }
}
