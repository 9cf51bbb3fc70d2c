import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { MAX_ZIP_BYTES } from '../../lib/zip/index.js';
import { Blobs, type StoredBlob } from '../../platform/blobs/blobs.js';
import { PersonalArchive } from '../../platform/personal-data/personal-archive.js';
import { type DataOwner, PersonalData } from '../../platform/personal-data/personal-data.js';
import { PersonalRows } from '../../platform/personal-data/personal-rows.js';

interface ArchiveOptions {
  /** Ends the export. */
  signal: AbortSignal;
  /** Lists unavailable files in the archive, in place of an error. */
  omitsUnavailable: boolean;
  /** Called after each source. */
  progress: () => Promise<void>;
}

/** Writes the archives of exports into the blob store, as streams. */
@Injectable()
export class ExportArchives {
  constructor(
    private readonly data: PersonalData,
    private readonly rows: PersonalRows,
    private readonly blobs: Blobs,
  ) {}

  /** @returns the archive, which is not kept yet @throws the error of a source, or the reason of `signal` */
  async store(owner: DataOwner, options: ArchiveOptions): Promise<{ blob: StoredBlob; omitted: number }> {
    const stream = new PassThrough();
    const stored = this.blobs.put(owner.tenantId, stream, { maxBytes: MAX_ZIP_BYTES });
    // A failure of the store must end a writer that waits for the stream.
    stored.catch((error: Error) => stream.destroy(error));
    try {
      const omitted = await this.write(owner, stream, options);
      stream.end();
      return { blob: await stored, omitted };
    } catch (error) {
      stream.destroy(error as Error);
      await stored.catch(() => undefined);
      throw error;
    }
  }

  private async write(owner: DataOwner, stream: PassThrough, options: ArchiveOptions): Promise<number> {
    const { signal, omitsUnavailable, progress } = options;
    const { rows, blobs } = this;
    const sink = async (bytes: Uint8Array): Promise<void> => {
      signal.throwIfAborted();
      if (!stream.write(bytes)) await once(stream, 'drain', { signal });
    };
    const sources = { rows, blobs, tenantId: owner.tenantId };
    const archive = new PersonalArchive(sources, sink, signal, { omitsUnavailable });
    for (const source of this.data.sources) {
      signal.throwIfAborted();
      archive.enter(source.name);
      await untilAborted(source.export(owner, archive), signal);
      await progress();
    }
    archive.enter('');
    const { omitted } = archive;
    if (omitted.length > 0) await archive.content('omitted-files.json', [JSON.stringify(omitted, null, 2)]);
    await archive.content('README.txt', [readme(archive, this.data)]);
    await archive.end();
    return omitted.length;
  }
}

/** Waits for a source, or for the end of the export: a source may wait for a service that does not respond. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

function readme({ counts, omitted }: PersonalArchive, { sources }: PersonalData): string {
  const folders = sources.map(({ name }) => `${name}/  ${counts.get(name) ?? 0} files`);
  return [
    'Your personal data in this workspace, and those of your account.',
    '',
    ...folders,
    '',
    'JSON files contain a list with one object in each line. Times are UTC. Files are stored as files/<id>/<name>.',
    'Notes and tasks that other members own are not included. Older versions of notes are not included.',
    ...(omitted.length > 0
      ? [`omitted-files.json lists ${omitted.length} files that do not fit or are unavailable.`]
      : []),
    '',
  ].join('\n');
}
