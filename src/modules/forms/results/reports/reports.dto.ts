import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../../../platform/field-docs/field-docs.js';
import {
  Entries,
  Flag,
  IntegerFrom,
  Name,
  Nested,
  Optional,
  Uuid,
  WholeNumber,
} from '../../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../../platform/paging/page.dto.js';
import { ItemFields } from '../../../../platform/resources/item.response.js';
import { resource } from '../../../../platform/resources/resource.js';
import { FormCondition, FormQuestion } from '../../form.response.js';
import { PrincipalInput } from '../../input/form.dto.js';
import { FormQuestionSummary } from '../results.dto.js';
import { CHARTS, METRICS } from './report-definition.js';

export class FormReportMetric {
  /** A column of the report. */
  @ApiProperty({ example: 'attending' }) question!: string;
  @ApiProperty({ enum: METRICS, example: 'count' }) function!: string;
}

export class FormReportChart {
  /** A column of the report. */
  @ApiProperty({ example: 'attending' }) question!: string;
  @ApiPropertyOptional({ enum: CHARTS, default: 'bar', example: 'bar' }) kind?: string;
}

/** Filters, groups, metrics and charts refer to columns of the report. */
export class FormReportDefinition {
  /** Ids of questions, of any version of the form. */
  @ApiProperty({ type: [String], minItems: 1, maxItems: 300, example: ['attending', 'diet'] })
  columns!: string[];
  /** All must hold for a response. */
  @ApiPropertyOptional({ type: [FormCondition], maxItems: 50 }) filters?: FormCondition[];
  /** A question with one choice. */
  @ApiPropertyOptional({ example: 'attending' }) group_by?: string | null;
  @ApiPropertyOptional({ type: [FormReportMetric], maxItems: 50 }) metrics?: FormReportMetric[];
  @ApiPropertyOptional({ type: [FormReportChart], maxItems: 50 }) charts?: FormReportChart[];
  /**
   * Groups, options and metrics with fewer responses are not shown. Neither are details of single responses, nor values from which
   * hidden values could be computed. 0 shows all.
   */
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 100, default: 0, example: 5 })
  suppress_below?: number;
}

export class FormReportResponse extends ItemFields {
  @ApiProperty(UUID) form_id!: string;
  @ApiProperty({ example: 'Attendance' }) name!: string;
  definition!: FormReportDefinition;
  /** Number of the last change. */
  @ApiProperty({ type: 'integer', example: 1 }) rev!: number;
}

export class FormReportViewer {
  @ApiProperty({ enum: ['user', 'group'], example: 'user' }) kind!: string;
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'Bob Stone' }) name!: string;
}

export class FormReportExposure {
  @ApiProperty({ example: false }) responses!: boolean;
  @ApiProperty({ example: true }) form!: boolean;
}

export class FormReportViewersEnvelope {
  viewers!: FormReportViewer[];
  expose!: FormReportExposure;
}

export class FormReportRow {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(DATE_TIME) submitted_at!: string;
  @ApiProperty({ type: 'integer', example: 1 }) version!: number;
  /** Answers to the columns of the report. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { attending: 'yes' } })
  answers!: Record<string, unknown>;
}

export class FormReportMetricValue extends FormReportMetric {
  @ApiProperty({ type: 'number', nullable: true, example: 42 }) value!: number | null;
}

export class FormReportGroup {
  /** Id of the option; null for responses without an answer. */
  @ApiProperty({ example: 'yes' }) key!: string | null;
  @ApiProperty({ example: 'Yes' }) label!: string | null;
  @ApiProperty({ type: 'integer', example: 30 }) count!: number;
  metrics!: FormReportMetricValue[];
}

export class FormReportAggregates {
  /** Responses that pass the filters; null when they are too few to be shown. */
  @ApiProperty({ type: 'integer', example: 42 }) responses!: number | null;
  questions!: FormQuestionSummary[];
  metrics!: FormReportMetricValue[];
  groups!: FormReportGroup[];
  /** Groups that are not shown because they are small. */
  @ApiProperty({ type: 'integer', example: 0 }) suppressed_groups!: number;
}

