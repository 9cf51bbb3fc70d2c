import { type Answers, type Definition, type Question, questionsOf } from './definition.js';
import { isAnswerable, kindOf } from './kinds/index.js';
import type { Cell, Kind } from './kinds/kind.js';

/** A version of a form. */
export interface Version {
  version: number;
  definition: Definition;
}

interface QuestionColumns {
  id: string;
  /** Of the newest version that has the question. */
  question: Question;
  /** The newest version does not have the question. */
  removed: boolean;
  /** Ids of its columns over all versions. */
  parts: { id: string; label: string }[];
}

/** A question whose type changed has the columns of each type. */
const keyOf = ({ id, type }: Question): string => `${id} ${type}`;

/**
 * The columns of an export: the questions of the newest version in its order, then those that only older versions have.
 * Questions with equal titles are distinguished by their ids.
 */
export class ExportColumns {
  readonly titles: readonly string[];
  /** The columns of each version, in the order of the titles. */
  private readonly byVersion: ReadonlyMap<number, readonly VersionColumn[]>;

  /** @param only ids of the questions to export; default: all */
  constructor(versions: readonly Version[], only?: readonly string[]) {
    const newest = versions.toSorted((a, b) => b.version - a.version);
    const columns = columnsOf(newest, only);
    this.titles = titlesOf(columns);
    this.byVersion = new Map(
      newest.map(({ version, definition }) => [version, columnsIn(definition, columns)]),
    );
  }

  /** One cell for each title. */
  cells(version: number, answers: Answers): Cell[] {
    const cells: Cell[] = [];
    for (const { question, kind, partIds, empty } of this.byVersion.get(version) ?? []) {
      const answer = question && Object.hasOwn(answers, question.id) ? answers[question.id] : undefined;
      if (!question || answer === undefined) cells.push(...empty);
      else cells.push(...kind.cells(question, answer, partIds));
    }
    return cells;
  }
}

/** The columns of one question in one version, prepared for each row. */
interface VersionColumn {
  /** Undefined means that the version does not have it. */
  question: Question | undefined;
  kind: Kind;
  partIds: readonly string[];
  empty: readonly null[];
}

function columnsIn(definition: Definition, columns: readonly QuestionColumns[]): VersionColumn[] {
  const questions = new Map(questionsOf(definition).map((question) => [keyOf(question), question]));
  return columns.map(({ question: newest, parts }) => {
    return {
      question: questions.get(keyOf(newest)),
      kind: kindOf(newest),
      partIds: parts.map(({ id }) => id),
      empty: parts.map(() => null),
    };
  });
}

function columnsOf(newest: readonly Version[], only: readonly string[] | undefined): QuestionColumns[] {
  const found = new Map<string, QuestionColumns>();
  for (const [age, { definition }] of newest.entries())
    for (const question of questionsOf(definition)) {
      if (!isAnswerable(question) || (only && !only.includes(question.id))) continue;
      const parts = kindOf(question).columns?.(question) ?? [{ id: '', label: '' }];
      const known = found.get(keyOf(question));
      if (!known) found.set(keyOf(question), { id: question.id, question, removed: age > 0, parts });
      else known.parts = mergedParts(known.parts, parts);
    }
  return [...found.values()];
}

const mergedParts = (known: QuestionColumns['parts'], older: QuestionColumns['parts']) => [
  ...known,
  ...older.filter(({ id }) => !known.some((part) => part.id === id)),
];

function titlesOf(columns: readonly QuestionColumns[]): string[] {
  const plain = columns.map((column) =>
    column.parts.map(({ label }) => titleOf(column.question.title, label)),
  );
  const uses = new Map<string, number>();
  for (const title of plain.flat()) uses.set(title, (uses.get(title) ?? 0) + 1);
  return columns.flatMap(({ question, parts }, n) =>
    parts.map(({ id }, part) => {
      const title = plain[n]![part]!;
      if (uses.get(title) === 1) return title;
      return `${title} (${[question.id, id].filter(Boolean).join(' ')}, ${question.type})`;
    }),
  );
}

const titleOf = (title: string, label: string): string => (label === '' ? title : `${title} [${label}]`);
