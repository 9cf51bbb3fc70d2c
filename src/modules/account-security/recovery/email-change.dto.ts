import { EmailAddress } from '../../../platform/http/input.decorators.js';
import { ConfirmOwner } from '../model/confirm-owner.dto.js';

export class ChangeEmail extends ConfirmOwner {
  /** The new address. @example "alice@demo.example" */
  @EmailAddress() email!: string;
}
