import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DATE_TIME, NO_DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { ACTIONS, OPERATORS, QUESTION_TYPES } from '../../lib/forms/index.js';
import { ItemFields } from '../../platform/resources/item.response.js';
import { FORM_ROLES, FORM_STATES, type FormRole, type FormState } from './forms.schema.js';

export class FormOption {
  /** Unique in its list; stays the same in later versions. */
  @ApiProperty({ pattern: '^[\\w-]{1,64}$', example: 'yes' }) id!: string;
  @ApiProperty({ maxLength: 500, example: 'Yes' }) label!: string;
}

/** Rules for the answer. Each type of question uses some of them. */
export class FormQuestionValidation {
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 10_000, example: 2 }) min_length?: number;
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 10_000, example: 200 }) max_length?: number;
  /** In RE2 syntax; the whole text must match. Such texts have at most 1,000 characters. */
  @ApiPropertyOptional({ maxLength: 500, example: '[A-Z]{2}\\d{4}' }) pattern?: string;
  @ApiPropertyOptional({ maxLength: 500, example: 'Two letters and four digits' }) pattern_message?: string;
  /** Lowest number, earliest date (YYYY-MM-DD) or earliest time (HH:MM). */
  @ApiPropertyOptional({ oneOf: [{ type: 'number' }, { type: 'string' }], example: 1 }) min?: number | string;
  /** Highest number, latest date or latest time. */
  @ApiPropertyOptional({ oneOf: [{ type: 'number' }, { type: 'string' }], example: 100 })
  max?: number | string;
  /** Whole numbers only. */
  @ApiPropertyOptional({ example: true }) integer?: boolean;
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 500, example: 1 }) min_choices?: number;
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 500, example: 3 }) max_choices?: number;
  /** Every row of a matrix needs an answer. */
  @ApiPropertyOptional({ example: true }) all_rows?: boolean;
}

/** Presentation of the question. Each type of question uses some of them. */
export class FormQuestionSettings {
  /** Lowest value of a scale. */
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 1, example: 1 }) min?: number;
  /** Highest value of a scale or rating. */
  @ApiPropertyOptional({ type: 'integer', minimum: 2, maximum: 10, example: 5 }) max?: number;
  @ApiPropertyOptional({ maxLength: 200, example: 'Not at all' }) min_label?: string;
  @ApiPropertyOptional({ maxLength: 200, example: 'Very much' }) max_label?: string;
  /** A matrix takes several columns for each row. */
  @ApiPropertyOptional({ example: false }) multiple?: boolean;
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 10, default: 1, example: 1 })
  max_files?: number;
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 20_971_520, example: 5_242_880 })
  max_bytes?: number;
  /** Accepted types of files, which are detected from their content. Default: any. */
  @ApiPropertyOptional({ type: [String], maxItems: 50, example: ['application/pdf', 'image/*'] })
  content_types?: string[];
}

export class FormQuestion {
  /** Unique in the form; stays the same in later versions. */
  @ApiProperty({ pattern: '^[\\w-]{1,64}$', example: 'attending' }) id!: string;
  @ApiProperty({ enum: QUESTION_TYPES, example: 'single_choice' }) type!: string;
  @ApiPropertyOptional({ maxLength: 2000, example: 'Will you attend?' }) title?: string;
  @ApiPropertyOptional({ maxLength: 10_000, example: 'Please reply by Friday.' }) help?: string;
  @ApiPropertyOptional({ example: true }) required?: boolean;
  /** Of `single_choice`, `dropdown`, `multiple_choice` and `ranking`; the columns of a `matrix`. */
  @ApiPropertyOptional({ type: [FormOption], maxItems: 500 }) options?: FormOption[];
  /** Of a `matrix`. */
  @ApiPropertyOptional({ type: [FormOption], maxItems: 500 }) rows?: FormOption[];
  validation?: FormQuestionValidation;
  settings?: FormQuestionSettings;
}

export class FormSection {
  @ApiProperty({ pattern: '^[\\w-]{1,64}$', example: 'main' }) id!: string;
  @ApiPropertyOptional({ maxLength: 500, example: 'About you' }) title?: string;
  @ApiPropertyOptional({ maxLength: 10_000, example: '' }) description?: string;
  @ApiProperty({ type: [FormQuestion], maxItems: 300 }) questions!: FormQuestion[];
}

export class FormCondition {
  /** Id of the question. */
  @ApiProperty({ pattern: '^[\\w-]{1,64}$', example: 'attending' }) question!: string;
  @ApiProperty({ enum: OPERATORS, example: 'equals' }) operator!: string;
  /** The value to compare with the answer: an id of an option, a number, a date, text; a list of option ids for `in`. */
  @ApiPropertyOptional({
    oneOf: [
      { type: 'string' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'array', items: { type: 'string' } },
    ],
    example: 'yes',
  })
  value?: unknown;
}

