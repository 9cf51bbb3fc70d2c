/** Wakes a wait. A ring without a wait ends the next one at once. */
export class Alarm {
  private rung = false;
  private wake: (() => void) | undefined;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** Forgets the rings until now. */
  reset(): void {
    this.rung = false;
  }

  /**
   * Runs work until it ends or the alarm rings.
   * @param work ends early when its signal aborts
   * @returns undefined after a ring
   */
  async interrupt<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (this.rung || signal.aborted) return undefined;
    const abort = new AbortController();
    const end = () => abort.abort();
    this.wake = end;
    signal.addEventListener('abort', end);
    try {
      return await work(abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return undefined;
      throw error;
    } finally {
      this.wake = undefined;
      signal.removeEventListener('abort', end);
    }
  }
}
