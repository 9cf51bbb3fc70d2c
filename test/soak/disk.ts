import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A file system of its own for files. Needs root. */
export class SmallDisk {
  readonly directory = mkdtempSync(path.join(os.tmpdir(), 'soak-disk-'));
  private readonly filler = path.join(this.directory, 'filler');

  /** @returns undefined without the right to mount */
  static mount(megabytes: number): SmallDisk | undefined {
    const disk = new SmallDisk();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', disk.directory], {
        stdio: 'ignore',
      });
      return disk;
    } catch {
      rmdirSync(disk.directory);
      return undefined;
    }
  }

  fill(): void {
    const file = openSync(this.filler, 'a');
    try {
      for (const zeros = Buffer.alloc(4096); ;) writeSync(file, zeros);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.filler, { force: true });
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.directory]);
    rmdirSync(this.directory);
  }
}
