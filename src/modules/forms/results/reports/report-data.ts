import { Injectable } from '@nestjs/common';
import {
  type Answer,
  type Answers,
  holds,
  isAnswerable,
  type Question,
  questionsOf,
  type QuestionSummary,
  Summaries,
  type Version,
} from '../../../../lib/forms/index.js';
import { PAGE_BYTES } from '../../../../platform/bounded-pages/page-bytes.js';
import type { FormResponseRow } from '../../forms.schema.js';
import { ResponseScan, type ScanRow } from '../response-scan.js';
import { questionsById, type ReportDefinition, type ReportMetric } from './report-definition.js';
import { waitForSlice } from '../../../../lib/turns/index.js';

interface Counted {
  count: number;
}

/**
 * The entries with at least `least` responses, and the empty ones. If the hidden entries have fewer than `least` responses together,
 * the smallest shown entries are hidden too: otherwise viewers could compute the hidden ones from the total.
 * @param total responses of all entries; undefined where viewers do not know it
 */
export function largeEnough<T extends Counted>(
  entries: readonly T[],
  least: number,
  total: number | undefined,
): T[] {
  const large = entries.filter(({ count }) => count === 0 || count >= least);
  if (total === undefined) return large;
  let hidden = total - large.reduce((sum, { count }) => sum + count, 0);
  const dropped = new Set<T>();
  for (const entry of large.filter(({ count }) => count > 0).toSorted((a, b) => a.count - b.count)) {
    if (hidden <= 0 || hidden >= least) break;
    hidden += entry.count;
    dropped.add(entry);
  }
  return large.filter((entry) => !dropped.has(entry));
}

/** Rows of a snapshot. It ends at the bytes of a page too. */
const MAX_ROWS = 1_000;

/** A row of a page; the first one beyond the bytes of the page does not fit and comes last. */
export interface ListedRow {
  row: ReportRow;
  fits: boolean;
}

export interface ReportRow extends Pick<FormResponseRow, 'id' | 'version' | 'answers'> {
  submitted_at: string;
}

interface MetricValue extends ReportMetric {
  value: number | null;
}

interface Group {
  key: string | null;
  label: string | null;
  count: number;
  metrics: MetricValue[];
}

interface ReportAggregates {
  /** Responses that pass the filters; null when they are too few to be shown. */
  responses: number | null;
  questions: QuestionSummary[];
  metrics: MetricValue[];
  groups: Group[];
  /** Groups that are not shown because they are small. */
  suppressed_groups: number;
}

export interface ReportData {
  rows: ReportRow[];
  aggregates: ReportAggregates;
  versions: Version[];
}

/** Values of one metric. */
class Metric {
  count = 0;
  private sum = 0;
  private min = Infinity;
  private max = -Infinity;

  constructor(private readonly metric: ReportMetric) {}

  add(answer: Answer | undefined): void {
    // An answer to an older version, in which the question had another type, may be no number.
    if (answer === undefined || (typeof answer !== 'number' && this.metric.function !== 'count')) return;
    this.count += 1;
    if (typeof answer !== 'number') return;
    this.sum += answer;
    this.min = Math.min(this.min, answer);
    this.max = Math.max(this.max, answer);
  }

  /** @param isShown false if the value would disclose single answers */
  value(isShown: boolean): MetricValue {
    if (!isShown) return { ...this.metric, value: null };
    const { count, sum, min, max } = this;
    const values = { count, sum, mean: sum / count, min, max };
    const value = values[this.metric.function];
    return { ...this.metric, value: count === 0 && this.metric.function !== 'count' ? null : finite(value) };
  }
}

const finite = (value: number): number | null =>
  Number.isFinite(value) ? Math.round(value * 10_000) / 10_000 : null;

const reportRow = ({
  id,
  submitted_at,
  version,
  answers,
}: Omit<ScanRow, 'respondent' | 'duration_seconds'>) => ({
  id,
  submitted_at: submitted_at.toISOString(),
  version,
  answers,
});

/** The answers by question; null when a filter excludes the response. */
function passing({ filters }: ReportDefinition, answers: Answers): Map<string, Answer> | null {
  const given = new Map(Object.entries(answers));
  return filters.every((filter) => holds(filter, given)) ? given : null;
}

const bytesOf = (row: ReportRow): number => Buffer.byteLength(JSON.stringify(row));

/** Collects a report row by row. */
class Collector {
  readonly rows: ReportRow[] = [];
  private readonly summaries: Summaries;
  private readonly total: Metric[];
  private readonly groups = new Map<string | null, { count: number; metrics: Metric[] }>();
  private responses = 0;
  private bytes = 0;

  constructor(
    private readonly definition: ReportDefinition,
    private readonly versions: readonly Version[],
  ) {
    this.summaries = new Summaries(versions, definition.columns);
    this.total = definition.metrics.map((metric) => new Metric(metric));
  }

  add({ id, submitted_at, version, answers }: ScanRow): void {
    const given = passing(this.definition, answers);
    if (!given) return;
    this.responses += 1;
    this.summaries.add(version, answers);
    for (const [n, { question }] of this.definition.metrics.entries())
      this.total[n]!.add(given.get(question));
    if (this.definition.group_by !== null) this.addToGroup(given, this.definition.group_by);
    if (this.rows.length === MAX_ROWS || this.bytes >= PAGE_BYTES) return;
    const row = reportRow({ id, submitted_at, version, answers });
    this.bytes += bytesOf(row);
    this.rows.push(row);
  }

