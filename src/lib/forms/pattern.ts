import { RE2JS } from 're2js';
import { DEFINITION_LIMITS } from './definition.js';

/** Patterns of users run in linear time (RE2), so that no pattern can block the process. */
export interface Pattern {
  /** Whether the whole text matches. */
  matches(text: string): boolean;
}

/** Sum of the counted repetitions, which multiply the size of the compiled pattern. */
const MAX_REPETITIONS = 200;
/** Maximum length of a text with a pattern. The time grows with the product of both lengths. */
export const MAX_MATCHED_TEXT = 1_000;

/** @returns null for an invalid pattern, or one that is too large */
export function compilePattern(pattern: string): Pattern | null {
  if (pattern.length > DEFINITION_LIMITS.pattern) return null;
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, min, max]) => Number(max || min));
  if (counts.reduce((sum, count) => sum + count, 0) > MAX_REPETITIONS) return null;
  try {
    const compiled = RE2JS.compile(pattern);
    return { matches: (text) => compiled.matches(text) };
  } catch {
    return null;
  }
}
