import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** Compiled files of the application. */
const COMPILED = new URL('../..', import.meta.url).href;

/** Source maps of the files that a stack has named; null for a file without one. */
const maps = new Map<string, SourceMap | null>();

/**
 * Makes stacks of errors name files and lines of `src`. Node's `--enable-source-maps` reads the maps of all modules at start: 18 MB
 * and a tenth of the processor time of a start. This reads the map of a file when a stack names it.
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
  if (!file?.startsWith(COMPILED) || line === null || column === null) return text;
  const found = mapOf(file)?.findEntry(line - 1, column - 1);
  if (!found || !('originalSource' in found)) return text;
  const source = new URL(found.originalSource, file).href;
  return text.replace(
    `${file}:${line}:${column}`,
    `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`,
  );
}

function mapOf(file: string): SourceMap | null {
  let map = maps.get(file);
  if (map === undefined) {
    map = readMap(new URL(`${file}.map`));
    maps.set(file, map);
  }
  return map;
}

function readMap(file: URL): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
  } catch {
    return null;
  }
}
