import { createHash } from 'node:crypto';
import { ApiProperty } from '@nestjs/swagger';
import {
  type Condition,
  conditionOf,
  Fields,
  isAnswerable,
  kindOf,
  type Problem,
  type Question,
  questionsOf,
  type Version,
} from '../../../../lib/forms/index.js';
import { ErrorResponse } from '../../../../platform/http/error.response.js';
import { defineError } from '../../../../platform/http/errors.js';
import { detail } from '../../forms.resource.js';
import { detailsOf } from '../../input/form.dto.js';

/** The errors of reports. */
export const ReportErrors = {
  notExposed: defineError(403, 'not_exposed', 'The report does not show this part of the form.'),
  invalidReport: defineError(422, 'invalid_report', 'The report has errors; see details.', {
    example: detail(
      'columns.0',
      'unknown_question',
      'columns.0 must be the id of a question of the form, once',
    ),
  }),
  unknownViewer: defineError(
    404,
    'unknown_viewer',
    'A user or group is not part of this workspace; see details.',
    {
      example: detail(
        'viewers.0',
        'unknown_user',
        'viewers.0 is not an active member or group of this workspace',
      ),
    },
  ),
} as const;

class ReportConflictResponse extends ErrorResponse {
  @ApiProperty({ type: 'integer', example: 3, description: 'The current rev.' })
  rev!: number;
}

export const reportConflict = defineError(
  409,
  'conflict',
  'The report has changed since you read it; read it again and retry with the rev in this response.',
  { example: { rev: 3 }, type: ReportConflictResponse },
);

export const METRICS = ['count', 'sum', 'mean', 'min', 'max'] as const;
export const CHARTS = ['bar', 'pie', 'line'] as const;
const MAX_SUPPRESSION = 100;

export interface ReportMetric {
  question: string;
  function: (typeof METRICS)[number];
}

/** A report. Filters, groups, metrics and charts refer to its columns, so that viewers see no other question. */
export interface ReportDefinition {
  /** Ids of questions, of any version. */
  columns: string[];
  /** All must hold for a response. */
  filters: Condition[];
  /** Id of a choice question: each of its options is a group. */
  group_by: string | null;
  metrics: ReportMetric[];
  charts: { question: string; kind: (typeof CHARTS)[number] }[];
  /** Groups and options with fewer responses are not shown; 0 shows all. */
  suppress_below: number;
}

const MAX_COLUMNS = 300;
const MAX_PARTS = 50;

/** Reads an untrusted definition. @throws ApiError 422 `invalid_report` */
export function reportDefinitionOf(plain: unknown, versions: readonly Version[]): ReportDefinition {
  const problems: Problem[] = [];
  const fields = Fields.of(plain, '', problems);
  const known = questionsById(versions);
  const definition = fields && parts(fields, known);
  if (!definition || problems.length > 0)
    throw ReportErrors.invalidReport.with({ details: detailsOf(problems) });
  return definition;
}

/** Questions of all versions; of those with equal ids, the one of the newest version. */
export const questionsById = (versions: readonly Version[]): Map<string, Question> =>
  new Map(
    versions
      .toSorted((a, b) => a.version - b.version)
      .flatMap(({ definition }) => questionsOf(definition).filter(isAnswerable))
      .map((question) => [question.id, question]),
  );

function parts(fields: Fields, known: ReadonlyMap<string, Question>): ReportDefinition {
  const columns = columnsOf(fields, known);
  const shown = new Map([...known].filter(([id]) => columns.includes(id)));
  const group = fields.has('group_by') ? columnOf(fields, 'group_by', shown) : null;
  if (group !== null && shown.has(group) && kindOf(shown.get(group)!).comparison !== 'choice')
    fields.problem('group_by', 'is_choice', 'must be a question with one choice');
  return {
    columns,
    filters: fields.list('filters', MAX_PARTS).map((entry) => conditionOf(entry, shown)),
    group_by: group,
    metrics: fields.list('metrics', MAX_PARTS).map((entry) => metricOf(entry, shown)),
    charts: fields.list('charts', MAX_PARTS).map((entry) => ({
      question: columnOf(entry, 'question', shown),
      kind: entry.oneOf('kind', CHARTS, 'bar'),
    })),
    suppress_below: fields.integer('suppress_below', 0, MAX_SUPPRESSION) ?? 0,
  };
}

function columnsOf(fields: Fields, known: ReadonlyMap<string, Question>): string[] {
  const columns = fields.entries('columns', MAX_COLUMNS);
  if (columns.length === 0) fields.problem('columns', 'array_min_size', 'must name a question');
  return columns.flatMap((id, n) => {
    if (typeof id === 'string' && known.has(id) && columns.indexOf(id) === n) return [id];
    fields.problem(`columns.${n}`, 'unknown_question', 'must be the id of a question of the form, once');
    return [];
  });
}

function columnOf(fields: Fields, name: string, shown: ReadonlyMap<string, Question>): string {
  const id = fields.id(name);
  if (id !== '' && !shown.has(id)) fields.problem(name, 'unknown_question', 'must be a column of the report');
  return id;
}

function metricOf(fields: Fields, shown: ReadonlyMap<string, Question>): ReportMetric {
  const question = columnOf(fields, 'question', shown);
  const metric = fields.oneOf('function', METRICS);
  const numeric = shown.has(question) && kindOf(shown.get(question)!).comparison === 'number';
  if (metric !== 'count' && shown.has(question) && !numeric)
    fields.problem('function', 'is_number', 'needs a question with numbers');
  return { question, function: metric };
}

/** A hash of the content, for the ETag of a snapshot. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
