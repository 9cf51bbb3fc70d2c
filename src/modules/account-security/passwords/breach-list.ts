import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../../config/config.js';

const TIMEOUT_MS = 2_000;
const PREFIX_LENGTH = 5;

/**
 * Looks up passwords in a breach database by k-anonymity: only five of forty SHA-1 digits leave the process, and the
 * service returns all hashes with this prefix (range API of Pwned Passwords).
 */
@Injectable()
export class BreachList {
  private readonly logger = new Logger(BreachList.name);

  constructor(private readonly config: Config) {}

  /** False also when no service is configured or available, so that passwords can always be changed. */
  async contains(password: string): Promise<boolean> {
    const base = this.config.PASSWORD_BREACH_URL?.replace(/\/+$/, '');
    if (!base) return false;
    const digest = createHash('sha1').update(password).digest('hex').toUpperCase();
    try {
      const response = await fetch(`${base}/range/${digest.slice(0, PREFIX_LENGTH)}`, {
        headers: { 'Add-Padding': 'true' },
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!response.ok) throw new Error(`the response has status ${response.status}`);
      return lists(await response.text(), digest.slice(PREFIX_LENGTH));
    } catch (error) {
      this.logger.warn({ err: error }, 'the breach list is unavailable; the password is accepted without it');
      return false;
    }
  }
}

/** Lines of `<hash suffix>:<count>`; padding lines have count 0. */
function lists(text: string, suffix: string): boolean {
  return text.split(/\r?\n/).some((line) => {
    const [candidate, count] = line.split(':');
    return candidate?.trim().toUpperCase() === suffix && Number(count) > 0;
  });
}
