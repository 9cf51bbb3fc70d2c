-- Forms: definitions in immutable versions, access, responses, files of answers, reports.

CREATE TYPE form_state AS ENUM ('draft', 'published', 'archived');
-- In ascending order: the highest role of a user counts.
CREATE TYPE form_role AS ENUM ('respondent', 'viewer', 'editor', 'owner');
CREATE TYPE form_principal AS ENUM ('user', 'group');

CREATE TABLE forms (
  tenant_id           uuid           NOT NULL REFERENCES tenants (id),
  id                  uuid           NOT NULL,
  owner_id            uuid           NOT NULL,
  title               text           NOT NULL,
  description         text           NOT NULL DEFAULT '',
  state               form_state     NOT NULL DEFAULT 'draft',
  accepting           boolean        NOT NULL DEFAULT false,
  -- Of an archived form: the state to return to.
  previous_state      form_state,
  draft               jsonb          NOT NULL,
  draft_rev           int            NOT NULL DEFAULT 1,
  -- The draft differs from the current version.
  unpublished_changes boolean        NOT NULL DEFAULT false,
  current_version     int,
  settings            jsonb          NOT NULL,
  -- Folded title, description and questions, for lists and search.
  search_text         text           NOT NULL,
  -- SHA-256 of the token of the share link.
  share_token_hash    bytea,
  share_role          form_role,
  share_expires_at    timestamptz(3),
  created_at          timestamptz(3) NOT NULL DEFAULT now(),
  updated_at          timestamptz(3) NOT NULL DEFAULT now(),
  published_at        timestamptz(3),
  deleted_at          timestamptz(3),
  PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 70);
CREATE INDEX forms_owner ON forms (tenant_id, owner_id, id);
CREATE INDEX forms_deleted ON forms (deleted_at) WHERE deleted_at IS NOT NULL;

-- Never changed after the insertion.
CREATE TABLE form_versions (
  tenant_id    uuid           NOT NULL,
  form_id      uuid           NOT NULL,
  version      int            NOT NULL,
  definition   jsonb          NOT NULL,
  published_by uuid           NOT NULL,
  published_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, form_id, version),
  FOREIGN KEY (tenant_id, form_id) REFERENCES forms (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE form_access (
  tenant_id      uuid           NOT NULL,
  form_id        uuid           NOT NULL,
  principal_kind form_principal NOT NULL,
  principal_id   uuid           NOT NULL,
  role           form_role      NOT NULL,
  PRIMARY KEY (tenant_id, form_id, principal_kind, principal_id),
  FOREIGN KEY (tenant_id, form_id) REFERENCES forms (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX form_access_principal ON form_access (tenant_id, principal_kind, principal_id);

CREATE TABLE form_responses (
  tenant_id          uuid           NOT NULL,
  form_id            uuid           NOT NULL,
  id                 uuid           NOT NULL,
  version            int            NOT NULL,
  -- Null in anonymous forms.
  respondent_id      uuid,
  client_response_id uuid,
  answers            jsonb          NOT NULL,
  -- Folded texts and labels of the answers.
  search_text        text           NOT NULL,
  duration_seconds   int,
  submitted_at       timestamptz(3) NOT NULL,
  updated_at         timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, form_id, id),
  FOREIGN KEY (tenant_id, form_id) REFERENCES forms (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX form_responses_list ON form_responses (tenant_id, form_id, submitted_at, id);
CREATE UNIQUE INDEX form_responses_client ON form_responses (tenant_id, form_id, client_response_id)
  WHERE client_response_id IS NOT NULL;
CREATE INDEX form_responses_respondent ON form_responses (tenant_id, form_id, respondent_id)
  WHERE respondent_id IS NOT NULL;

-- One row for each respondent of a form that accepts one response of each user. The key is an HMAC of the user, and there is
-- no reference to the response.
CREATE TABLE form_response_once (
  tenant_id      uuid  NOT NULL,
  form_id        uuid  NOT NULL,
  respondent_key bytea NOT NULL,
  PRIMARY KEY (tenant_id, form_id, respondent_key),
  FOREIGN KEY (tenant_id, form_id) REFERENCES forms (tenant_id, id) ON DELETE CASCADE
);

-- Number of responses. Several rows, so that concurrent submissions do not wait for each other; forms with a quota use shard 0.
CREATE TABLE form_counters (
  tenant_id uuid     NOT NULL,
  form_id   uuid     NOT NULL,
  shard     smallint NOT NULL,
  count     bigint   NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, form_id, shard),
  FOREIGN KEY (tenant_id, form_id) REFERENCES forms (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);

-- Files of answers, before and after the submission.
CREATE TABLE form_uploads (
  tenant_id    uuid           NOT NULL,
  form_id      uuid           NOT NULL,
  id           uuid           NOT NULL,
  question_id  text           NOT NULL,
  -- Null after the submission to an anonymous form.
  user_id      uuid,
  blob_id      uuid           NOT NULL,
  name         text           NOT NULL,
  size         bigint         NOT NULL,
  content_type text           NOT NULL,
  sha256       bytea          NOT NULL,
  -- Null: not submitted yet.
  response_id  uuid,
  expires_at   timestamptz(3),
  PRIMARY KEY (tenant_id, form_id, id),
  FOREIGN KEY (tenant_id, form_id) REFERENCES forms (tenant_id, id)
);
CREATE INDEX form_uploads_expiry ON form_uploads (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX form_uploads_response ON form_uploads (tenant_id, form_id, response_id) WHERE response_id IS NOT NULL;

CREATE TABLE form_reports (
  tenant_id        uuid           NOT NULL,
  form_id          uuid           NOT NULL,
  id               uuid           NOT NULL,
  name             text           NOT NULL,
  definition       jsonb          NOT NULL,
  rev              int            NOT NULL DEFAULT 1,
  created_by       uuid           NOT NULL,
  -- Viewers may read the rows of responses, and the questions of the form.
  expose_responses boolean        NOT NULL DEFAULT false,
  expose_form      boolean        NOT NULL DEFAULT false,
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, form_id) REFERENCES forms (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX form_reports_list ON form_reports (tenant_id, form_id, id);

CREATE TABLE form_report_viewers (
  tenant_id      uuid           NOT NULL,
  report_id      uuid           NOT NULL,
  principal_kind form_principal NOT NULL,
  principal_id   uuid           NOT NULL,
  PRIMARY KEY (tenant_id, report_id, principal_kind, principal_id),
  FOREIGN KEY (tenant_id, report_id) REFERENCES form_reports (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX form_report_viewers_principal ON form_report_viewers (tenant_id, principal_kind, principal_id);
