import { readdir, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { MailSettings } from '../mail-settings.js';

const PREFIX = 'mail-spool-';
/** No piece of work takes so long. */
const ABANDONED_MS = 6 * 3_600_000;

/** Names for the files one piece of work may need; they are made by whoever writes to them. */
export class Scratch {
  private readonly files: string[] = [];

  constructor(private readonly directory: string) {}

  file(): string {
    const file = path.join(this.directory, uuidv7());
    this.files.push(file);
    return file;
  }

  /** Removes them all. */
  async clear(): Promise<void> {
    await Promise.all(this.files.map((file) => unlink(file).catch(() => undefined)));
  }
}

/**
 * Where long messages are while they are worked on: a directory of this process, which nobody else can read. What is in it
 * is worth nothing once the process has ended.
 */
@Injectable()
export class Spool implements OnModuleInit, OnApplicationShutdown {
  private readonly directory: string;

  constructor(
    private readonly settings: MailSettings,
    private readonly jobs: PeriodicJobs,
  ) {
    this.directory = path.join(settings.spoolParent, PREFIX + uuidv7());
  }

  onModuleInit(): void {
    this.jobs.register({ name: 'remove-abandoned-spools', everySeconds: 3_600, run: () => this.sweep() });
  }

  /** To be cleared when the work is done, however it ended. */
  scratch(): Scratch {
    return new Scratch(this.directory);
  }

  /** The same for the time of one piece of work. */
  async during<T>(work: (scratch: Scratch) => Promise<T>): Promise<T> {
    const scratch = this.scratch();
    try {
      return await work(scratch);
    } finally {
      await scratch.clear();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true }).catch(() => undefined);
  }

  /** Removes what killed processes left. A directory that is in use after all is made again by the next who writes. */
  async sweep(now = Date.now()): Promise<void> {
    const parent = this.settings.spoolParent;
    for (const name of await readdir(parent).catch(() => [])) {
      const directory = path.join(parent, name);
      if (!name.startsWith(PREFIX) || directory === this.directory) continue;
      const changed = await stat(directory).catch(() => undefined);
      if (changed && now - changed.mtimeMs > ABANDONED_MS)
        await rm(directory, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}
