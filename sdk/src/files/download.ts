import type { Client, FetchResponse, ParamsOption } from 'openapi-fetch';
import type { paths } from '../generated/api.js';
import type { AnyMedia, PathsWith } from './paths.js';
import { counted, type ProgressListener } from './progress.js';

/** Options of a download, besides the parameters of its path. */
export interface DownloadOptions {
  /** Stops the download, also while the stream is read. */
  signal?: AbortSignal;
  onProgress?: ProgressListener;
  headers?: Record<string, string>;
}

/** Typed by the `GET` of a path. `data` is the body as a stream, not decoded. Rejects where `fetch` has no streams, as in React Native. */
export type Download = <Path extends PathsWith<'get'>>(
  path: Path,
  init: ParamsOption<paths[Path]['get']> & DownloadOptions,
) => Promise<FetchResponse<NonNullable<paths[Path]['get']>, { parseAs: 'stream' }, AnyMedia>>;

type StreamResult = { data?: ReadableStream<Uint8Array> | null; error?: unknown; response: Response };

/** Reads files. */
export class Downloads {
  constructor(private readonly client: Client<paths>) {}

  readonly download = (async (path: string, { onProgress, ...init }: DownloadOptions) => {
    const get = this.client.GET as unknown as (path: string, init: object) => Promise<StreamResult>;
    const result = await get(path, { ...init, parseAs: 'stream' });
    if (result.response.ok && result.response.body === undefined)
      throw new Error("This platform has no streams. Read the file by GET with parseAs: 'blob'.");
    if (!result.data || !onProgress) return result;
    const file = { start: 0, size: lengthOf(result.response) };
    return { ...result, data: counted(result.data, file, onProgress) };
  }) as unknown as Download;
}

/** The length of a compressed body is not that of the file. */
function lengthOf({ headers }: Response): number | undefined {
  const length = headers.get('Content-Length');
  return length === null || headers.has('Content-Encoding') ? undefined : Number(length);
}
