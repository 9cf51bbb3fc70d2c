import { cutText } from '../text/index.js';
import type { Version } from './columns.js';
import { type Answer, type Answers, type Option, type Question, questionsOf } from './definition.js';
import { isAnswerable, kindOf } from './kinds/index.js';

/** Distinct values that are counted exactly. */
const MAX_VALUES = 10_000;
/** Ratio of the bounds of a bucket: the median of its values is at most 0.5 % off. */
const WIDTH = Math.log(1.01);

/** The bucket of a value, as the number that represents it. */
function bucketOf(value: number): number {
  if (value === 0) return 0;
  return Math.sign(value) * Math.exp((Math.floor(Math.log(Math.abs(value)) / WIDTH) + 0.5) * WIDTH);
}

/**
 * Counts of numbers in bounded memory. Minimum, maximum, mean and standard deviation are exact. The median is exact up to 10,000
 * distinct values; with more of them its relative error is at most 0.5 %.
 */
export class Distribution {
  private counts = new Map<number, number>();
  private isExact = true;
  private total = 0;
  private mean = 0;
  private squares = 0;
  private min = Infinity;
  private max = -Infinity;

  get count(): number {
    return this.total;
  }

  add(value: number): void {
    this.total += 1;
    // Welford's method: stable, and in one pass. The division comes first, so that the mean of huge numbers is finite.
    const delta = value - this.mean;
    this.mean += value / this.total - this.mean / this.total;
    const square = delta * (value - this.mean);
    this.squares += Number.isNaN(square) ? Infinity : square;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    this.countIn(this.isExact ? value : bucketOf(value), 1);
    if (this.isExact && this.counts.size > MAX_VALUES) this.merge();
  }

  /** Number of values that the predicate accepts. Exact for up to 10,000 distinct values. */
  countOf(predicate: (value: number) => boolean): number {
    let count = 0;
    for (const [value, times] of this.counts) if (predicate(value)) count += times;
    return count;
  }

  /** Null without values. */
  get median(): number | null {
    if (this.total === 0) return null;
    const sorted = [...this.counts].toSorted(([a], [b]) => a - b);
    const at = (index: number): number => {
      let left = index;
      for (const [value, times] of sorted) {
        if (left < times) return Math.min(this.max, Math.max(this.min, value));
        left -= times;
      }
      return this.max;
    };
    return at((this.total - 1) >> 1) / 2 + at(this.total >> 1) / 2;
  }

  /** Undefined without values. */
  get statistics() {
    const { median, min, max, mean, total } = this;
    if (median === null) return undefined;
    return { min, max, mean, median, standard_deviation: Math.sqrt(Math.max(0, this.squares / total)) };
  }

  private countIn(key: number, times: number): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + times);
  }

  private merge(): void {
    const exact = this.counts;
    this.isExact = false;
    this.counts = new Map();
    for (const [value, times] of exact) this.countIn(bucketOf(value), times);
  }
}

interface OptionCount {
  id: string;
  label: string;
  count: number;
  /** Of the answers to the question. */
  percent: number;
}

interface OptionRank {
  id: string;
  label: string;
  /** Answers that rank the option. */
  count: number;
  mean_rank: number;
}

export interface QuestionSummary {
  id: string;
  title: string;
  type: string;
  /** The newest version does not have the question. */
  removed: boolean;
  answered: number;
  /** Responses without an answer to it. */
  skipped: number;
  options?: OptionCount[];
  rows?: { id: string; label: string; options: OptionCount[] }[];
  /** Mean ranks of the options, the best first. */
  ranks?: OptionRank[];
  statistics?: { min: number; max: number; mean: number; median: number; standard_deviation: number };
  nps?: { promoters: number; passives: number; detractors: number; score: number };
  range?: { first: string; last: string };
  /** The last answers, newest first. */
  samples?: string[];
}

const SAMPLES = 5;
const SAMPLE_LENGTH = 200;