  /** @param withSamples whether texts of single responses are shown */
  aggregates(withSamples: boolean): ReportAggregates {
    const { suppress_below: least } = this.definition;
    const hidden = this.responses < least;
    const groups = hidden ? [] : this.shownGroups(least);
    return {
      responses: hidden ? null : this.responses,
      questions: hidden
        ? []
        : this.summaries.all().map((summary) => presentSummary(summary, least, withSamples)),
      metrics: this.total.map((one, n) => one.value(!hidden && this.shownMetrics(n, [one]).has(one))),
      groups,
      suppressed_groups: this.groups.size - groups.length,
    };
  }

  private addToGroup(given: ReadonlyMap<string, Answer>, question: string): void {
    const answer = given.get(question);
    // In an older version the question may have another type.
    const key = typeof answer === 'string' ? answer : null;
    const group = this.groups.get(key) ?? {
      count: 0,
      metrics: this.definition.metrics.map((metric) => new Metric(metric)),
    };
    this.groups.set(key, group);
    group.count += 1;
    for (const [n, metric] of this.definition.metrics.entries())
      group.metrics[n]!.add(given.get(metric.question));
  }

  private shownGroups(least: number): Group[] {
    const options = questionsById(this.versions).get(this.definition.group_by ?? '')?.options ?? [];
    const labels = new Map(options.map(({ id, label }) => [id, label]));
    const all = [...this.groups].map(([key, group]) => ({ key, ...group }));
    const groups = largeEnough(all, least, this.responses);
    const values = this.total.map((_, n) =>
      this.shownMetrics(
        n,
        groups.map(({ metrics }) => metrics[n]!),
      ),
    );
    return groups
      .map(({ key, count, metrics }) => ({
        key,
        label: key === null ? null : (labels.get(key) ?? key),
        count,
        metrics: metrics.map((metric, n) => metric.value(values[n]!.has(metric))),
      }))
      .toSorted((a, b) => b.count - a.count);
  }

  /** The values of one metric that disclose no single answer, as minimum and maximum do. */
  private shownMetrics(n: number, values: readonly Metric[]): ReadonlySet<Metric> {
    const { suppress_below: least, metrics } = this.definition;
    const isSingle = ['min', 'max'].includes(metrics[n]!.function);
    return new Set(least > 0 && isSingle ? [] : largeEnough(values, least, this.total[n]!.count));
  }
}

/** A summary without details about fewer than `least` responses. */
function presentSummary(
  { samples, ...summary }: QuestionSummary,
  least: number,
  withSamples: boolean,
): QuestionSummary {
  if (summary.answered > 0 && summary.answered < least) {
    const { id, title, type, removed } = summary;
    return { id, title, type, removed, answered: 0, skipped: 0 };
  }
  const { options, rows, ranks, statistics, nps, range, ...counts } = summary;
  // An answer may have several options, so the sum of their counts is not the number of answers.
  const total = summary.type === 'multiple_choice' ? undefined : summary.answered;
  const enough = <T extends { count: number }>(list: T[]): T[] => largeEnough(list, least, total);
  return {
    ...counts,
    ...(options && { options: enough(options) }),
    ...(rows && { rows: rows.map((row) => ({ ...row, options: enough(row.options) })) }),
    // An answer ranks several options, so the sum of their counts is not the number of answers.
    ...(ranks && { ranks: largeEnough(ranks, least, undefined) }),
    ...(nps && (least === 0 || Math.min(nps.promoters, nps.passives, nps.detractors) >= least) && { nps }),
    // Minimum, maximum, first and last belong to single responses.
    ...(statistics && least === 0 && { statistics }),
    ...(range && least === 0 && { range }),
    ...(samples && withSamples && least === 0 && { samples }),
  };
}

/** Reads the data of reports: only the answers of their columns leave the database. */
@Injectable()
export class ReportReader {
  constructor(private readonly scan: ResponseScan) {}

  /** All data in one snapshot. @param withSamples whether texts of single responses are shown */
  async read(
    tenantId: string,
    form: string,
    definition: ReportDefinition,
    withSamples: boolean,
  ): Promise<ReportData> {
    const filter = { questions: definition.columns, respondents: false };
    return this.scan.compute(tenantId, form, filter, async (versions, batches) => {
      const collector = new Collector(definition, versions);
      for await (const rows of batches) {
        for (const row of rows) collector.add(row);
        await waitForSlice();
      }
      return { rows: collector.rows, aggregates: collector.aggregates(withSamples), versions };
    });
  }

  /**
   * Reads up to `limit` rows, the oldest first, and as many as fit the bytes of a page.
   * @param after time and id of the row before the first one
   */
  async rows(
    tenantId: string,
    form: string,
    definition: ReportDefinition,
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<ListedRow[]> {
    const filter = { questions: definition.columns, respondents: false, after };
    return this.scan.compute(tenantId, form, filter, async (_versions, batches) => {
      const rows: ListedRow[] = [];
      let bytes = 0;
      for await (const batch of batches) {
        for (const found of batch) {
          if (!passing(definition, found.answers)) continue;
          const row = reportRow(found);
          bytes += bytesOf(row);
          const fits = rows.length === 0 || bytes <= PAGE_BYTES;
          rows.push({ row, fits });
          if (!fits || rows.length === limit) return rows;
        }
        await waitForSlice();
      }
      return rows;
    });
  }
}

/** The questions of the columns, in their order, with their options. */
export function columnsOf(definition: ReportDefinition, versions: readonly Version[]): Question[] {
  const known = questionsById(versions);
  const newest = versions.toSorted((a, b) => b.version - a.version)[0];
  const current = new Set(
    newest &&
      questionsOf(newest.definition)
        .filter(isAnswerable)
        .map(({ id }) => id),
  );
  return definition.columns.flatMap((id) => {
    const question = known.get(id);
    return question ? [{ ...question, removed: !current.has(id) }] : [];
  });
}
