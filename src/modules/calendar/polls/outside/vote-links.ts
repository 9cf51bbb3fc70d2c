import { Injectable } from '@nestjs/common';
import { API_PREFIX, Config } from '../../../../config/config.js';
import { isUuid } from '../../../../platform/http/id.pipe.js';
import { Keyring } from '../../../../platform/secrets/keyring.js';
import type { OutsideVoter } from '../poll-record.js';

const USE = 'poll-vote';
const SIGNATURE_BYTES = 16;

/** Signed links to the votes of one participant. They are valid as long as the poll exists. */
@Injectable()
export class VoteLinks {
  constructor(
    private readonly keyring: Keyring,
    private readonly config: Config,
  ) {}

  url(voter: OutsideVoter): string {
    return `${this.config.publicUrl}/${API_PREFIX}/calendar/polls/outside/${this.token(voter)}`;
  }

  /** @returns null for an invalid token */
  read(token: string): OutsideVoter | null {
    const [payload = '', signature = ''] = token.split('.');
    if (!this.keyring.verify(USE, payload, Buffer.from(signature, 'base64url'))) return null;
    const [tenantId, pollId, participantId] = Buffer.from(payload, 'base64url').toString().split(' ');
    if (!isUuid(tenantId) || !isUuid(pollId) || !isUuid(participantId)) return null;
    return { tenantId, pollId, participantId };
  }

  private token({ tenantId, pollId, participantId }: OutsideVoter): string {
    const payload = Buffer.from(`${tenantId} ${pollId} ${participantId}`).toString('base64url');
    return `${payload}.${this.keyring.sign(USE, payload, SIGNATURE_BYTES).toString('base64url')}`;
  }
}
