import { randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import { directory } from '../../../../platform/database/statement.js';
import { PeriodicJobs } from '../../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../../platform/jobs/sweep.js';
import type { PasskeyChallenge } from '../../account-security.schema.js';

export type Ceremony = PasskeyChallenge['purpose'];

const CHALLENGE_BYTES = 32;
/** Time between the options of a ceremony and its response. */
export const CHALLENGE_SECONDS = 600;

const put = directory.statement<never>(
  'passkey_challenges.put',
  `INSERT INTO passkey_challenges (purpose, subject, challenge, expires_at)
   VALUES ($1, $2, $3, now() + make_interval(secs => ${CHALLENGE_SECONDS}))
   ON CONFLICT (purpose, subject) DO UPDATE SET challenge = excluded.challenge, expires_at = excluded.expires_at`,
);

const take = directory.statement<Pick<PasskeyChallenge, 'challenge'> & { isValid: boolean }>(
  'passkey_challenges.take',
  `DELETE FROM passkey_challenges WHERE purpose = $1 AND subject = $2
   RETURNING challenge, expires_at > now() AS "isValid"`,
);

const forget: Sweep = directory.statement(
  'passkey_challenges.forget',
  deletion('passkey_challenges', `expires_at < now()`),
);

/** Challenges of WebAuthn ceremonies: valid once, for ten minutes. A new one replaces the one of the same ceremony and subject. */
@Injectable()
export class PasskeyChallenges implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'passkey-challenges.forget', everySeconds: 3_600, deletes: forget });
  }

  /** @param subject the session of the caller, or the sign-in of the browser */
  async create(ceremony: Ceremony, subject: string): Promise<Buffer> {
    const challenge = randomBytes(CHALLENGE_BYTES);
    await this.db.single((tx) => tx.query(put, [ceremony, subject, challenge]));
    return challenge;
  }

  /** Uses the challenge, whether the response to it is valid or not. @returns null for a used or expired one */
  async take(ceremony: Ceremony, subject: string): Promise<Buffer | null> {
    const [row] = await this.db.single((tx) => tx.query(take, [ceremony, subject]));
    return row?.isValid ? row.challenge : null;
  }
}