export class FormReportQuestion extends FormQuestion {
  /** The current version does not have the question. */
  @ApiProperty({ example: false }) removed!: boolean;
}

export class FormReportForm {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'Summer party' }) title!: string;
  /** The columns of the report. */
  questions!: FormReportQuestion[];
}

export class FormReportSnapshot {
  @ApiProperty(DATE_TIME) snapshot_at!: string;
  /** Hash of form, rows and aggregates. */
  @ApiProperty({ example: 'Zm9vYmFyYmF6cXV4Zm9vYm' }) etag!: string;
  form!: FormReportForm;
  /** The oldest 1,000 responses that pass the filters. */
  @ApiProperty({ type: [FormReportRow], maxItems: 1000 }) rows!: FormReportRow[];
  aggregates!: FormReportAggregates;
}

/** A report as its viewers see it. */
export class SharedReportResponse extends ItemFields {
  @ApiProperty({ example: 'Attendance' }) name!: string;
  @ApiProperty({ example: 'Summer party' }) form_title!: string;
  expose!: FormReportExposure;
}

export class SharedReportListEnvelope extends PageEnvelope {
  reports!: SharedReportResponse[];
}

export class SharedReportData {
  aggregates!: FormReportAggregates;
}

export class SharedReportEnvelope {
  report!: SharedReportResponse;
  data!: SharedReportData;
}

export class SharedReportRowsEnvelope extends PageEnvelope {
  responses!: FormReportRow[];
}

export class SharedReportFormEnvelope {
  form!: FormReportForm;
}

export const EXAMPLE_REPORT = {
  columns: ['attending', 'diet'],
  group_by: 'attending',
  metrics: [{ question: 'attending', function: 'count' }],
};

export class CreateReport {
  @Name(200, { example: 'Attendance' }) name!: string;
  @ApiProperty({ type: () => FormReportDefinition, example: EXAMPLE_REPORT }) @IsObject() definition!: object;
}

export class UpdateReport {
  @Optional() @Name(200, { example: 'Attendance' }) name?: string;

  @ApiPropertyOptional({ type: () => FormReportDefinition, example: EXAMPLE_REPORT })
  @Optional()
  @IsObject()
  definition?: object;

  /** The `rev` that you read. Without it the change applies to any. */
  @Optional() @IntegerFrom(1, { example: 1 }) rev?: number;
}

export class SnapshotQuery {
  /** A saved report. Default: all questions, without filters. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) report_id?: string;
}

/** `report_id`, or a `definition`. */
export class ExportReport {
  @Optional() @Uuid({ example: EXAMPLE_ID }) report_id?: string;

  @ApiPropertyOptional({ type: () => FormReportDefinition, example: EXAMPLE_REPORT })
  @Optional()
  @IsObject()
  definition?: object;

  /** Title of the file. Default: the name of the report. */
  @Optional() @Name(200, { example: 'Attendance' }) title?: string;
}

export class ExposeInput {
  /** Viewers read the rows of the columns. */
  @Optional() @Flag({ example: false }) responses?: boolean;
  /** Viewers read the questions of the columns. */
  @Optional() @Flag({ example: true }) form?: boolean;
}

export class ShareReport {
  /** The whole list: others lose their access. */
  @Entries(PrincipalInput, 500) viewers!: PrincipalInput[];

  @Optional() @IsObject() @Nested(ExposeInput) expose?: ExposeInput;
}

export class ListSharedRows extends PickType(PageQuery, ['cursor']) {
  static readonly documentedErrors = PageQuery.documentedErrors;
  /** Maximum number of rows. */
  @Optional() @WholeNumber() @IntegerFrom(1, 1000) limit: number = 1000;
}

export const REPORTS = resource({
  tag: 'forms',
  name: 'report',
  path: 'forms/:id/reports',
  item: FormReportResponse,
  notFound: 'This report does not exist.',
});
