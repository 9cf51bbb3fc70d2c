import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import {
  Entries,
  Flag,
  IntegerFrom,
  Name,
  Optional,
  Uuid,
  WholeNumber,
  Nested,
} from '../../../../platform/http/input.decorators.js';
import { PrincipalInput } from '../../input/principal.dto.js';
import { PageQuery } from '../../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../../platform/field-docs/field-docs.js';
import { FormReportDefinition } from './reports.response.js';

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
