import { parentPort } from 'node:worker_threads';
import { cleanHtml } from './html-clean.js';
import { HtmlTooComplexError } from './html-errors.js';
import type { WorkerAnswer } from './html-worker-pool.js';

function answer(html: string): WorkerAnswer {
  try {
    const clean = cleanHtml(html);
    // The pool still has the text it sent: unchanged ones need not be copied back.
    return { clean: clean === html ? null : clean };
  } catch (error) {
    return error instanceof HtmlTooComplexError ? { tooComplex: error.code } : { failed: String(error) };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread's port, not a window
parentPort?.on('message', (html: string) => parentPort?.postMessage(answer(html)));
