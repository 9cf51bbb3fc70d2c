/** Counts concurrent work of this process, in total and of each owner. There is no queue. */
export class Slots {
  private readonly byOwner = new Map<string, number>();
  private total = 0;

  /** @returns a function that releases the slot, or the limit that is reached */
  take(owner: string, max: { owner: number; total: number }): (() => void) | keyof typeof max {
    const count = this.byOwner.get(owner) ?? 0;
    if (count >= max.owner) return 'owner';
    if (this.total >= max.total) return 'total';
    this.byOwner.set(owner, count + 1);
    this.total += 1;
    return () => this.release(owner);
  }

  private release(owner: string): void {
    this.total -= 1;
    const left = (this.byOwner.get(owner) ?? 1) - 1;
    if (left > 0) this.byOwner.set(owner, left);
    else this.byOwner.delete(owner);
  }
}
