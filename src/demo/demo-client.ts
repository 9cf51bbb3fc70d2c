/** A response that names a created object. */
export type Created<Name extends string, Id = string> = Record<Name, { id: Id }>;

/** Calls the interface as one user of the demo workspace. */
export class DemoClient {
  /**
   * @param base address of the interface, with its prefix
   * @param id of the user
   */
  constructor(
    private readonly base: string,
    private readonly token: string,
    readonly id: string,
    readonly email: string,
  ) {}

  /** @throws Error with the response, when the request fails */
  async call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const json = body !== undefined && !(body instanceof FormData);
    const response = await fetch(`${this.base}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...(json && { 'content-type': 'application/json' }) },
      body: json ? JSON.stringify(body) : body,
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`demo workspace: ${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  }

  post<Body>(path: string, body?: unknown): Promise<Body> {
    return this.call('POST', path, body);
  }

  put(path: string, body?: unknown): Promise<unknown> {
    return this.call('PUT', path, body);
  }
}

export const DEMO_TENANT = { slug: 'demo', name: 'Demo Workspace', domains: ['demo.example'] };

/** Public: the demo workspace is for trying things out, never for real data. */
export const DEMO_PASSWORD = 'demo workspace password';

export const DEMO_USERS = [
  { email: 'alice@demo.example', name: 'Alice Martin', role: 'owner' },
  { email: 'bob@demo.example', name: 'Bob Okafor', role: 'admin' },
  { email: 'carol@demo.example', name: 'Carol Nguyen', role: 'member' },
] as const;

/** First names of the users, which the content refers to. */
export type DemoName = 'alice' | 'bob' | 'carol';

export const SIGNATURE = (name: string): string => `<p>${name}<br>Demo Workspace</p>`;

export const GROUPS: { name: string; permissions: string[]; members: DemoName[] }[] = [
  { name: 'Office', permissions: ['forms.create'], members: ['bob', 'carol'] },
  { name: 'Research', permissions: ['forms.create', 'calls.start'], members: ['carol'] },
];
