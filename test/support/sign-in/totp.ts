import { Secret, TOTP } from 'otpauth';
import { fakeOnly } from '../clock.ts';

const PERIOD_MS = 30_000;

/**
 * Stops the wall clock in the middle of a time step, so that a code is verified in the step of its creation on a busy
 * machine. Timers and the clock of the database continue.
 */
export function stopClock(): void {
  const now = Math.floor(Date.now() / PERIOD_MS) * PERIOD_MS + PERIOD_MS / 2;
  fakeOnly(['Date'], now);
}

/** An authenticator application: creates the codes of a secret. */
export class Authenticator {
  private readonly totp: TOTP;

  /** @param secret base 32 */
  constructor(secret: string) {
    this.totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });
  }

  /** @param steps away from now */
  code(steps = 0): string {
    return this.totp.generate({ timestamp: Date.now() + steps * PERIOD_MS });
  }

  /** A code that no step around now has. */
  wrong(n = 0): string {
    const right = new Set([-3, -2, -1, 0, 1, 2, 3].map((steps) => this.code(steps)));
    const free = Array.from({ length: 40 }, (_, k) => String(k).padStart(6, '0')).filter(
      (c) => !right.has(c),
    );
    return free[n] as string;
  }
}
