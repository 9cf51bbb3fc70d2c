import { addFailure, type FileResult } from '../runner/add-failure.ts';

const TITLE = 'responses have exactly the described shape';

/** Differences between responses of the running test file and openapi.json, each once. */
const mismatches = new Set<string>();

export const recordMismatch = (sentence: string): void => void mismatches.add(sentence);

/** Takes the differences. */
export function takeMismatches(): string[] {
  const taken = [...mismatches];
  mismatches.clear();
  return taken;
}

/** The result of a test file, with a failed test if a response differs from openapi.json. */
export function checkMismatches(result: FileResult): FileResult {
  const taken = takeMismatches();
  return taken.length === 0 ? result : addFailure(result, TITLE, taken.join('\n'));
}
