import type { DocxSource } from '../../lib/docx/index.js';

/** Converts HTML to a document. */
export interface DocxEngine {
  /**
   * @param signal aborts the conversion while it waits or runs
   * @throws QueueFullError, ClosedError, MissingProgramError, the signal's reason; other errors mean a failed conversion
   */
  convert(source: DocxSource, signal?: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The program of an engine is not installed. */
export class MissingProgramError extends Error {
  constructor(program: string) {
    super(`the program ${program} is not installed`);
    this.name = 'MissingProgramError';
  }
}