/** Applies `action` to `target` while the conditions hold. Rules must not form a circle. */
export class FormRule {
  @ApiProperty({ pattern: '^[\\w-]{1,64}$', example: 'diet-of-attendees' }) id!: string;
  /** `show`: the target is visible only while a rule applies. `skip`: it is hidden. `require`: it must be answered. */
  @ApiProperty({ enum: ACTIONS, example: 'show' }) action!: string;
  /** Id of a question, or of a section for `show` and `skip`. */
  @ApiProperty({ pattern: '^[\\w-]{1,64}$', example: 'diet' }) target!: string;
  @ApiPropertyOptional({ enum: ['all', 'any'], default: 'all', example: 'all' }) match?: string;
  @ApiProperty({ type: [FormCondition], minItems: 1, maxItems: 20 }) conditions!: FormCondition[];
}

/** At most 512 KiB of JSON, 300 questions and 200 rules. */
export class FormDefinition {
  @ApiProperty({ type: [FormSection], maxItems: 100 }) sections!: FormSection[];
  @ApiPropertyOptional({ type: [FormRule], maxItems: 200 }) logic?: FormRule[];
}

export class FormSettings {
  /** No responses before this time. */
  @ApiProperty(NO_DATE_TIME) opens_at!: string | null;
  /** No responses from this time on. */
  @ApiProperty({ format: 'date-time', example: '2027-01-31T18:00:00.000Z' }) closes_at!: string | null;
  /** Not shown to respondents. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 200 }) max_responses?: number | null;
  /** Each user can submit once, also to an anonymous form. */
  @ApiProperty({ example: true }) one_per_user!: boolean;
  /** Responses have no user, address or exact time. Fixed from the first response on. */
  @ApiProperty({ example: false }) anonymous!: boolean;
  /** Respondents can change their response while the form accepts responses. */
  @ApiProperty({ example: false }) allow_edit!: boolean;
  /** Shown after the submission. */
  @ApiProperty({ maxLength: 2000, example: 'Thank you!' }) confirmation!: string;
  /** Shown while the form accepts no responses. */
  @ApiProperty({ maxLength: 2000, example: '' }) closed_message!: string;
}

export class FormOwner {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'Alice Martin' }) name!: string;
  @ApiProperty({ example: 'alice@acme.example' }) email!: string;
}

export class FormShare {
  @ApiProperty({ example: true }) enabled!: boolean;
  /** Only in the response that creates or replaces the link; a hash of the token is stored. */
  @ApiPropertyOptional({
    example: '/apis/v1/forms/01890a5d-ac96-774b-bcce-b302099a8057?share_token=Zm9vYmFyYmF6cXV4',
  })
  url?: string;
  /** Our addition, beside `url`: the whole address; null unless the installation has a public address (PUBLIC_URL). */
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example:
      'https://work.example/apis/v1/forms/01890a5d-ac96-774b-bcce-b302099a8057?share_token=Zm9vYmFyYmF6cXV4',
  })
  absolute_url?: string | null;
  @ApiPropertyOptional({ example: 'Zm9vYmFyYmF6cXV4' }) token?: string;
  @ApiProperty({ enum: ['respond', 'view'], nullable: true, example: 'respond' }) role!: string | null;
  @ApiProperty(NO_DATE_TIME) expires_at!: string | null;
}

export class FormResponse extends ItemFields {
  @ApiProperty({ example: 'Summer party' }) title!: string;
  @ApiProperty({ example: 'Who comes, and what do we eat?' }) description!: string;
  @ApiProperty({ enum: FORM_STATES, example: 'published' }) state!: FormState;
  /** Whether the form is open for responses, within its times and quota; for respondents whether it takes responses now. */
  @ApiProperty({ example: true }) accepting!: boolean;
  /** The published version; null for a form that was never published. */
  @ApiProperty({ type: 'integer', example: 2 }) version!: number | null;
  /** Number of the last change of title, description, draft and settings. */
  @ApiProperty({ type: 'integer', example: 5 }) draft_rev!: number;
  @ApiProperty({ example: false }) has_unpublished_changes!: boolean;
  /** The highest role of the caller. */
  @ApiProperty({ enum: FORM_ROLES, example: 'owner' }) role!: FormRole;
  /** Null for respondents. */
  @ApiProperty({ type: 'integer', example: 42 }) response_count!: number | null;
  owner!: FormOwner;
  @ApiProperty(DATE_TIME) published_at!: string | null;
  /** Not in lists. The draft for owners and editors, the published version for others. */
  definition?: FormDefinition;
  /** Not in lists. */
  settings?: FormSettings;
  /** Only for owners and editors. */
  share?: FormShare;
}
