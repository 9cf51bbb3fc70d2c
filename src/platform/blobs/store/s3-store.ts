import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Readable } from 'node:stream';
import type { BlobStoreSettings } from '../../../config/store-urls.js';
import {
  BlobMissingError,
  BlobStoreError,
  type ByteRange,
  type ByteSource,
  ObjectStore,
  type OpenBlob,
  translateErrors,
} from './object-store.js';

type S3Settings = Extract<BlobStoreSettings, { kind: 's3' }>;

/** The minimum of S3 for all parts but the last. One part is sent while the next is read, so two are in memory. */
const PART_BYTES = 5 * 1024 * 1024;
const CONNECT_MS = 3_000;
/** A request fails after this time without data from the service. */
const SILENCE_MS = 15_000;
const MAX_CONNECTIONS = 64;

/**
 * Stores objects in a bucket of Amazon S3 or a compatible service. The SDK finds the credentials (environment, shared
 * files, instance role). Small files are one request; larger ones a multipart upload, which is aborted on failure. An object is
 * complete or absent.
 */
export class S3Store extends ObjectStore {
  private readonly client: S3Client;

  constructor(private readonly settings: S3Settings) {
    super();
    this.client = new S3Client({
      endpoint: settings.endpoint,
      // Compatible services accept any region. The SDK looks up the default region for Amazon.
      region: settings.region ?? (settings.endpoint === undefined ? undefined : 'us-east-1'),
      forcePathStyle: settings.pathStyle,
      // Not all services support the checksums of the SDK. The database has a hash of each blob.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        httpAgent: { maxSockets: MAX_CONNECTIONS },
        httpsAgent: { maxSockets: MAX_CONNECTIONS },
      },
    });
  }

  async write(name: string, source: ByteSource): Promise<void> {
    const watched = new WatchedSource(source);
    const upload = new Upload({
      client: this.client,
      params: { ...this.target(name), Body: Readable.from(watched, { objectMode: false }) },
      partSize: PART_BYTES,
      queueSize: 1,
      leavePartsOnError: false,
    });
    try {
      await upload.done();
    } catch (error) {
      // The original error of the source, in place of the error of the SDK.
      if (watched.failed) throw watched.failure;
      throw new BlobStoreError('write', error);
    }
  }

  async open(name: string, range?: ByteRange): Promise<OpenBlob> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    try {
      const response = await this.client.send(new GetObjectCommand({ ...this.target(name), Range }));
      const stream = response.Body as Readable;
      return {
        stream,
        size: response.ContentLength ?? 0,
        pieces: () => stream,
        close: () => stream.destroy(),
      };
    } catch (error) {
      throw isMissing(error) ? new BlobMissingError(name) : new BlobStoreError('read', error);
    }
  }

  async size(name: string): Promise<number | undefined> {
    try {
      return (await this.client.send(new HeadObjectCommand(this.target(name)))).ContentLength;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw new BlobStoreError('read', error);
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    const { Bucket, Key: Prefix } = this.target(`${folder}/`);
    try {
      for await (const { Contents = [] } of paginateListObjectsV2(
        { client: this.client },
        { Bucket, Prefix },
      ))
        for (const { Key = '' } of Contents) yield Key.slice(this.settings.prefix.length);
    } catch (error) {
      throw new BlobStoreError('be listed', error);
    }
  }

  async remove(name: string): Promise<void> {
    await translateErrors('remove', async () => {
      await this.abortUploads(name);
      await this.client.send(new DeleteObjectCommand(this.target(name)));
    });
  }

  async check(): Promise<void> {
    const head = new HeadBucketCommand({ Bucket: this.settings.bucket });
    await translateErrors('be reached', () => this.client.send(head));
  }

  override close(): void {
    this.client.destroy();
  }

  /** Aborts the unfinished uploads of killed processes. Their parts cost money and appear in no listing of objects. */
  private async abortUploads(name: string): Promise<void> {
    const { Bucket, Key } = this.target(name);
    const { Uploads = [] } = await this.client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
    for (const { UploadId, Key: found } of Uploads) {
      if (found === Key) await this.client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    }
  }

  private target(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.settings.bucket, Key: this.settings.prefix + name };
  }
}

/** Records the error of its source. */
class WatchedSource {
  failed = false;
  failure: unknown;

  constructor(private readonly source: ByteSource) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.source;
    } catch (error) {
      this.failed = true;
      this.failure = error;
      throw error;
    }
  }
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof S3ServiceException &&
    error.$metadata.httpStatusCode === 404 &&
    error.name !== 'NoSuchBucket'
  );
}
