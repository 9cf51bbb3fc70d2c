/** Limits what runs at the same time in this process. There is no queue, because a waiting connection costs as much as a served one. */
export class UserSlots {
  private readonly byUser = new Map<string, number>();
  private total = 0;

  /** @param refusal the error at the limit of a user, or of all users */
  constructor(
    private readonly limits: Readonly<{ perUser: number; total: number }>,
    private readonly refusal: (limit: 'user' | 'total') => Error,
  ) {}

  /**
   * @returns releases the slot; to be called once
   * @throws the refusal
   */
  enter(user: string): () => void {
    const own = this.byUser.get(user) ?? 0;
    if (own >= this.limits.perUser) throw this.refusal('user');
    if (this.total >= this.limits.total) throw this.refusal('total');
    this.byUser.set(user, own + 1);
    this.total += 1;
    return () => this.leave(user);
  }

  private leave(user: string): void {
    this.total -= 1;
    const left = (this.byUser.get(user) ?? 1) - 1;
    if (left > 0) this.byUser.set(user, left);
    else this.byUser.delete(user);
  }
}
