import { readdir, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { MailSettings } from '../mail-settings.js';

const PREFIX = 'mail-spool-';
/** Age at which a directory is abandoned: longer than any task takes. */
const ABANDONED_MS = 6 * 3_600_000;

/** The temporary files of one task. The writer creates them. */
export class Scratch {
  private readonly files: string[] = [];

  constructor(private readonly directory: string) {}

  file(): string {
    const file = path.join(this.directory, uuidv7());
    this.files.push(file);
    return file;
  }

  /** Deletes the files. */
  async clear(): Promise<void> {
    await Promise.all(this.files.map((file) => unlink(file).catch(() => undefined)));
  }
}

/** The directory of this process for temporary files, readable by its user only. */
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

  /** Files for one task. The caller clears them at the end of the task. */
  scratch(): Scratch {
    return new Scratch(this.directory);
  }

  /** Runs a task with temporary files and deletes them. */
  async runWithScratch<T>(work: (scratch: Scratch) => Promise<T>): Promise<T> {
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

  /** Deletes directories of killed processes. A writer creates its directory again when needed. */
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
