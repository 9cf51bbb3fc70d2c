import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import {
  Flag,
  IntegerFrom,
  Name,
  OneOf,
  Optional,
  Text,
  Uuid,
  WholeNumber,
  Nested,
} from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { FORM_STATES, type FormState } from '../forms.schema.js';
import { FormDefinition } from '../form.response.js';
import { FormSettingsInput, FormWindow } from '../input/form.dto.js';

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
  @Optional() @IntegerFrom(1, { example: 1 }) draft_rev?: number;
}

/** Missing fields stay; so do missing members of `settings`. */
export class UpdateForm extends DraftRev {
  @Optional() @Name(300, { example: 'Summer party' }) title?: string;
  /** Plain text. */
  @Optional() @Text(10_000, { example: 'Who comes, and what do we eat?' }) description?: string;

  @ApiPropertyOptional({ type: () => FormDefinition, example: EXAMPLE_DEFINITION })
  @Optional()
  @IsObject()
  definition?: object;

  @Optional() @IsObject() @Nested(FormSettingsInput) settings?: FormSettingsInput;
}

export class CreateForm extends OmitType(UpdateForm, ['title', 'draft_rev']) {
  @Name(300, { example: 'Summer party' }) title!: string;
  /** Copies the definition of a preset, unless there is a `definition`. */
  @Optional() @Text(64, { example: 'event-rsvp' }) preset_id?: string;
  /** Language of the preset: `en`, `de`, `pt` or `vi`. Default: `en`. */
  @Optional() @Text(35, { example: 'en' }) language?: string;
}

/** Replaces definition and settings: missing settings get their defaults. A missing title or description stays. */
export class ReplaceForm extends OmitType(UpdateForm, ['definition']) {
  @ApiProperty({ type: () => FormDefinition, example: EXAMPLE_DEFINITION }) @IsObject() definition!: object;
}

export class PublishForm extends DraftRev {
  /** Whether the form accepts responses from now on. Default: true at the first publication, then as it is. */
  @Optional() @Flag({ example: true }) accepting?: boolean;
}

/** `opens_at` and `closes_at` change the settings with these names. */
export class SetAccepting extends FormWindow {
  @Flag({ example: true }) accepting!: boolean;
  /** Changes the setting `closed_message`. */
  @Optional() @Text(2000, { example: 'Thank you, the survey has ended.' }) message?: string;
}

export class ListForms extends PageQuery {
  @Optional()
  @OneOf(FORM_STATES, { example: 'published', description: 'Only forms in this state.' })
  state?: FormState;

  /** Only forms of this owner. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) owner?: string;
  /** Words that the title, the description or the questions contain. */
  @Optional() @Text(200, { example: 'party' }) q?: string;
  /** `all` adds the forms of other users that you can open by the permission `forms.manage_any` or `forms.export_any`. */
  @Optional() @OneOf(['mine', 'all']) scope: 'mine' | 'all' = 'mine';
}

export class ReadForm {
  /** A published version. Default: the draft for owners and editors, the current version for others. */
  @Optional() @WholeNumber() @IntegerFrom(1, { example: 1 }) version?: number;
  /** Token of the share link. */
  @Optional() @Text(100, { example: 'Zm9vYmFyYmF6cXV4' }) share_token?: string;
}
