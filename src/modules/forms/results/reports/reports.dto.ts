import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsUUID,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  asInstance,
  EachAs,
  Name,
  Optional,
  WholeNumber,
} from '../../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../../platform/paging/page.dto.js';
import { FormReportDefinition } from './reports.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
export const EXAMPLE_REPORT = {
  columns: ['attending', 'diet'],
  group_by: 'attending',
  metrics: [{ question: 'attending', function: 'count' }],
};

export class CreateReport {
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'Attendance' })
  @Name(200)
  name!: string;

  @ApiProperty({ type: () => FormReportDefinition, example: EXAMPLE_REPORT })
  @IsObject()
  definition!: object;
}

export class UpdateReport {
  @ApiPropertyOptional({ minLength: 1, maxLength: 200, example: 'Attendance' })
  @Optional()
  @Name(200)
  name?: string;

  @ApiPropertyOptional({ type: () => FormReportDefinition, example: EXAMPLE_REPORT })
  @Optional()
  @IsObject()
  definition?: object;

  /** The `rev` that you read. Without it the change applies to any. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 })
  @Optional()
  @Min(1)
  @IsInt()
  rev?: number;
}

export class SnapshotQuery {
  /** A saved report. Default: all questions, without filters. */
  @ApiPropertyOptional({ format: 'uuid', example: ID })
  @Optional()
  @IsUUID()
  report_id?: string;
}

/** `report_id`, or a `definition`. */
export class ExportReport {
  @ApiPropertyOptional({ format: 'uuid', example: ID })
  @Optional()
  @IsUUID()
  report_id?: string;

  @ApiPropertyOptional({ type: () => FormReportDefinition, example: EXAMPLE_REPORT })
  @Optional()
  @IsObject()
  definition?: object;

  /** Title of the file. Default: the name of the report. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 200, example: 'Attendance' })
  @Optional()
  @Name(200)
  title?: string;
}

/** A member or a group. */
export class ReportViewerInput {
  @ApiPropertyOptional({ format: 'uuid', example: ID })
  @Optional()
  @IsUUID()
  user_id?: string;

  @ApiPropertyOptional({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8058' })
  @Optional()
  @IsUUID()
  group_id?: string;
}

export class ExposeInput {
  /** Viewers read the rows of the columns. */
  @ApiPropertyOptional({ example: false })
  @Optional()
  @IsBoolean()
  responses?: boolean;

  /** Viewers read the questions of the columns. */
  @ApiPropertyOptional({ example: true })
  @Optional()
  @IsBoolean()
  form?: boolean;
}

export class ShareReport {
  /** The whole list: others lose their access. */
  @ApiProperty({ type: [ReportViewerInput], maxItems: 500 })
  @ValidateNested({ each: true })
  @ArrayMaxSize(500)
  @IsArray()
  @EachAs((entry) => asInstance(ReportViewerInput, entry))
  viewers!: ReportViewerInput[];

  @ApiPropertyOptional({ type: () => ExposeInput })
  @Optional()
  @ValidateNested()
  @IsObject()
  @Transform(({ value }) => asInstance(ExposeInput, value))
  expose?: ExposeInput;
}

export class ListSharedRows extends PickType(PageQuery, ['cursor']) {
  static readonly documentedErrors = PageQuery.documentedErrors;

  /** Maximum number of rows. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 1000, default: 1000 })
  @Optional()
  @Max(1000)
  @Min(1)
  @IsInt()
  @WholeNumber()
  limit: number = 1000;
}
