import type { Answers } from '../../../lib/forms/index.js';
import { cutToMinute } from '../../../platform/events/anonymous-events.js';
import type { ApiError } from '../../../platform/http/errors.js';
import { FORMS } from '../forms.resource.js';
import type { Form, FormResponseRow, StoredSettings } from '../forms.schema.js';
import { ResponseErrors } from '../responses/responses.dto.js';

/** The rules of closures that no user requests. */

type Quota = Pick<StoredSettings, 'max_responses'>;

export const isFull = ({ max_responses: max }: Quota, count: number): boolean => max !== null && count >= max;

/** Whether the end of the window closes a form. A full one was closed when it became full. */
export const isClosedByWindow = (settings: Quota, count: number): boolean => !isFull(settings, count);

/** Whether other settings close a form because they lower its quota to the number of responses or below. */
export const isClosedByQuota = (
  before: { accepting: boolean; settings: Quota },
  settings: Quota,
  count: number,
): boolean => before.accepting && isFull(settings, count) && !isFull(before.settings, count);

/** The rules of responses: functions of locked rows, a response and the time of the database, which return changes or an error. */

/** The columns of a form that decide whether it accepts responses. */
export type AcceptingForm = Pick<Form, 'state' | 'accepting' | 'current_version' | 'draft_rev' | 'settings'>;

/** A response whose answers have been checked. */
export interface NewResponse {
  id: string;
  userId: string;
  clientResponseId: string | null;
  /** The version that the respondent has answered. */
  version: number;
  /** The current version of the form at the time of the check. */
  checkedVersion: number;
  answers: Answers;
  searchText: string;
  durationSeconds: number | null;
  /** Ids of the files in the answers. */
  uploads: string[];
}

export type StoredResponse = Pick<FormResponseRow, 'id' | 'version' | 'submitted_at'>;

/** The stored response with the same `client_response_id`. */
export interface EarlierResponse extends StoredResponse {
  respondent_id: string | null;
  has_same_answers: boolean;
}

/** What the database knows about a new response beside the form. */
export interface SubmissionFacts {
  /** The files of its answers exist, belong to the respondent, and to no other response. */
  hasFiles: boolean;
  /** Last response of the respondent; only read for forms with one response of each user. */
  own: string | null;
  /** The respondent has a row in `form_response_once`. */
  isKnown: boolean;
  /** Responses of the form; only used for forms with a quota. */
  count: number;
}

/** What a rule decides about a stored response. */
export interface ResponseChange {
  /** Null in anonymous forms. */
  respondentId: string | null;
  submittedAt: Date;
  /** The form is full afterwards. */
  fillsForm: boolean;
  /** The decision is the same while the form has at most this number of responses; null: any number. */
  highestCount: number | null;
}

const MINUTE_MS = 60_000;

export const rejectAsClosed = (
  { closed_message }: StoredSettings,
  reason: 'closed' | 'not_open' | 'full' | 'archived' = 'closed',
): ApiError =>
  ResponseErrors.notAccepting.with({
    body: { reason, ...(closed_message !== '' && { closed_message }) },
  });

/** The rejection of all responses at this time. */
function rejectNow({ state, accepting, settings }: AcceptingForm, now: Date): ApiError | null {
  const { opens_at: opens, closes_at: closes } = settings;
  if (state === 'archived') return rejectAsClosed(settings, 'archived');
  if (state === 'draft') return FORMS.notFound.with();
  if (!accepting) return rejectAsClosed(settings);
  if (opens !== null && now < new Date(opens)) return rejectAsClosed(settings, 'not_open');
  return closes !== null && now >= new Date(closes) ? rejectAsClosed(settings) : null;
}

/** Whether a form with this number of responses takes a new one at this time. */
export const takesResponses = (form: AcceptingForm, count: number, now: Date): boolean =>
  rejectNow(form, now) === null && !isFull(form.settings, count);

const respondentOf = ({ settings }: AcceptingForm, { userId }: NewResponse): string | null =>
  settings.anonymous ? null : userId;

/** The rejection of a response that is not a repetition of the stored one with the same `client_response_id`. */
export function rejectReuse(
  form: AcceptingForm,
  { respondent_id, has_same_answers }: EarlierResponse,
  response: NewResponse,
): ApiError | null {
  const isRepeated = has_same_answers && respondent_id === respondentOf(form, response);
  return isRepeated ? null : ResponseErrors.clientResponseIdReused.with();
}

/** Whether only the form decides about a response, during the next minute. */
export const isDecidedByForm = (
  { one_per_user, closes_at }: StoredSettings,
  { uploads }: NewResponse,
  now: Date,
): boolean =>
  !one_per_user &&
  uploads.length === 0 &&
  (closes_at === null || new Date(closes_at).getTime() > now.getTime() + MINUTE_MS);

/**
 * Whether a form takes a new response.
 * @returns the changes; `outdated`: the answers were checked against an earlier version
 */
export function submit(
  form: AcceptingForm,
  facts: SubmissionFacts,
  response: NewResponse,
  now: Date,
): ApiError | 'outdated' | ResponseChange {
  const { anonymous, one_per_user: isOnce, max_responses: max } = form.settings;
  const rejection = rejectNow(form, now);
  if (rejection) return rejection;
  if (form.current_version !== response.checkedVersion) return 'outdated';
  const again = () =>
    ResponseErrors.alreadySubmitted.with({
      body: anonymous || facts.own === null ? {} : { response_id: facts.own },
    });
  // A response from the time before the setting has no row in `form_response_once`.
  if (isOnce && !anonymous && facts.own !== null) return again();
  if (!facts.hasFiles) return ResponseErrors.uploadUsed.with();
  if (isFull(form.settings, facts.count)) return rejectAsClosed(form.settings, 'full');
  if (isOnce && facts.isKnown) return again();
  const fillsForm = isFull(form.settings, facts.count + 1);
  return {
    respondentId: respondentOf(form, response),
    // The exact time could identify the respondent of an anonymous form.
    submittedAt: anonymous ? cutToMinute(now) : now,
    fillsForm,
    highestCount: max === null ? null : max - (fillsForm ? 1 : 2),
  };
}

/**
 * Whether other answers may replace those of a stored response.
 * @param isOwn the response exists and belongs to the respondent
 * @returns null: they may; `outdated`: the answers were checked against an earlier version
 */
export function replace(
  form: AcceptingForm,
  { isOwn, hasFiles }: { isOwn: boolean; hasFiles: boolean },
  response: NewResponse,
  now: Date,
): ApiError | 'outdated' | null {
  const rejection = rejectNow(form, now);
  if (rejection) return rejection;
  if (!form.settings.allow_edit) return ResponseErrors.notEditable.with();
  if (form.current_version !== response.checkedVersion) return 'outdated';
  if (!isOwn) return ResponseErrors.responseNotFound.with();
  return hasFiles ? null : ResponseErrors.uploadUsed.with();
}
