import { IsString, Matches, MaxLength } from 'class-validator';
import { EmailAddress, Optional } from '../../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from '../model/guess-limits.js';

export class ChangeEmail {
  /** The new address. @example "alice@demo.example" */
  @EmailAddress()
  email!: string;

  /** Your password, if the account has one. @example "correct horse battery staple" */
  @Optional()
  @MaxLength(MAX_PASSWORD)
  @IsString()
  password?: string;

  /**
   * An authenticator code. Required with the second factor on, when this session proved it more than ten minutes ago.
   * @example "492039"
   */
  @Optional()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits of the authenticator' })
  code?: string;
}
