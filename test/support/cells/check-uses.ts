import { appendFileSync } from 'node:fs';
import { addFailure, type FileResult } from '../runner/add-failure.ts';
import { differences } from './selection.ts';
import { currentUses } from './uses.ts';

const TITLE = 'the selection of files that run with workspaces in several databases is right';

/**
 * Compares what a test file that has passed has executed with the selection. Where TEST_USES is set (`npm run test:record`), it
 * appends a line of JSON to this file instead: the test file, its seconds, and what it has executed.
 * @returns the result, with a failed test if the selection does not fit
 */
export function recordOrCheck(file: string, result: FileResult, seconds: number): FileResult {
  if (result.numFailingTests > 0 || result.testExecError) return result;
  const target = process.env['TEST_USES'];
  if (target) {
    appendFileSync(target, `${JSON.stringify({ file, seconds, uses: currentUses() })}\n`);
    return result;
  }
  const sentences = process.env['TEST_CELLS'] ? [] : differences(file, currentUses());
  if (sentences.length === 0) return result;
  const message = `${sentences.join('\n')}\nWrite it down: npm run test:record -- ${file}`;
  return addFailure(result, TITLE, message);
}
