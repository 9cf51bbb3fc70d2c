import { randomBytes } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { ApiResponse, Client } from './client.ts';

/** One part of a form; a file when it has a file name. */
export interface Part {
  field?: string;
  filename?: string;
  type?: string;
  content: string | Buffer;
}

export interface FormBody {
  raw: Buffer;
  headers: { 'content-type': string };
}

/** A `multipart/form-data` body, as browsers write it. */
export function form(...parts: Part[]): FormBody {
  const boundary = `----test${randomBytes(12).toString('hex')}`;
  const pieces = parts.flatMap(({ field = 'file', filename, type, content }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${field}"`,
    filename === undefined ? '' : `; filename="${filename}"`,
    filename === undefined && type === undefined
      ? ''
      : `\r\nContent-Type: ${type ?? 'application/octet-stream'}`,
    '\r\n\r\n',
    content,
    '\r\n',
  ]);
  const raw = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as string)));
  return { raw, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}

/** Sends one file. */
export const upload = (
  api: Client,
  path: string,
  content: string | Buffer,
  part: Partial<Part> = {},
): Promise<ApiResponse> => api.request('POST', path, form({ filename: 'file.bin', ...part, content }));

/** A request whose body the test writes in pieces. */
export class SlowRequest {
  readonly response: Promise<{ status: number; headers: IncomingMessage['headers']; body: any }>;
  /** Resolves when the server handles a request with the header `Expect: 100-continue`. */
  readonly accepted: Promise<void>;
  private readonly request: ClientRequest;

  /** @param path below `/apis/v1` */
  constructor(api: Client, method: string, path: string, headers: Record<string, string | number>) {
    this.request = request(`${api.base}/apis/v1${path}`, {
      method,
      headers: { ...(api.token && { authorization: `Bearer ${api.token}` }), ...headers },
    });
    this.accepted = new Promise((resolve) => this.request.once('continue', resolve));
    this.response = new Promise((resolve, reject) => {
      this.request.once('error', reject);
      this.request.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: text && JSON.parse(text),
          });
        });
      });
    });
    this.response.catch(() => undefined);
    this.request.flushHeaders();
  }

  /** Resolves when the bytes are handed to the operating system. */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.request.write(bytes, () => resolve()));
  }

  end(): void {
    this.request.end();
  }

  /** Closes the connection before the end of the request. */
  abort(): void {
    this.request.destroy();
  }
}
