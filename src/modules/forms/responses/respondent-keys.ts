import { Injectable } from '@nestjs/common';
import { Keyring } from '../../../platform/secrets/keyring.js';

/** HMACs of respondents: they enforce one response of each user without an account id beside the answers. */
@Injectable()
export class RespondentKeys {
  constructor(private readonly keyring: Keyring) {}

  key(tenantId: string, formId: string, userId: string): Buffer {
    return this.keyring.sign('form respondent', `${tenantId} ${formId} ${userId}`);
  }
}
