import { checkComplete, checkDefinition, type Definition, type Problem } from '../../../lib/forms/index.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { Errors, type FieldProblem } from '../../../platform/http/errors.js';
import {
  Flag,
  IntegerFrom,
  Moment,
  Nullable,
  OneOf,
  Optional,
  Text,
  Uuid,
  WholeNumber,
} from '../../../platform/http/input.decorators.js';
import { formConflict, FormErrors } from '../forms.resource.js';
import type { Form, StoredSettings } from '../forms.schema.js';

/** A member or a group: `user_id`, `group_id`, or `kind` and `id` as in responses. */
export class PrincipalInput {
  @Optional() @Uuid({ example: EXAMPLE_ID }) user_id?: string;
  @Optional() @Uuid({ example: '01890a5d-ac96-774b-bcce-b302099a8058' }) group_id?: string;
  /** With `id`, in place of `user_id` or `group_id`. */
  @Optional() @OneOf(['user', 'group'], { example: 'user' }) kind?: 'user' | 'group';
  @Optional() @Uuid({ example: EXAMPLE_ID }) id?: string;
}

/** The window in which a form accepts responses. */
export class FormWindow {
  /** No responses before this time. */
  @Nullable() @Moment({ required: false, nullable: true, example: null }) opens_at?: Date | null;

  /** No responses from this time on. */
  @Nullable()
  @Moment({ required: false, nullable: true, example: '2027-01-31T18:00:00Z' })
  closes_at?: Date | null;
}

export class FormSettingsInput extends FormWindow {
  /** The form accepts at most this number of responses. */
  @Nullable() @IntegerFrom(1, 10_000_000, { example: 200 }) max_responses?: number | null;
  /** Each user can submit once, also to an anonymous form. */
  @Optional() @Flag({ example: true }) one_per_user?: boolean;
  /** Responses have no user, address or exact time. Not together with `allow_edit`. */
  @Optional() @Flag({ example: false }) anonymous?: boolean;
  /** Respondents can change their response while the form accepts responses. */
  @Optional() @Flag({ example: false }) allow_edit?: boolean;
  /** Shown after the submission. */
  @Optional() @Text(2000, { example: 'Thank you!' }) confirmation?: string;
  /** Shown while the form accepts no responses. */
  @Optional() @Text(2000, { example: '' }) closed_message?: string;
}

export const DEFAULT_SETTINGS: StoredSettings = {
  opens_at: null,
  closes_at: null,
  max_responses: null,
  one_per_user: false,
  anonymous: false,
  allow_edit: false,
  confirmation: '',
  closed_message: '',
};

const stored = (value: Date | null | undefined): string | null | undefined =>
  value instanceof Date ? value.toISOString() : value;

/**
 * The settings after a change: given members replace those of `before`.
 * @throws ApiError 422 `validation_failed` when they contradict each other
 */
export function mergedSettings(before: StoredSettings, input: FormSettingsInput = {}): StoredSettings {
  const given = { ...input, opens_at: stored(input.opens_at), closes_at: stored(input.closes_at) };
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const settings: StoredSettings = { ...before, ...defined };
  const { opens_at: opens, closes_at: closes, anonymous, allow_edit: editable } = settings;
  const details: FieldProblem[] = [];
  if (opens !== null && closes !== null && closes <= opens)
    details.push(problem('closes_at', 'min_date', 'must be after opens_at'));
  if (anonymous && editable)
    details.push(problem('allow_edit', 'not_anonymous', 'is not possible in an anonymous form'));
  if (details.length > 0) throw Errors.validationFailed.with({ details });
  return settings;
}

const problem = (name: string, code: string, message: string): FieldProblem => ({
  field: `settings.${name}`,
  code,
  message: `settings.${name} ${message}`,
});

/** The query parameters that select responses by time of submission and version, and the link that opens the form. */
export class ResponseFilter {
  /** Submitted at this time or later. */
  @Optional() @Moment({ example: '2026-11-01T00:00:00Z' }) from?: Date;

  /** Submitted before this time. */
  @Optional() @Moment({ example: '2999-12-01T00:00:00Z' }) to?: Date;

  /** Responses to this version. */
  @Optional() @WholeNumber() @IntegerFrom(1, { example: 1 }) version?: number;

  /** Token of a share link with the role `view`, for callers without another role. */
  @Optional()
  @Text(100, { message: 'share_token must be given once', example: 'Zm9vYmFyYmF6cXV4' })
  share_token?: string;
}

/** Errors in one response. */
const MAX_DETAILS = 100;

export const detailsOf = (problems: readonly Problem[]): FieldProblem[] =>
  problems.slice(0, MAX_DETAILS).map(({ path, code, message }) => ({ field: path, code, message }));

/** Reads the definition of a draft. @throws ApiError 422 `invalid_definition` */
export function draftOf(plain: object): Definition {
  const { definition, problems } = checkDefinition(plain);
  if (problems.length > 0) throw FormErrors.invalidDefinition.with({ details: detailsOf(problems) });
  return definition;
}

/** @throws ApiError 422 `invalid_definition` for a definition that cannot be published */
export function assertComplete(definition: Definition): void {
  const problems = checkComplete(definition);
  if (problems.length > 0) throw FormErrors.invalidDefinition.with({ details: detailsOf(problems) });
}

/** @throws ApiError 409 `conflict` */
export function assertRev({ draft_rev }: Pick<Form, 'draft_rev'>, expected: number | undefined): void {
  if (expected !== undefined && expected !== draft_rev) throw formConflict.with({ body: { draft_rev } });
}
