import { ApiPropertyOptional } from '@nestjs/swagger';
import { Entries, Moment, Nullable, OneOf, Optional, Uuid } from '../../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';

export class ShareForm {
  /** The role of signed-in members of the workspace who open the link. Default: `respond`. */
  @Optional() @OneOf(['respond', 'view'], { example: 'respond' }) role?: 'respond' | 'view';

  /** Null: the link does not expire. */
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: '2999-01-31T18:00:00Z' })
  @Nullable()
  @Moment()
  expires_at?: Date | null;
}

/** A member or a group. */
export class FormAccessInput {
  @Optional() @Uuid({ example: EXAMPLE_ID }) user_id?: string;
  @Optional() @Uuid({ example: '01890a5d-ac96-774b-bcce-b302099a8058' }) group_id?: string;

  @OneOf(['respondent', 'viewer', 'editor'], { example: 'respondent' })
  role!: 'respondent' | 'viewer' | 'editor';
}

export class SetFormAccess {
  /** The whole list: members and groups that are missing lose their role. */
  @Entries(FormAccessInput, 500) access!: FormAccessInput[];
}
