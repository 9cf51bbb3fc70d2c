import type { Definition } from '../../lib/forms/index.js';
import type { FormResponse, FormSettings, FormShare } from './form.response.js';
import { takesResponses } from './model/form-rules.js';
import { includes, type OpenForm, type ShownForm } from './form-access.js';

const time = (date: Date | null): string | null => date?.toISOString() ?? null;

/** A form for lists. */
export function formSummary(form: ShownForm & Partial<Pick<OpenForm, 'now'>>): FormResponse {
  const respondent = !includes(form.role, 'viewer');
  return {
    id: form.id,
    title: form.title,
    description: form.description,
    state: form.state,
    // Respondents do not see the quota, from which others know whether the form is full.
    accepting: respondent
      ? takesResponses(form, form.response_count, form.now ?? new Date())
      : form.accepting,
    version: form.current_version,
    draft_rev: form.draft_rev,
    has_unpublished_changes: !respondent && form.unpublished_changes,
    role: form.role,
    response_count: respondent ? null : form.response_count,
    owner: { id: form.owner_id, name: form.owner_name, email: form.owner_email },
    created_at: form.created_at.toISOString(),
    updated_at: form.updated_at.toISOString(),
    published_at: time(form.published_at),
  };
}

/** A new share link. */
export interface NewLink {
  token: string;
  /** Makes the whole address of a path; null without a public address. */
  absolute: (path: string) => string | null;
}

/** A form with its definition. */
export function formResponse(form: OpenForm, definition: Definition, link?: NewLink): FormResponse {
  const settings = settingsOf(form);
  const share = includes(form.role, 'editor') ? { share: shareOf(form, link) } : {};
  return { ...formSummary(form), definition, settings, ...share };
}

/** Respondents do not see the quota. */
function settingsOf({ role, settings }: OpenForm): FormSettings {
  const { max_responses, ...shown } = settings;
  return includes(role, 'viewer') ? { ...shown, max_responses } : shown;
}

function shareOf(form: OpenForm, link: NewLink | undefined): FormShare {
  const url = `/apis/v1/forms/${form.id}?share_token=${link?.token}`;
  return {
    enabled: form.shared,
    ...(link && { url, absolute_url: link.absolute(url), token: link.token }),
    role: form.share_role && (form.share_role === 'viewer' ? 'view' : 'respond'),
    expires_at: time(form.share_expires_at),
  };
}
