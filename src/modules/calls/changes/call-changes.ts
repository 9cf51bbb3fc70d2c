import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/tx.js';
import { Bus } from '../../../platform/bus/bus.js';
import type { CallKey } from '../model/call-identity.js';

const CALL_CHANGED = 'calls.changed';

/** A message between processes. It carries ids: receivers read the rows. */
export interface CallChange {
  tenant: string;
  call: string;
  change: 'started' | 'updated' | 'ended';
  /** A recording that changed. */
  recording?: string;
}

/** Reports changes of calls to the sockets of all processes, after the commit. */
@Injectable()
export class CallChanges {
  constructor(private readonly bus: Bus) {}

  report(tx: Tx, { tenantId, callId }: CallKey, change: CallChange['change'], recording?: string): void {
    const message = { tenant: tenantId, call: callId, change, ...(recording && { recording }) };
    tx.afterCommit(() => this.bus.publish(CALL_CHANGED, message));
  }

  subscribe(handler: (message: CallChange) => void): void {
    this.bus.subscribe(CALL_CHANGED, (message) => handler(message as unknown as CallChange));
  }
}
