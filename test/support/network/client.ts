export interface ApiResponse<B = any> {
  status: number;
  headers: Headers;
  body: B;
  text: string;
}

export interface RequestOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** Sent unchanged, instead of `body` as JSON. */
  raw?: string | Buffer;
}

/** Calls the interface over HTTP with the token of one user, or without a token where it is `null`. */
export class Client {
  constructor(
    readonly base: string,
    readonly token: string | null,
  ) {}

  get = (path: string, options?: RequestOptions) => this.request('GET', path, options);
  post = (path: string, body?: unknown, options?: RequestOptions) =>
    this.request('POST', path, { body, ...options });
  put = (path: string, body?: unknown, options?: RequestOptions) =>
    this.request('PUT', path, { body, ...options });
  patch = (path: string, body?: unknown, options?: RequestOptions) =>
    this.request('PATCH', path, { body, ...options });
  delete = (path: string, body?: unknown, options?: RequestOptions) =>
    this.request('DELETE', path, { body, ...options });

  /** @param path below `/apis/v1`, or absolute when it begins with `//` (then without the first slash) */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const headers: Record<string, string> = { ...options.headers };
    if (this.token !== null) headers['authorization'] ??= `Bearer ${this.token}`;
    let body: string | Buffer | undefined = options.raw;
    if (body === undefined && options.body !== undefined) body = JSON.stringify(options.body);
    if (body !== undefined) headers['content-type'] ??= 'application/json';
    const url = path.startsWith('//') ? `${this.base}${path.slice(1)}` : `${this.base}/apis/v1${path}`;
    const response = await fetch(url, { method, headers, body: body as never, redirect: 'manual' });
    const text = await response.text();
    const json = /^application\/(?:scim\+)?json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: json && text ? JSON.parse(text) : undefined,
    };
  }
}
