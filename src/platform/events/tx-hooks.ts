import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/tx.js';

/** Identifies a hook and the type of its argument. Declared by the domain that calls it. */
export class TxHook<P> {
  declare private readonly payload: P;

  constructor(readonly name: string) {}
}

type Effect<P> = (tx: Tx, payload: P) => Promise<void>;

/**
 * Effects inside a transaction against the direction of imports: a domain declares and calls a hook, and domains that import it
 * register handlers. Example: when a folder is deleted, notes move their rows in the same transaction.
 */
@Injectable()
export class TxHooks {
  private readonly effects = new Map<string, Effect<never>[]>();

  on<P>(hook: TxHook<P>, effect: Effect<P>): void {
    this.effects.set(hook.name, [...(this.effects.get(hook.name) ?? []), effect]);
  }

  /** Runs the effects one after the other in the order of registration. An error rolls the transaction back. */
  async run<P>(tx: Tx, hook: TxHook<P>, payload: P): Promise<void> {
    for (const effect of this.effects.get(hook.name) ?? []) await effect(tx, payload as never);
  }
}
