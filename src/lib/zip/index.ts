import { once } from 'node:events';
import { crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { Zip, type ZipInputFile } from 'fflate';

/** Receives the bytes of the archive; resolves when more may follow. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

/** Limits of an archive without ZIP64: entries, and bytes of the archive and of each file. */
export const MAX_ZIP_ENTRIES = 65_535;
export const MAX_ZIP_BYTES = 4_294_967_295;

/**
 * Writes a ZIP archive as a stream, one file after the other. Native zlib compresses, outside the main thread. The caller keeps
 * the limits `MAX_ZIP_ENTRIES` and `MAX_ZIP_BYTES`.
 */
export class ZipWriter {
  private readonly zip: Zip;
  private readonly pending: Uint8Array[] = [];
  private failure: Error | null = null;

  constructor(private readonly sink: Sink) {
    this.zip = new Zip((error, bytes) => {
      if (error) this.failure = error;
      else this.pending.push(bytes);
    });
  }

  /** Begins a file; end it before the next one. */
  open(name: string): ZipFile {
    const entry: ZipInputFile & { size: number; crc: number } = {
      filename: name,
      compression: 8,
      size: 0,
      crc: 0,
      // A fixed time makes equal content equal bytes.
      mtime: new Date(2000, 0, 1),
    };
    this.zip.add(entry);
    return new ZipFile(entry, () => this.flush());
  }

  async file(name: string, text: string): Promise<void> {
    const file = this.open(name);
    await file.write(text);
    await file.end();
  }

  async end(): Promise<void> {
    this.zip.end();
    await this.flush();
  }

  private async flush(): Promise<void> {
    if (this.failure) throw this.failure;
    for (const bytes of this.pending.splice(0)) await this.sink(bytes);
  }
}

/** A file of an archive. */
export class ZipFile {
  /** Number of uncompressed bytes so far. */
  size = 0;
  private readonly deflate: DeflateRaw = createDeflateRaw({ level: 3, chunkSize: 64 * 1024 });

  constructor(
    private readonly entry: ZipInputFile & { size: number; crc: number },
    private readonly flush: () => Promise<void>,
  ) {
    this.deflate.on('data', (bytes: Buffer<ArrayBuffer>) => this.entry.ondata!(null, bytes, false));
  }

  /** @param content text, or bytes that stay unchanged until the promise resolves */
  async write(content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    this.size += bytes.length;
    this.entry.crc = crc32(bytes, this.entry.crc);
    await new Promise<void>((resolve, reject) => {
      this.deflate.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    await this.flush();
  }

  async end(): Promise<void> {
    this.deflate.end();
    await once(this.deflate, 'end');
    this.entry.size = this.size;
    this.entry.ondata!(null, new Uint8Array(0), true);
    await this.flush();
  }
}
