import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../config/config.js';

const TIMEOUT_MS = 2_000;
const PREFIX_LENGTH = 5;

/**
 * Asks a service whether a password is known from a data breach, by k-anonymity: only five of the forty digits of its SHA-1
 * leave this process, and the service answers with all it knows under them (the range interface of Pwned Passwords).
 */
@Injectable()
export class BreachList {
  private readonly logger = new Logger(BreachList.name);

  constructor(private readonly config: Config) {}

  /** False also where no service is configured or it does not answer: a password can be changed without it. */
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
      if (!response.ok) throw new Error(`it answers ${response.status}`);
      return lists(await response.text(), digest.slice(PREFIX_LENGTH));
    } catch (error) {
      this.logger.warn({ err: error }, 'the breach list cannot be asked; the password is taken without it');
      return false;
    }
  }
}

/** Lines of `<rest of the hash>:<times seen>`; padding has been seen 0 times. */
function lists(text: string, rest: string): boolean {
  return text.split(/\r?\n/).some((line) => {
    const [suffix, times] = line.split(':');
    return suffix?.trim().toUpperCase() === rest && Number(times) > 0;
  });
}
