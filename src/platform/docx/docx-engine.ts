import type { DocxSource } from '../../lib/docx/index.js';

/** A way to make documents. */
export interface DocxEngine {
  /**
   * @param signal breaks the conversion off, or gives up its place in the queue
   * @throws QueueFullError, ClosedError, MissingProgramError, the signal's reason; anything else means it failed
   */
  convert(source: DocxSource, signal?: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The program an engine needs is not on this machine. */
export class MissingProgramError extends Error {
  constructor(program: string) {
    super(`there is no program ${program}`);
    this.name = 'MissingProgramError';
  }
}
