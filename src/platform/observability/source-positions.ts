import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** Compiled files of the application. */
const COMPILED = new URL('../..', import.meta.url).href;

/** What begins the line of a section in the map of a bundle. Its position in the bundle follows, in at most `POSITION` characters. */
const SECTION = '\n{"offset":{';
const POSITION = 40;

/** A part of a compiled file, from this position on, with its map. Lines and columns count from 0. */
interface Section {
  line: number;
  column: number;
  map: SourceMap;
}

/** Returns the section of a position. */
type FindSection = (line: number, column: number) => Section | undefined;

/** Source maps of the files that a stack has named; null for a file without one. */
const maps = new Map<string, FindSection | null>();

/**
 * Makes stacks of errors name files and lines of `src`. Node's `--enable-source-maps` reads the maps of all modules at start: 18 MB
 * and a tenth of the processor time of a start. This reads the map of a file when a stack names it, of a bundle the section of the module.
 */
export function showSourcePositions(): void {
  Error.prepareStackTrace = (error, calls) =>
    [headingOf(error), ...calls.map((call) => `    at ${describe(call)}`)].join('\n');
}

function headingOf(error: Error): string {
  try {
    return String(error);
  } catch {
    return 'Error';
  }
}

function describe(call: NodeJS.CallSite): string {
  // oxlint-disable-next-line typescript/no-base-to-string -- a method of call sites, which the types do not declare
  const text = call.toString();
  const [file, line, column] = [call.getFileName(), call.getLineNumber(), call.getColumnNumber()];
  if (!file || line === null || column === null) return text;
  const source = findSource(file, line, column);
  return source
    ? text.replace(`${file}:${line}:${column}`, `${source.file}:${source.line}:${source.column}`)
    : text;
}

/** A place in a file. Lines and columns count from 1. */
export interface SourcePosition {
  /** A URL. */
  file: string;
  line: number;
  column: number;
}

/** Finds the source of a place in a compiled file. @returns undefined for other files */
export function findSource(file: string, line: number, column: number): SourcePosition | undefined {
  if (!file.startsWith(COMPILED)) return undefined;
  const section = mapOf(file)?.(line - 1, column - 1);
  if (!section) return undefined;
  const first = line - 1 === section.line ? section.column : 0;
  const found = section.map.findEntry(line - 1 - section.line, column - 1 - first);
  if (!('originalSource' in found)) return undefined;
  return {
    file: new URL(found.originalSource, file).href,
    line: found.originalLine + 1,
    column: found.originalColumn + 1,
  };
}

function mapOf(file: string): FindSection | null {
  let map = maps.get(file);
  if (map === undefined) {
    map = readMap(new URL(`${file}.map`));
    maps.set(file, map);
  }
  return map;
}

function readMap(file: URL): FindSection | null {
  try {
    const text = readFileSync(file);
    if (text.includes(SECTION)) return sectionsOf(file, text);
    const whole = { line: 0, column: 0, map: new SourceMap(JSON.parse(text.toString()) as SourceMapPayload) };
    return () => whole;
  } catch {
    return null;
  }
}

/** The map of a bundle (bin/lib/bundle-maps.mjs). Keeps where its sections are, and the sections that it was asked for. */
function sectionsOf(file: URL, text: Buffer): FindSection {
  const starts: { line: number; column: number; begin: number; end: number }[] = [];
  for (let at = text.indexOf(SECTION); at !== -1;) {
    const position = text.toString('latin1', at, at + SECTION.length + POSITION);
    const [line, column] = [...position.matchAll(/\d+/g)].map(Number) as [number, number];
    const next = text.indexOf(SECTION, at + 1);
    starts.push({ line, column, begin: at + 1, end: text.indexOf('\n', at + 1) });
    at = next;
  }
  const sections = new Map<number, Section>();
  return (line, column) => {
    const index = starts.findLastIndex(
      (start) => start.line < line || (start.line === line && start.column <= column),
    );
    const start = starts[index];
    if (!start) return undefined;
    let section = sections.get(index);
    if (!section) {
      section = { ...start, map: readSection(file, start.begin, start.end) };
      sections.set(index, section);
    }
    return section;
  };
}

/** Reads the line of a section, which ends with a comma unless it is the last one. */
function readSection(file: URL, begin: number, end: number): SourceMap {
  const line = Buffer.alloc(end - begin);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, line, 0, line.length, begin);
  } finally {
    closeSync(descriptor);
  }
  const { map } = JSON.parse(line.toString().replace(/,$/, '')) as { map: SourceMapPayload };
  return new SourceMap(map);
}
