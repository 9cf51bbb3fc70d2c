import type { FieldProblem } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import {
  Flag,
  IntegerFrom,
  Moment,
  Nullable,
  Optional,
  Text,
} from '../../../platform/http/input.decorators.js';
import type { StoredSettings } from '../forms.entity.js';

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
