/** A backup or restore that cannot work. The message is for the operator. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
  }
}

/** A step of a backup, a verification or a restore that has ended. */
export interface Progress {
  phase: 'table' | 'file';
  /** Name of the table or of the file. */
  name: string;
  /** Rows of the table or bytes of the file. */
  amount: number;
}

/** Receives each step. An error that it throws aborts the work. */
export type Report = (step: Progress) => void | Promise<void>;

/** A file of a backup that is missing or has other bytes than recorded. */
export interface Fault {
  name: string;
  reason: 'missing' | 'damaged';
}
