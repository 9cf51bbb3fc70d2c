import os from 'node:os';
import { parentPort } from 'node:worker_threads';

/** The message that a thread returns. */
export type WorkerResult<Output> = { done: Output } | { failed: string };

/** Nice value of worker threads. The thread that serves requests has 0, a higher priority. */
const PRIORITY = 5;

/**
 * Makes the module a script for WorkerPool: runs each task and posts its result.
 *
 * @param work receives the argument of WorkerPool.run()
 * @param transferred memory of the result that moves to the main thread instead of being copied
 */
export function serveWork<Output>(
  work: (input: never) => Output | Promise<Output>,
  transferred: (output: Output) => ArrayBuffer[] = () => [],
): void {
  lowerPriority();
  const respond = async (input: unknown): Promise<void> => {
    const result = await attempt(() => work(input as never));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread's port, not a window
    parentPort?.postMessage(result, 'done' in result ? transferred(result.done) : []);
  };
  parentPort?.on('message', (input) => void respond(input));
}

async function attempt<Output>(work: () => Output | Promise<Output>): Promise<WorkerResult<Output>> {
  try {
    return { done: await work() };
  } catch (error) {
    return { failed: String(error) };
  }
}

/**
 * Gives requests precedence when there are more threads than cores. On Linux priorities belong to threads, and the id 0 means
 * the calling thread; on other systems it means the whole process.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    os.setPriority(0, PRIORITY);
  } catch {
    // If that is not permitted, the thread keeps its priority.
  }
}
