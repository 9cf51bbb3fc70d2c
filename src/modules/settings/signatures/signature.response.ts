import { ItemFields } from '../../../platform/resources/item.response.js';

export class SignatureResponse extends ItemFields {
  /** @example "Work" */ name!: string;
  /** @example "<p>Alice Martin<br>Research</p>" */ html!: string;
  /** @example "Alice Martin Research" */ text!: string;
  /** @example true */ is_default!: boolean;
}
