import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { jest } from '@jest/globals';
import { QueueFullError, WorkerPool } from '../../src/platform/workers/worker-pool.js';
import { fakeOnly } from '../support/clock.ts';
import { until } from '../support/until.ts';
import { memoryDirectory } from '../support/memory-directory.ts';

/** Waits without processor time, or works for a long time. */
const SCRIPT = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ waitMs }) => {
    if (waitMs === undefined) for (;;);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
    parentPort.postMessage({ done: 'waited' });
  });`;

describe('the time limit of worker threads', () => {
  const directory = memoryDirectory('worker-pool-');
  const script = path.join(directory, 'script.mjs');
  writeFileSync(script, SCRIPT);
  const pools: WorkerPool<{ waitMs?: number }, string>[] = [];
  const pool = (timeoutMs: number): WorkerPool<{ waitMs?: number }, string> => {
    const made = new WorkerPool<{ waitMs?: number }, string>(pathToFileURL(script), {
      workers: 1,
      queue: 1,
      timeoutMs,
      memoryMb: 64,
    });
    pools.push(made);
    return made;
  };
  afterAll(async () => {
    await Promise.all(pools.map((each) => each.close()));
    rmSync(directory, { recursive: true });
  });

  it('is a limit of processor time: a thread that waits for a processor goes on', async () => {
    // The start of a thread takes up to 200 ms of processor time on a busy machine.
    const patient = pool(1_000);
    expect(await patient.run({ waitMs: 2_000 })).toBe('waited');
    await expect(patient.run({})).rejects.toMatchObject({ limit: 'time' });
    expect(await patient.run({ waitMs: 1 })).toBe('waited');
  });

  it('ends a thread that has had no task for a minute, and starts another one for the next task', async () => {
    fakeOnly(['setTimeout', 'clearTimeout']);
    try {
      const idle = pool(1_000);
      const threads = (idle as unknown as { threads: Map<number, Worker> }).threads;
      expect(await idle.run({ waitMs: 1 })).toBe('waited');
      const [first] = threads.values();
      jest.advanceTimersByTime(59_000);
      expect(await idle.run({ waitMs: 1 })).toBe('waited');
      jest.advanceTimersByTime(59_000);
      expect([...threads.values()]).toEqual([first]);
      const ended = once(first as Worker, 'exit');
      jest.advanceTimersByTime(1_000);
      expect(threads.size).toBe(0);
      await ended;
      expect(await idle.run({ waitMs: 1 })).toBe('waited');
      expect([...threads.values()]).not.toContain(first);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is stretched ten times at most: the machine is overloaded then', async () => {
    fakeOnly(['performance', 'setTimeout', 'clearTimeout']);
    try {
      let error: unknown;
      const stalled = pool(2_000).run({ waitMs: 600_000 });
      stalled.catch((reason: unknown) => (error = reason));
      let seconds = 0;
      await until('the limit', () => {
        jest.advanceTimersByTime(1_000);
        seconds++;
        return error !== undefined;
      });
      expect(error).toBeInstanceOf(QueueFullError);
      expect(seconds).toBeGreaterThanOrEqual(20);
    } finally {
      jest.useRealTimers();
    }
  });
});