function addMissing(
  into: Map<string, Option>,
  older: readonly Option[],
  newest: readonly Option[] = [],
): void {
  for (const option of older)
    if (!into.has(option.id) && !newest.some(({ id }) => id === option.id)) into.set(option.id, option);
}

/** Collects the answers to one question. */
class QuestionAnswers {
  answered = 0;
  private readonly counts = new Map<string, Map<string, number>>();
  private readonly numbers = new Distribution();
  private readonly sums = new Map<string, number>();
  private readonly removedOptions = new Map<string, Option>();
  private readonly removedRows = new Map<string, Option>();
  private samples: string[] = [];
  private first: string | undefined;
  private last: string | undefined;

  constructor(
    readonly question: Question,
    readonly removed: boolean,
    private readonly responses: () => number,
  ) {}

  /** Adds options and rows that only an older version of the question has. Call it with newer versions first. */
  extendBy({ options = [], rows = [] }: Question): void {
    addMissing(this.removedOptions, options, this.question.options);
    addMissing(this.removedRows, rows, this.question.rows);
  }

  add(answer: Answer): void {
    this.answered += 1;
    switch (kindOf(this.question).summary) {
      case 'number':
      case 'nps':
        this.numbers.add(answer as number);
        break;
      case 'boolean':
        this.count('', answer ? 'true' : 'false');
        break;
      case 'options':
        for (const id of Array.isArray(answer) ? answer : [answer as string]) this.count('', id);
        break;
      case 'rows':
        for (const [row, value] of Object.entries(answer as Record<string, string | string[]>))
          for (const id of Array.isArray(value) ? value : [value]) this.count(row, id);
        break;
      case 'ranks':
        for (const [n, id] of (answer as string[]).entries()) {
          this.count('', id);
          this.sums.set(id, (this.sums.get(id) ?? 0) + n + 1);
        }
        break;
      case 'range':
        this.extend(answer as string | { from: string; to: string });
        break;
      case 'text':
        this.samples = [cutText(answer as string, SAMPLE_LENGTH), ...this.samples].slice(0, SAMPLES);
        break;
      case 'files':
        break;
    }
  }

  summary(): QuestionSummary {
    const { id, title, type } = this.question;
    const { answered, removed } = this;
    const skipped = this.responses() - answered;
    return { id, title, type, removed, answered, skipped, ...this.details() };
  }

  private details(): Partial<QuestionSummary> {
    const { rows = [] } = this.question;
    const answeredRows = [...this.removedRows.values()].filter(({ id }) => this.counts.has(id));
    switch (kindOf(this.question).summary) {
      case 'number':
        return this.statistics();
      case 'nps':
        return { ...this.statistics(), ...this.nps() };
      case 'boolean':
        return { options: this.booleans() };
      case 'options':
        return { options: this.options('') };
      case 'rows':
        return {
          rows: [...rows, ...answeredRows].map(({ id, label }) => ({ id, label, options: this.options(id) })),
        };
      case 'ranks':
        return { ranks: this.ranks() };
      case 'range':
        return this.first === undefined ? {} : { range: { first: this.first, last: this.last! } };
      case 'text':
        return { samples: this.samples };
      case 'files':
        return {};
    }
  }

  private count(row: string, id: string): void {
    const counts = this.counts.get(row) ?? new Map<string, number>();
    this.counts.set(row, counts.set(id, (counts.get(id) ?? 0) + 1));
  }

  private extend(answer: string | { from: string; to: string }): void {
    const [from, to] = typeof answer === 'string' ? [answer, answer] : [answer.from, answer.to];
    if (this.first === undefined || from < this.first) this.first = from;
    if (this.last === undefined || to > this.last) this.last = to;
  }

  /** The options of the question, and removed ones that were chosen. */
  private options(row: string): OptionCount[] {
    const counts = this.counts.get(row) ?? new Map<string, number>();
    const { options = [] } = this.question;
    const removed = [...this.removedOptions.values()].filter(({ id }) => counts.has(id));
    return [...options, ...removed].map(({ id, label }) => this.option(id, label, counts.get(id) ?? 0));
  }

