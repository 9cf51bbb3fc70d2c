import { Entries, Moment, Nullable, OneOf, Optional } from '../../../platform/http/input.decorators.js';
import { PrincipalInput } from '../input/principal.dto.js';

export class ShareForm {
  /**
   * The role of signed-in members of the workspace who open the link. With `view` they read the responses, the analytics and the exports
   * too. Default: `respond`.
   */
  @Optional() @OneOf(['respond', 'view'], { example: 'respond' }) role?: 'respond' | 'view';

  /** Null: the link does not expire. */
  @Nullable()
  @Moment({ required: false, nullable: true, example: '2999-01-31T18:00:00Z' })
  expires_at?: Date | null;
}

export class FormAccessInput extends PrincipalInput {
  @OneOf(['respondent', 'viewer', 'editor'], { example: 'respondent' })
  role!: 'respondent' | 'viewer' | 'editor';
}

export class SetFormAccess {
  /** The whole list: members and groups that are missing lose their role. */
  @Entries(FormAccessInput, 500) access!: FormAccessInput[];
}
