import { ApiProperty } from '@nestjs/swagger';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { defineError } from '../../../platform/http/errors.js';
import { Entries, Moment, Nullable, OneOf, Optional } from '../../../platform/http/input.decorators.js';
import { detail } from '../forms.resource.js';
import { PrincipalInput } from '../input/form.dto.js';

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

export class FormAccessResponse {
  @ApiProperty({ enum: ['user', 'group'], example: 'user' }) kind!: string;
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'Bob Stone' }) name!: string;
  @ApiProperty({ enum: ['respondent', 'viewer', 'editor'], example: 'respondent' }) role!: string;
}

export class FormAccessListEnvelope {
  access!: FormAccessResponse[];
}

/** The errors of share links and access. */
export const SharingErrors = {
  notShared: defineError(409, 'not_shared', 'The form has no share link.'),
  unknownUser: defineError(
    422,
    'unknown_user',
    'A user or group is not part of this workspace; see details.',
    {
      example: detail(
        'access.0',
        'unknown_user',
        'access.0 is not an active member or group of this workspace',
      ),
    },
  ),
} as const;
