import type { Client, FetchResponse, ParamsOption } from 'openapi-fetch';
import type { paths } from '../generated/api.js';
import type { Sender } from '../sender.js';
import type { Transport } from '../transport.js';
import { type FileForm, formOf } from './form.js';
import type { AnyMedia, UploadPath } from './paths.js';
import { counted, type ProgressListener } from './progress.js';
import { sendByXhr } from './xhr.js';

/** Options of an upload, besides the parameters of its path. */
export interface UploadOptions {
  /** A `File`, or another `Blob` with `name`. Node: `openAsBlob(path)` of `node:fs`, which reads the file while it is sent. */
  file: Blob;
  /** Default: the name of a `File`. */
  name?: string;
  signal?: AbortSignal;
  onProgress?: ProgressListener;
}

/** Typed by the `POST` of a path that takes a file. */
export type Upload = <Path extends UploadPath>(
  path: Path,
  init: ParamsOption<paths[Path]['post']> & UploadOptions,
) => Promise<FetchResponse<NonNullable<paths[Path]['post']>, object, AnyMedia>>;

/**
 * Sends files as a stream: the request never holds the whole file, and a repeated attempt reads it again.
 * Browsers report the progress of a request by XMLHttpRequest only; their `fetch` sends streams in few of them, by HTTP/2.
 */
export class Uploads {
  constructor(
    private readonly client: Client<paths>,
    private readonly sender: Sender,
    private readonly transport: Transport,
  ) {}

  readonly upload = ((path: string, { file, name, onProgress, ...init }: UploadOptions) => {
    const form = formOf(file, name ?? (file as Partial<File>).name ?? 'file');
    const transport: Transport = (request) => {
      if (!onProgress) return this.transport(new Request(request, { method: 'POST', body: form.body }));
      if (typeof XMLHttpRequest === 'function') return sendByXhr(request, form, onProgress);
      return this.transport(streaming(request, form, onProgress));
    };
    const post = this.client.POST as unknown as (path: string, init: object) => Promise<unknown>;
    return post(path, { ...init, fetch: (request: Request) => this.sender.send(request, transport) });
  }) as unknown as Upload;
}

function streaming(request: Request, form: FileForm, onProgress: ProgressListener): Request {
  const headers = new Headers(request.headers);
  headers.set('Content-Type', form.body.type);
  const body = counted(form.body.stream(), form.file, onProgress);
  // Fetch requires it with a stream; the declarations of TypeScript lack it.
  const init: RequestInit & { duplex: 'half' } = { headers, body, duplex: 'half' };
  return new Request(request, init);
}
