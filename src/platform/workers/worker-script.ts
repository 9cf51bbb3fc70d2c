import os from 'node:os';
import { parentPort } from 'node:worker_threads';

/** What a thread sends back. */
export type WorkerAnswer<Output> = { done: Output } | { failed: string };

/** Below the thread that answers requests, well above idle. */
const PRIORITY = 5;

/**
 * Makes the module a script for WorkerPool: answers each piece of work with what `work` returns.
 *
 * @param work its argument is what WorkerPool.run() was given
 * @param handedOver memory of the result that moves to the other side instead of being copied
 */
export function serveWork<Output>(
  work: (input: never) => Output | Promise<Output>,
  handedOver: (output: Output) => ArrayBuffer[] = () => [],
): void {
  stepBack();
  const answerTo = async (input: unknown): Promise<void> => {
    const answer = await attempt(() => work(input as never));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread's port, not a window
    parentPort?.postMessage(answer, 'done' in answer ? handedOver(answer.done) : []);
  };
  parentPort?.on('message', (input) => void answerTo(input));
}

async function attempt<Output>(work: () => Output | Promise<Output>): Promise<WorkerAnswer<Output>> {
  try {
    return { done: await work() };
  } catch (error) {
    return { failed: String(error) };
  }
}

/**
 * Requests go first when there are more threads than cores. Linux keeps priorities per thread, and 0 means the calling
 * one; elsewhere it would be the whole process.
 */
function stepBack(): void {
  if (process.platform !== 'linux') return;
  try {
    os.setPriority(0, PRIORITY);
  } catch {
    // Not allowed here: then the work competes on equal terms.
  }
}
