import { ApiProperty } from '@nestjs/swagger';
import { UUID } from '../../platform/field-docs/field-docs.js';
import { defineError } from '../../platform/http/errors.js';
import { EXPORT_STATES, type ExportState } from './personal-data.schema.js';

export class ExportProgress {
  /** Domains that are exported. @example 7 */ done!: number;
  /** Domains in total. @example 18 */ total!: number;
}

export class PersonalExportResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ enum: EXPORT_STATES, example: 'running' }) state!: ExportState;
  progress!: ExportProgress;
  /** @example "2026-11-23T09:30:00.000Z" */
  @ApiProperty({ format: 'date-time' }) requested_at!: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-23T09:31:00.000Z' }) finished_at!: string | null;
  /** When the archive is deleted. */
  @ApiProperty({ format: 'date-time', example: '2026-11-30T09:31:00.000Z' }) expires_at!: string | null;
  /** Bytes of the archive; null before it is finished. */
  @ApiProperty({ type: 'integer', example: 4_182_331 }) size!: number | null;
  /** Stored files that the archive does not contain; `omitted-files.json` in the archive lists them. @example 0 */
  omitted_files!: number;
}

const RUNNING = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  state: 'running',
  progress: { done: 7, total: 18 },
  requested_at: '2026-11-23T09:30:00.000Z',
  finished_at: null,
  expires_at: null,
  size: null,
  omitted_files: 0,
};

export class PersonalExportEnvelope {
  /** Null without an export. */
  @ApiProperty({ type: PersonalExportResponse, nullable: true, example: RUNNING })
  export!: PersonalExportResponse | null;
}

export const PersonalDataErrors = {
  exportNotFound: defineError(404, 'not_found', 'There is no finished export of your data.'),
  exportRunning: defineError(409, 'export_running', 'An export of your data is already running.'),
} as const;
