import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { browserName } from '../../../platform/http/user-agent.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import { SecurityLog } from '../../account-security/index.js';
import { emailKey, type SignInAccount } from '../../identity/index.js';
import { OIDC_PATH } from '../oidc-configuration.js';
import { actorOf, type SignIn } from '../sign-in-state.js';

const PREFIX = 'workspace_browser_';
const NAME_BYTES = 9;
const NONCE_BYTES = 16;
const MAC_BYTES = 16;
const VALUE = /^([\w-]{22})\.([\w-]{22})$/;
/** The maximum that browsers accept (RFC 6265bis). */
const LIFETIME_MS = 400 * 86_400_000;

/**
 * Recognises browsers in which an account signed in before, by a signed cookie for each account (OWASP, "Slow Down Online Guessing
 * Attacks with Device Cookies"). The cookie gives no access. Failed sign-ins in a known browser are counted separately, and a
 * sign-in from an unknown browser is reported to the owner.
 */
@Injectable()
export class KnownBrowsers {
  constructor(
    private readonly keyring: Keyring,
    private readonly config: Config,
    private readonly log: SecurityLog,
    private readonly db: Db,
  ) {}

  /** @returns the id of this browser for the account with the address; null: unknown */
  idOf(request: Request, email: string): string | null {
    const account = emailKey(email);
    const start = `${this.cookieName(account)}=`;
    const pair = (request.headers.cookie ?? '').split(/; */).find((each) => each.startsWith(start));
    const [, nonce, mac] = VALUE.exec(pair?.slice(start.length) ?? '') ?? [];
    if (nonce === undefined || mac === undefined) return null;
    const isGenuine = this.keyring.verify(
      'known browser',
      `${account} ${nonce}`,
      Buffer.from(mac, 'base64url'),
    );
    return isGenuine ? nonce : null;
  }

  /** Reports a sign-in from an unknown browser to the owner, and sets the cookie. */
  async record({ request, response }: SignIn, { id, email }: SignInAccount): Promise<void> {
    if (this.idOf(request, email) !== null) return;
    const browser = browserName(request.headers['user-agent']);
    await this.db.tx((tx) =>
      this.log.record(tx, actorOf(request, id), 'security.new_browser', { ...browser }),
    );
    this.remember(response, email);
  }

  private remember(response: Response, email: string): void {
    const account = emailKey(email);
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const mac = this.keyring.sign('known browser', `${account} ${nonce}`, MAC_BYTES).toString('base64url');
    response.cookie(this.cookieName(account), `${nonce}.${mac}`, {
      path: OIDC_PATH,
      maxAge: LIFETIME_MS,
      httpOnly: true,
      sameSite: 'lax',
      secure: this.config.publicUrl.startsWith('https:'),
    });
  }

  private cookieName(account: string): string {
    return `${PREFIX}${this.keyring.sign('known browser name', account, NAME_BYTES).toString('base64url')}`;
  }
}
