import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, glob, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import {
  BlobMissingError,
  BlobStoreError,
  type ByteRange,
  type ByteSource,
  ObjectStore,
  type OpenBlob,
  translateErrors,
} from './object-store.js';

/** For larger buffers the allocator maps and unmaps memory each time, which costs more than filling them. */
const READ_BYTES = 64 * 1024;

/** An open file or a range of it. Ends early when the file is shorter. */
export class OpenFile implements OpenBlob {
  constructor(
    private readonly handle: FileHandle,
    private readonly start: number,
    readonly size: number,
  ) {}

  get stream(): Readable {
    if (this.size > 0) {
      const end = this.start + this.size - 1;
      return this.handle.createReadStream({ start: this.start, end, highWaterMark: READ_BYTES });
    }
    // A file stream cannot read zero bytes.
    this.close();
    return Readable.from([]);
  }

  /** Reads the next piece while the caller processes the last one. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    let [buffer, other] = [this.newBuffer(), this.newBuffer()];
    let at = 0;
    let reading = this.begin(buffer, at);
    try {
      for (let bytes = await reading; bytes > 0; bytes = await reading) {
        const piece = buffer.subarray(0, bytes);
        at += bytes;
        [buffer, other] = [other, buffer];
        reading = this.begin(buffer, at);
        yield piece;
      }
    } finally {
      await reading.catch(() => undefined);
      this.close();
    }
  }

  close(): void {
    this.handle.close().catch(() => undefined);
  }

  private newBuffer(): Buffer {
    return Buffer.allocUnsafe(Math.min(READ_BYTES, this.size));
  }

  /** Reports an error to the waiting reader, if there is one. */
  private begin(buffer: Buffer, at: number): Promise<number> {
    const reading = this.read(buffer, at);
    reading.catch(() => undefined);
    return reading;
  }

  private async read(buffer: Buffer, at: number): Promise<number> {
    const wanted = Math.min(buffer.length, this.size - at);
    if (wanted === 0) return 0;
    return (await this.handle.read(buffer, 0, wanted, this.start + at)).bytesRead;
  }
}

/** Bytes of one write call. */
const WRITE_BYTES = 256 * 1024;
/** A store with this much free space is not full. */
const PROBE_BYTES = 1024 * 1024;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Stores objects as files of a directory. An object is written under a temporary name, synced and renamed, so that it is complete or
 * absent after a crash of the process or the machine. Processes of one machine may share the directory; several machines need
 * a shared file system.
 */
export class FileStore extends ObjectStore {
  constructor(private readonly root: string) {
    super();
  }

  async write(name: string, source: ByteSource): Promise<void> {
    const file = this.pathOf(name);
    const unfinished = unfinishedOf(file);
    const handle = await translateErrors('write', () => create(unfinished));
    try {
      await copy(source, handle);
      await translateErrors('write', () => handle.sync());
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined);
      throw error;
    } finally {
      await handle.close().catch(() => undefined);
    }
    await translateErrors('write', async () => {
      await rename(unfinished, file);
      await syncDirectory(path.dirname(file));
    });
  }

  async open(name: string, range?: ByteRange): Promise<OpenBlob> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(this.pathOf(name), 'r');
      const { size } = await handle.stat();
      const end = Math.min(range?.end ?? size, size - 1);
      const start = range?.start ?? 0;
      return new OpenFile(handle, start, Math.max(0, end - start + 1));
    } catch (error) {
      await handle?.close().catch(() => undefined);
      throw isMissing(error) ? new BlobMissingError(name) : new BlobStoreError('read', error);
    }
  }

  async size(name: string): Promise<number | undefined> {
    try {
      return (await stat(this.pathOf(name))).size;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw new BlobStoreError('read', error);
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    const entries = glob('**', {
      cwd: this.pathOf(folder),
      withFileTypes: true,
      exclude: ({ name }) => name.endsWith(UNFINISHED),
    });
    try {
      for await (const entry of entries) {
        if (!entry.isFile()) continue;
        yield path.relative(this.root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/');
      }
    } catch (error) {
      if (!isMissing(error)) throw new BlobStoreError('read', error);
    }
  }

  async remove(name: string): Promise<void> {
    const file = this.pathOf(name);
    await translateErrors('remove', async () => {
      await rm(unfinishedOf(file), { force: true });
      await rm(file, { force: true });
    });
  }

  async check(full = false): Promise<void> {
    await translateErrors('be written to', async () => {
      await mkdir(this.root, { recursive: true, mode: 0o700 });
      await access(this.root, constants.R_OK | constants.W_OK | constants.X_OK);
      if (full) await this.writeProbe();
    });
  }

  private async writeProbe(): Promise<void> {
    const file = path.join(this.root, `probe-${randomUUID()}`);
    try {
      await writeFile(file, Buffer.alloc(PROBE_BYTES), { flush: true });
    } finally {
      await rm(file, { force: true });
    }
  }

  private pathOf(name: string): string {
    return path.join(this.root, name);
  }
}

const UNFINISHED = '.unfinished';

/** Derived from the name of the object, so that the collector can remove the file of a killed process. */
const unfinishedOf = (file: string): string => file + UNFINISHED;

/**
 * Creates a file, or empties the file that a killed process has left. Creates missing directories; each is synced before its
 * content is created.
 */
async function create(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'w', 0o600);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const directory = path.dirname(file);
  const first = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (first !== undefined) {
    const made = path.relative(path.dirname(first), directory).split(path.sep);
    for (const depth of made.keys()) {
      await syncDirectory(path.join(path.dirname(first), ...made.slice(0, depth)));
    }
  }
  return open(file, 'w', 0o600);
}

/** Copies the source in writes of `WRITE_BYTES`. The next chunk is requested after the write. */
async function copy(source: ByteSource, handle: FileHandle): Promise<void> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const [chunks, size] = [waiting, bytes];
    waiting = [];
    bytes = 0;
    if (size === 0) return;
    await translateErrors('write', async () => {
      const { bytesWritten } = await handle.writev(chunks);
      if (bytesWritten === size) return;
      // A short write: a full disk or a signal. Writing the rest succeeds or reports the reason.
      for (let rest = Buffer.concat(chunks).subarray(bytesWritten); rest.length > 0;) {
        rest = rest.subarray((await handle.write(rest)).bytesWritten);
      }
    });
  };
  for await (const chunk of source) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes >= WRITE_BYTES) await flush();
  }
  await flush();
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
