/** Reason why a text is rejected: nesting depth, number of nodes, or the time its check takes. */
export type HtmlTooComplexCode = 'too_deep' | 'too_many_nodes' | 'too_slow';

/** The text exceeds a limit of the parser. The HTTP layer maps it to 422. */
export class HtmlTooComplexError extends Error {
  constructor(readonly code: HtmlTooComplexCode) {
    super(`HTML is too complex: ${code}`);
    this.name = 'HtmlTooComplexError';
  }
}