  private booleans(): OptionCount[] {
    return ['true', 'false'].map((id) => this.option(id, id, this.counts.get('')?.get(id) ?? 0));
  }

  private option(id: string, label: string, count: number): OptionCount {
    return { id, label, count, percent: this.answered === 0 ? 0 : rounded((100 * count) / this.answered) };
  }

  private ranks(): OptionRank[] {
    const { options = [] } = this.question;
    const all = [...options, ...this.removedOptions.values()];
    const labels = new Map(all.map(({ id, label }) => [id, label]));
    // Not all answers rank an option that an older version does not have.
    const counts = this.counts.get('')!;
    return [...this.sums]
      .map(([id, sum]) => {
        const count = counts.get(id)!;
        return { id, label: labels.get(id) ?? id, count, mean_rank: rounded(sum / count) };
      })
      .toSorted((a, b) => a.mean_rank - b.mean_rank);
  }

  private statistics(): Partial<QuestionSummary> {
    const { statistics } = this.numbers;
    if (!statistics) return {};
    const finite = Object.entries(statistics).map(([key, value]) => [key, rounded(value)]);
    return { statistics: Object.fromEntries(finite) as QuestionSummary['statistics'] };
  }

  private nps(): Partial<QuestionSummary> {
    const n = this.numbers.count;
    const promoters = this.numbers.countOf((value) => value >= 9);
    const detractors = this.numbers.countOf((value) => value <= 6);
    const score = n === 0 ? 0 : rounded((100 * (promoters - detractors)) / n);
    return { nps: { promoters, passives: n - promoters - detractors, detractors, score } };
  }
}

/** Two decimals; JSON has no infinity. */
function rounded(value: number): number {
  if (!Number.isFinite(value)) return Number.MAX_VALUE * Math.sign(value) || 0;
  return Math.abs(value) < 1e15 ? Math.round(value * 100) / 100 : value;
}

/** Summaries of the answers to each question, over the responses of all versions. */
export class Summaries {
  private readonly collected = new Map<string, QuestionAnswers>();
  private readonly byVersion = new Map<number, [string, QuestionAnswers][]>();
  private readonly responses = new Map<number, number>();

  /** @param only ids of the questions to summarise; default: all */
  constructor(versions: readonly Version[], only?: readonly string[]) {
    for (const [age, { version, definition }] of versions
      .toSorted((a, b) => b.version - a.version)
      .entries()) {
      const questions = questionsOf(definition).filter(
        (question) => isAnswerable(question) && (only?.includes(question.id) ?? true),
      );
      this.byVersion.set(
        version,
        questions.map((question) => [question.id, this.collector(question, age > 0)]),
      );
    }
  }

  add(version: number, answers: Answers): void {
    this.responses.set(version, (this.responses.get(version) ?? 0) + 1);
    for (const [id, question] of this.byVersion.get(version) ?? []) {
      const answer = Object.hasOwn(answers, id) ? answers[id] : undefined;
      if (answer !== undefined) question.add(answer);
    }
  }

  all(): QuestionSummary[] {
    return [...this.collected.values()].map((question) => question.summary());
  }

  private collector(question: Question, removed: boolean): QuestionAnswers {
    const key = `${question.id} ${question.type}`;
    const known = this.collected.get(key);
    known?.extendBy(question);
    if (known) return known;
    const made: QuestionAnswers = new QuestionAnswers(question, removed, () => this.responsesTo(made));
    this.collected.set(key, made);
    return made;
  }

  /** Responses of the versions that have the question. */
  private responsesTo(question: QuestionAnswers): number {
    return [...this.byVersion]
      .filter(([, list]) => list.some(([, entry]) => entry === question))
      .reduce((sum, [version]) => sum + (this.responses.get(version) ?? 0), 0);
  }
}
