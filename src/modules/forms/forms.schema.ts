import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Answers, Definition } from '../../lib/forms/index.js';
import { TimedItem } from '../../platform/database/schema/item.entity.js';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';

export const FORM_STATES = ['draft', 'published', 'archived'] as const;
export type FormState = (typeof FORM_STATES)[number];

/** The order is ascending: each role includes those before it. */
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
@Index('forms_owner', ['tenant_id', 'owner_id', 'id'])
@Index('forms_deleted', ['deleted_at'], { where: 'deleted_at IS NOT NULL' })
export class Form extends TimedItem {
  @Column('uuid') owner_id!: string;
  @Column('text') title!: string;
  @Column('text') description!: string;
  @Column(STATE) state!: FormState;
  @Column('boolean') accepting!: boolean;
  /** The state to which an archived form returns. */
  @Column({ ...STATE, nullable: true }) previous_state!: FormState | null;
  @Column('jsonb') draft!: Definition;
  /** Each change of the settings increments it. */
  @Column('int') draft_rev!: number;
  @Column('boolean') unpublished_changes!: boolean;
  @Column('int', { nullable: true }) current_version!: number | null;
  @Column('jsonb') settings!: StoredSettings;
  @Column('text') search_text!: string;
  /** Of the published version; null where the draft is the same. */
  @Column('text', { nullable: true }) published_search_text!: string | null;
  @Column('bytea', { nullable: true }) share_token_hash!: Buffer | null;
  @Column({ ...ROLE, nullable: true }) share_role!: FormRole | null;
  @Column('timestamptz', { nullable: true }) share_expires_at!: Date | null;
  @Column('timestamptz', { nullable: true }) published_at!: Date | null;
  @Column('timestamptz', { nullable: true }) deleted_at!: Date | null;
  /** The value of `closes_at` for which the end of the window has been reported. */
  @Column('text', { nullable: true }) reported_end!: string | null;
}

/** Key of the form, for tables of its parts, which are deleted with it. */
@ForeignKey('Form', ['tenant_id', 'form_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
abstract class FormPart {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') form_id!: string;
}

@Entity('form_versions')
export class FormVersion extends FormPart {
  @PrimaryColumn('int') version!: number;
  @Column('jsonb') definition!: Definition;
  @Column('uuid') published_by!: string;
  @Column('timestamptz') published_at!: Date;
}

@Entity('form_access')
@Index('form_access_principal', ['tenant_id', 'principal_kind', 'principal_id'])
export class FormAccessRow extends FormPart {
  @PrimaryColumn({ ...PRINCIPAL }) principal_kind!: 'user' | 'group';
  @PrimaryColumn('uuid') principal_id!: string;
  @Column(ROLE) role!: FormRole;
}

@Entity('form_responses')
@Index('form_responses_list', ['tenant_id', 'form_id', 'submitted_at', 'id'])
@Index('form_responses_client', ['tenant_id', 'form_id', 'client_response_id'], {
  unique: true,
  where: 'client_response_id IS NOT NULL',
})
@Index('form_responses_respondent', ['tenant_id', 'form_id', 'respondent_id'], {
  where: 'respondent_id IS NOT NULL',
})
export class FormResponseRow extends FormPart {
  @PrimaryColumn('uuid') id!: string;
  @Column('int') version!: number;
  @Column('uuid', { nullable: true }) respondent_id!: string | null;
  @Column('uuid', { nullable: true }) client_response_id!: string | null;
  @Column('jsonb') answers!: Answers;
  @Column('text') search_text!: string;
  @Column('int', { nullable: true }) duration_seconds!: number | null;
  @Column('timestamptz') submitted_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('form_response_once')
export class FormResponseOnce extends FormPart {
  @PrimaryColumn('bytea') respondent_key!: Buffer;
}

@Entity('form_counters')
export class FormCounter extends FormPart {
  @PrimaryColumn('smallint') shard!: number;
  @Column('bigint') count!: string;
}

@Entity('form_uploads')
@Index('form_uploads_expiry', ['expires_at'], { where: 'expires_at IS NOT NULL' })
@Index('form_uploads_response', ['tenant_id', 'form_id', 'response_id'], { where: 'response_id IS NOT NULL' })
@ForeignKey('Form', ['tenant_id', 'form_id'], ['tenant_id', 'id'])
export class FormUpload {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') form_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') question_id!: string;
  @Column('uuid', { nullable: true }) user_id!: string | null;
  @Column('uuid') blob_id!: string;
  @Column('text') name!: string;
  @Column('bigint') size!: string;
  @Column('text') content_type!: string;
  @Column('bytea') sha256!: Buffer;
  @Column('uuid', { nullable: true }) response_id!: string | null;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
}

@Entity('form_reports')
@Index('form_reports_list', ['tenant_id', 'form_id', 'id'])
@ForeignKey('Form', ['tenant_id', 'form_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class FormReport extends TimedItem {
  @Column('uuid') form_id!: string;
  @Column('text') name!: string;
  @Column('jsonb') definition!: object;
  @Column('int') rev!: number;
  @Column('uuid') created_by!: string;
  @Column('boolean') expose_responses!: boolean;
  @Column('boolean') expose_form!: boolean;
}

@Entity('form_report_viewers')
@Index('form_report_viewers_principal', ['tenant_id', 'principal_kind', 'principal_id'])
@ForeignKey('FormReport', ['tenant_id', 'report_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class FormReportViewer {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') report_id!: string;
  @PrimaryColumn({ ...PRINCIPAL }) principal_kind!: 'user' | 'group';
  @PrimaryColumn('uuid') principal_id!: string;
}

/** Visits of an hour. A statement adds to many rows at once, and readers get sums only. */
@Entity('form_views')
export class FormViews extends FormPart {
  @PrimaryColumn('int') version!: number;
  @PrimaryColumn('timestamptz') hour!: Date;
  @Column('bigint') count!: string;
  @Column('bigint') started!: string;
}

export const formsSchema: SchemaPart = {
  owner: 'forms',
  entities: {
    workspace: [
      Form,
      FormVersion,
      FormAccessRow,
      FormResponseRow,
      FormResponseOnce,
      FormCounter,
      FormUpload,
      FormReport,
      FormReportViewer,
      FormViews,
    ],
  },
  growth: {
    trimmedBy: { 'forms-cleanup': ['form_uploads'] },
    cleanedBy: { 'forms-cleanup': ['form_responses', 'forms'] },
    content: [
      'form_access',
      'form_counters',
      'form_report_viewers',
      'form_reports',
      'form_response_once',
      'form_versions',
      'form_views',
    ],
  },
  migrations: sqlMigrations(import.meta.url, {
    Forms1796100000015: '0001-forms',
    FormViews1796100000115: '0002-form-views',
    FormClosings1797100000015: '0003-form-closings',
    FormPublishedSearchText1798700000061: '0004-published-search-text',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'form-access', 'response-scan', 'release-0.1.0'),
};
