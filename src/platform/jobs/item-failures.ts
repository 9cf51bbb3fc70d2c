import type { Logger } from '@nestjs/common';

/** After more failures in one run, the items are not the cause. */
const MAX_FAILURES = 20;

/** Collects the failures of single items of a job, so that the other items are processed. */
export class ItemFailures {
  private readonly errors: unknown[] = [];

  /** @param workName the work of an item, for the log */
  constructor(
    private readonly logger: Logger,
    private readonly workName: string,
  ) {}

  /**
   * Runs the work of one item, and logs its failure.
   * @param item its ids, for the log
   * @returns false for a failure
   * @throws the error of the work, after 20 failures of other items
   */
  async guard(item: object, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.errors.push(error);
      if (this.errors.length > MAX_FAILURES) throw error;
      this.logger.warn({ err: error, ...item }, `${this.workName} failed; a later run repeats it`);
      return false;
    }
  }

  /** Call it after the last item. @throws AggregateError when items failed, so that the state of the job shows it */
  report(): void {
    const { errors } = this;
    if (errors.length > 0)
      throw new AggregateError(errors, `${this.workName} failed for ${errors.length} items; see the log`);
  }
}
