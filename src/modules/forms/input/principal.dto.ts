import { OneOf, Optional, Uuid } from '../../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';

/** A member or a group: `user_id`, `group_id`, or `kind` and `id` as in responses. */
export class PrincipalInput {
  @Optional() @Uuid({ example: EXAMPLE_ID }) user_id?: string;
  @Optional() @Uuid({ example: '01890a5d-ac96-774b-bcce-b302099a8058' }) group_id?: string;
  /** With `id`, in place of `user_id` or `group_id`. */
  @Optional() @OneOf(['user', 'group'], { example: 'user' }) kind?: 'user' | 'group';
  @Optional() @Uuid({ example: EXAMPLE_ID }) id?: string;
}
