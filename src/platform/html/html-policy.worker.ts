import { serveWork } from '../workers/worker-script.js';
import { cleanHtml, type HtmlTooComplexCode, HtmlTooComplexError } from '../../lib/html/index.js';

/** What a worker says about the text it was given; `clean: null` means "as it was", which need not be copied back. */
export type HtmlVerdict = { clean: string | null } | { tooComplex: HtmlTooComplexCode };

serveWork((html: string): HtmlVerdict => {
  try {
    const clean = cleanHtml(html);
    return { clean: clean === html ? null : clean };
  } catch (error) {
    if (error instanceof HtmlTooComplexError) return { tooComplex: error.code };
    throw error;
  }
});
