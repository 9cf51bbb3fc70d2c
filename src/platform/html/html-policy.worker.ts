import { serveWork } from '../workers/worker-script.js';
import { cleanHtml, type HtmlTooComplexCode, HtmlTooComplexError } from '../../lib/html/index.js';

/** The result of a check. `clean: null` means unchanged, which saves copying the text back. */
export type HtmlCheckResult = { clean: string | null } | { tooComplex: HtmlTooComplexCode };

serveWork((html: string): HtmlCheckResult => {
  try {
    const clean = cleanHtml(html);
    return { clean: clean === html ? null : clean };
  } catch (error) {
    if (error instanceof HtmlTooComplexError) return { tooComplex: error.code };
    throw error;
  }
});
