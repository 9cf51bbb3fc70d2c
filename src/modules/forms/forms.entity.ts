import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../platform/database/schema/item.entity.js';
import type { Answers, Definition } from '../../lib/forms/index.js';

export const FORM_STATES = ['draft', 'published', 'archived'] as const;
export type FormState = (typeof FORM_STATES)[number];

/** In ascending order: each role includes those before it. */
export const FORM_ROLES = ['respondent', 'viewer', 'editor', 'owner'] as const;
export type FormRole = (typeof FORM_ROLES)[number];

const PRINCIPALS = ['user', 'group'] as const;

const STATE = { type: 'enum', enum: FORM_STATES, enumName: 'form_state' } as const;
const ROLE = { type: 'enum', enum: FORM_ROLES, enumName: 'form_role' } as const;
const PRINCIPAL = { type: 'enum', enum: PRINCIPALS, enumName: 'form_principal' } as const;

/** Rules for responses. Times are RFC 3339 in UTC. */
export interface StoredSettings {
  opens_at: string | null;
  closes_at: string | null;
  max_responses: number | null;
  one_per_user: boolean;
  anonymous: boolean;
  allow_edit: boolean;
  confirmation: string;
  closed_message: string;
}

@Entity('forms')
@Index('forms_owner', ['tenantId', 'ownerId', 'id'])
@Index('forms_deleted', ['deletedAt'], { where: 'deleted_at IS NOT NULL' })
export class Form extends TimedItem {
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('text') title!: string;
  @Column('text') description!: string;
  @Column(STATE) state!: FormState;
  @Column('boolean') accepting!: boolean;
  /** Of an archived form: the state to return to. */
  @Column({ ...STATE, name: 'previous_state', nullable: true }) previousState!: FormState | null;
  @Column('jsonb') draft!: Definition;
  @Column('int', { name: 'draft_rev' }) draftRev!: number;
  @Column('boolean', { name: 'unpublished_changes' }) unpublishedChanges!: boolean;
  @Column('int', { name: 'current_version', nullable: true }) currentVersion!: number | null;
  @Column('jsonb') settings!: StoredSettings;
  @Column('text', { name: 'search_text' }) searchText!: string;
  /** Of the published version; null where the draft is the same. */
  @Column('text', { name: 'published_search_text', nullable: true }) publishedSearchText!: string | null;
  @Column('bytea', { name: 'share_token_hash', nullable: true }) shareTokenHash!: Buffer | null;
  @Column({ ...ROLE, name: 'share_role', nullable: true }) shareRole!: FormRole | null;
  @Column('timestamptz', { name: 'share_expires_at', nullable: true }) shareExpiresAt!: Date | null;
  @Column('timestamptz', { name: 'published_at', nullable: true }) publishedAt!: Date | null;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
  /** The value of `closes_at` for which the end of the window has been reported. */
  @Column('text', { name: 'reported_end', nullable: true }) reportedEnd!: string | null;
}

/** Key of the form, for tables of its parts, which are deleted with it. */
@ForeignKey('Form', ['tenantId', 'formId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
abstract class FormPart {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'form_id' }) formId!: string;
}

@Entity('form_versions')
export class FormVersion extends FormPart {
  @PrimaryColumn('int') version!: number;
  @Column('jsonb') definition!: Definition;
  @Column('uuid', { name: 'published_by' }) publishedBy!: string;
  @Column('timestamptz', { name: 'published_at' }) publishedAt!: Date;
}

@Entity('form_access')
@Index('form_access_principal', ['tenantId', 'principalKind', 'principalId'])
export class FormAccessRow extends FormPart {
  @PrimaryColumn({ ...PRINCIPAL, name: 'principal_kind' }) principalKind!: 'user' | 'group';
  @PrimaryColumn('uuid', { name: 'principal_id' }) principalId!: string;
  @Column(ROLE) role!: FormRole;
}

@Entity('form_responses')
@Index('form_responses_list', ['tenantId', 'formId', 'submittedAt', 'id'])
@Index('form_responses_client', ['tenantId', 'formId', 'clientResponseId'], {
  unique: true,
  where: 'client_response_id IS NOT NULL',
})
@Index('form_responses_respondent', ['tenantId', 'formId', 'respondentId'], {
  where: 'respondent_id IS NOT NULL',
})
export class FormResponseRow extends FormPart {
  @PrimaryColumn('uuid') id!: string;
  @Column('int') version!: number;
  @Column('uuid', { name: 'respondent_id', nullable: true }) respondentId!: string | null;
  @Column('uuid', { name: 'client_response_id', nullable: true }) clientResponseId!: string | null;
  @Column('jsonb') answers!: Answers;
  @Column('text', { name: 'search_text' }) searchText!: string;
  @Column('int', { name: 'duration_seconds', nullable: true }) durationSeconds!: number | null;
  @Column('timestamptz', { name: 'submitted_at' }) submittedAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('form_response_once')
export class FormResponseOnce extends FormPart {
  @PrimaryColumn('bytea', { name: 'respondent_key' }) respondentKey!: Buffer;
}

@Entity('form_counters')
export class FormCounter extends FormPart {
  @PrimaryColumn('smallint') shard!: number;
  @Column('bigint') count!: string;
}

@Entity('form_uploads')
@Index('form_uploads_expiry', ['expiresAt'], { where: 'expires_at IS NOT NULL' })
@Index('form_uploads_response', ['tenantId', 'formId', 'responseId'], { where: 'response_id IS NOT NULL' })
@ForeignKey('Form', ['tenantId', 'formId'], ['tenantId', 'id'])
export class FormUpload {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'form_id' }) formId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { name: 'question_id' }) questionId!: string;
  @Column('uuid', { name: 'user_id', nullable: true }) userId!: string | null;
  @Column('uuid', { name: 'blob_id' }) blobId!: string;
  @Column('text') name!: string;
  @Column('bigint') size!: string;
  @Column('text', { name: 'content_type' }) contentType!: string;
  @Column('bytea') sha256!: Buffer;
  @Column('uuid', { name: 'response_id', nullable: true }) responseId!: string | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
}

@Entity('form_reports')
@Index('form_reports_list', ['tenantId', 'formId', 'id'])
@ForeignKey('Form', ['tenantId', 'formId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class FormReport extends TimedItem {
  @Column('uuid', { name: 'form_id' }) formId!: string;
  @Column('text') name!: string;
  @Column('jsonb') definition!: object;
  @Column('int') rev!: number;
  @Column('uuid', { name: 'created_by' }) createdBy!: string;
  @Column('boolean', { name: 'expose_responses' }) exposeResponses!: boolean;
  @Column('boolean', { name: 'expose_form' }) exposeForm!: boolean;
}

@Entity('form_report_viewers')
@Index('form_report_viewers_principal', ['tenantId', 'principalKind', 'principalId'])
@ForeignKey('FormReport', ['tenantId', 'reportId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class FormReportViewer {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'report_id' }) reportId!: string;
  @PrimaryColumn({ ...PRINCIPAL, name: 'principal_kind' }) principalKind!: 'user' | 'group';
  @PrimaryColumn('uuid', { name: 'principal_id' }) principalId!: string;
}

@Entity('form_views')
export class FormViews extends FormPart {
  @PrimaryColumn('int') version!: number;
  @PrimaryColumn('timestamptz') hour!: Date;
  @Column('bigint') count!: string;
  @Column('bigint') started!: string;
}
