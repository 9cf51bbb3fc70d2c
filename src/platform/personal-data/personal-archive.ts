import { MAX_ZIP_BYTES, MAX_ZIP_ENTRIES, type Sink, ZipWriter } from '../../lib/zip/index.js';
import type { Blobs } from '../blobs/blobs.js';
import type { Statement } from '../database/statement.js';
import { uploadedFileName } from '../http/replies/file-reply.js';
import type { PersonalRows } from './personal-rows.js';

/** Entries and bytes that stay free for JSON files and the directory of the archive. */
const RESERVED_ENTRIES = 1_000;
const RESERVED_BYTES = 256 * 1024 * 1024;

interface StoredFile {
  id: string;
  blob_id: string;
  name: string;
  size: number;
}

interface Omission {
  file: string;
  size: number;
  reason: 'archive_full' | 'unavailable';
}

/** The ZIP archive of an export, while it is written. All content is streamed. */
export class PersonalArchive {
  /** Stored files that the archive does not contain. */
  readonly omitted: Omission[] = [];
  /** Entries by folder. */
  readonly counts = new Map<string, number>();
  private readonly zip: ZipWriter;
  private bytes = 0;
  private entries = 0;
  private folder = '';

  /**
   * @param signal ends the export
   * @param options.omitsUnavailable lists files that the store cannot deliver in `omitted`, in place of an error
   */
  constructor(
    private readonly sources: {
      readonly rows: PersonalRows;
      readonly blobs: Blobs;
      readonly tenantId: string;
    },
    sink: Sink,
    private readonly signal: AbortSignal,
    private readonly options: { readonly omitsUnavailable: boolean },
  ) {
    this.zip = new ZipWriter(async (bytes) => {
      this.bytes += bytes.length;
      await sink(bytes);
    });
  }

  /** Sets the folder of the following files; empty: the root. */
  enter(folder: string): void {
    this.folder = folder;
  }

  /** Writes a JSON array with a row in each line. @param statement made by `personalRows` */
  async rows(path: string, statement: Statement<never>, values: readonly unknown[]): Promise<void> {
    await this.sources.rows.read(statement, values, (batches) => this.content(path, jsonArray(batches)));
  }

  /** Writes a file whose content is made piece by piece. A piece stays unchanged until the next one is requested. */
  async content(path: string, pieces: AsyncIterable<string | Uint8Array> | Iterable<string>): Promise<void> {
    const file = this.zip.open(this.folder === '' ? path : `${this.folder}/${path}`);
    this.entries += 1;
    this.counts.set(this.folder, (this.counts.get(this.folder) ?? 0) + 1);
    for await (const piece of pieces) {
      this.signal.throwIfAborted();
      await file.write(piece);
    }
    await file.end();
  }

  /** Writes stored files as `files/<id>/<name>`. @param statement its rows are `id`, `blob_id`, `name` and `size` */
  async storedFiles(statement: Statement<never>, values: readonly unknown[]): Promise<void> {
    const files: StoredFile[] = [];
    await this.sources.rows.read(statement, values, async (batches) => {
      for await (const rows of batches) for (const row of rows) files.push(JSON.parse(row) as StoredFile);
    });
    for (const file of files) await this.storedFile(file);
  }

  /** Whether a file of this many bytes fits. */
  fits(size: number): boolean {
    return (
      this.entries < MAX_ZIP_ENTRIES - RESERVED_ENTRIES &&
      this.bytes + size * 1.001 < MAX_ZIP_BYTES - RESERVED_BYTES
    );
  }

  /** Records a file that the archive does not contain. */
  omit(path: string, size: number, reason: Omission['reason']): void {
    this.omitted.push({ file: `${this.folder}/${path}`, size, reason });
  }

  async end(): Promise<void> {
    await this.zip.end();
  }

  private async storedFile({ id, blob_id: blobId, name, size }: StoredFile): Promise<void> {
    const path = `files/${id}/${uploadedFileName(name)}`;
    if (!this.fits(size)) return this.omit(path, size, 'archive_full');
    const blob = await this.sources.blobs.open(this.sources.tenantId, blobId).catch((error: unknown) => {
      if (this.options.omitsUnavailable) return null;
      throw error;
    });
    if (blob === null) return this.omit(path, size, 'unavailable');
    await this.content(path, blob.pieces());
  }
}

async function* jsonArray(batches: AsyncIterable<string[]>): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const rows of batches) {
    yield separator + rows.join(',\n');
    separator = ',\n';
  }
  yield separator === ',\n' ? '\n]\n' : '[]\n';
}
