import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/tx.js';

/** Identifies a hook and the types of its argument and its result. Declared by the domain that calls it. */
export class TxHook<P, R = void> {
  declare private readonly payload: P;
  declare private readonly result: R;

  constructor(readonly name: string) {}
}

type Effect<P, R> = (tx: Tx, payload: P) => Promise<R>;

/**
 * Effects inside a transaction against the direction of imports: a domain declares and calls a hook, and domains that import it
 * register handlers. Example: when a folder is deleted, notes move their rows in the same transaction.
 */
@Injectable()
export class TxHooks {
  private readonly effects = new Map<string, Effect<never, unknown>[]>();

  on<P, R>(hook: TxHook<P, R>, effect: Effect<P, R>): void {
    this.effects.set(hook.name, [...(this.effects.get(hook.name) ?? []), effect]);
  }

  /**
   * Runs the effects one after the other in the order of registration. An error rolls the transaction back.
   * @returns their results
   */
  async run<P, R>(tx: Tx, hook: TxHook<P, R>, payload: P): Promise<R[]> {
    const results: R[] = [];
    for (const effect of this.effects.get(hook.name) ?? [])
      results.push((await effect(tx, payload as never)) as R);
    return results;
  }
}
