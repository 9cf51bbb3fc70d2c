import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';

const CREDENTIALS = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };

/** A storage service of its own for a test, with one bucket. */
export class Swift {
  readonly port: number;
  private readonly child: ChildProcess;
  private readonly directory: string;
  private readonly client: S3Client;

  // No parameter property: the soak loads this file with its types stripped, which does not support them.
  private constructor(child: ChildProcess, directory: string, port: number, client: S3Client) {
    this.child = child;
    this.directory = directory;
    this.port = port;
    this.client = client;
  }

  /** @param parent of the directory of its files; it must allow extended attributes */
  static async start(parent = tmpdir()): Promise<Swift> {
    const directory = mkdtempSync(path.join(parent, 'workspace-swift-'));
    const script = path.join(import.meta.dirname, 'swift_server.py');
    const child = spawn('/usr/bin/python3', [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
    const port = await new Promise<number>((resolve, reject) => {
      child.stdout.once('data', (line: Buffer) => resolve(Number(line.toString())));
      child
        .once('error', reject)
        .once('exit', () => reject(new Error('Swift did not start: run .ci/ensure-swift')));
    });
    const client = new S3Client({
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: CREDENTIALS,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    const swift = new Swift(child, directory, port, client);
    try {
      await client.send(new CreateBucketCommand({ Bucket: 'files' }));
      return swift;
    } catch (error) {
      await swift.stop();
      throw error;
    }
  }

  /** Settings of a server that keeps its files there. */
  get url(): string {
    return `s3://files/some/where?endpoint=http://127.0.0.1:${this.port}&region=us-east-1`;
  }

  /** For the SDK's own way of finding credentials. */
  static readonly env = {
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
  };

  /** The names of all objects. */
  async objects(): Promise<string[]> {
    const { Contents = [] } = await this.client.send(new ListObjectsV2Command({ Bucket: 'files' }));
    return Contents.map(({ Key }) => Key as string);
  }

  /** The names of all objects that are being uploaded in parts. */
  async uploads(): Promise<string[]> {
    const { Uploads = [] } = await this.client.send(new ListMultipartUploadsCommand({ Bucket: 'files' }));
    return Uploads.map(({ Key }) => Key as string);
  }

  async stop(): Promise<void> {
    this.client.destroy();
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin?.end();
    await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
