import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  IsUUID,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { asInstance, Name, Optional, WholeNumber } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { FORM_STATES, type FormState } from '../forms.entity.js';
import { FormDefinition } from '../form.response.js';
import { FormSettingsInput, FormWindow } from '../input/form-settings.dto.js';

export const EXAMPLE_DEFINITION = {
  sections: [
    {
      id: 'main',
      title: 'Summer party',
      questions: [
        {
          id: 'attending',
          type: 'single_choice',
          title: 'Will you attend?',
          required: true,
          options: [
            { id: 'yes', label: 'Yes' },
            { id: 'no', label: 'No' },
          ],
        },
        { id: 'diet', type: 'short_text', title: 'Dietary requirements' },
      ],
    },
  ],
  logic: [
    {
      id: 'diet-of-attendees',
      action: 'show',
      target: 'diet',
      conditions: [{ question: 'attending', operator: 'equals', value: 'yes' }],
    },
  ],
};

class DraftRev {
  /** The `draft_rev` that you read. Without it the change applies to any. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 })
  @Optional()
  @Min(1)
  @IsInt()
  draft_rev?: number;
}

/** Missing fields stay; so do missing members of `settings`. */
export class UpdateForm extends DraftRev {
  @ApiPropertyOptional({ minLength: 1, maxLength: 300, example: 'Summer party' })
  @Optional()
  @Name(300)
  title?: string;

  /** Plain text. */
  @ApiPropertyOptional({ maxLength: 10_000, example: 'Who comes, and what do we eat?' })
  @Optional()
  @MaxLength(10_000)
  @IsString()
  description?: string;

  @ApiPropertyOptional({ type: () => FormDefinition, example: EXAMPLE_DEFINITION })
  @Optional()
  @IsObject()
  definition?: object;

  @ApiPropertyOptional({ type: () => FormSettingsInput })
  @Optional()
  @ValidateNested()
  @IsObject()
  @Transform(({ value }) => asInstance(FormSettingsInput, value))
  settings?: FormSettingsInput;
}

export class CreateForm extends OmitType(UpdateForm, ['title', 'draft_rev']) {
  @ApiProperty({ minLength: 1, maxLength: 300, example: 'Summer party' })
  @Name(300)
  title!: string;

  /** Copies the definition of a preset, unless there is a `definition`. */
  @ApiPropertyOptional({ maxLength: 64, example: 'event-rsvp' })
  @Optional()
  @MaxLength(64)
  @IsString()
  preset_id?: string;

  /** Language of the preset: `en`, `de`, `pt` or `vi`. Default: `en`. */
  @ApiPropertyOptional({ maxLength: 35, example: 'en' })
  @Optional()
  @MaxLength(35)
  @IsString()
  language?: string;
}

/** Replaces definition and settings: missing settings get their defaults. A missing title or description stays. */
export class ReplaceForm extends OmitType(UpdateForm, ['definition']) {
  @ApiProperty({ type: () => FormDefinition, example: EXAMPLE_DEFINITION })
  @IsObject()
  definition!: object;
}

export class PublishForm extends DraftRev {
  /** Whether the form accepts responses from now on. Default: true at the first publication, then as it is. */
  @ApiPropertyOptional({ example: true })
  @Optional()
  @IsBoolean()
  accepting?: boolean;
}

/** `opens_at` and `closes_at` change the settings with these names. */
export class SetAccepting extends FormWindow {
  @ApiProperty({ example: true })
  @IsBoolean()
  accepting!: boolean;

  /** Changes the setting `closed_message`. */
  @ApiPropertyOptional({ maxLength: 2000, example: 'Thank you, the survey has ended.' })
  @Optional()
  @MaxLength(2000)
  @IsString()
  message?: string;
}

export class ListForms extends PageQuery {
  @ApiPropertyOptional({ enum: FORM_STATES, example: 'published', description: 'Only forms in this state.' })
  @Optional()
  @IsIn(FORM_STATES)
  state?: FormState;

  /** Only forms of this owner. */
  @ApiPropertyOptional({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' })
  @Optional()
  @IsUUID()
  owner?: string;

  /**
   * Words that the title, the description or the questions contain.
   * @example "party"
   */
  @Optional()
  @MaxLength(200)
  @IsString()
  q?: string;

  /** `all` adds the forms of other users that your permissions `forms.manage_any` or `forms.export_any` open. */
  @ApiPropertyOptional({ enum: ['mine', 'all'], default: 'mine' })
  @Optional()
  @IsIn(['mine', 'all'])
  scope: 'mine' | 'all' = 'mine';
}

export class ReadForm {
  /** A published version. Default: the draft for owners and editors, the current version for others. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 })
  @Optional()
  @Min(1)
  @IsInt()
  @WholeNumber()
  version?: number;

  /**
   * Token of the share link.
   * @example "Zm9vYmFyYmF6cXV4"
   */
  @Optional()
  @MaxLength(100)
  @IsString()
  share_token?: string;
}
