/** Why a text was refused: nesting, number of nodes, or the time and memory it took to find out. */
export type HtmlTooComplexCode = 'too_deep' | 'too_many_nodes' | 'too_slow';

/** The text is not worth the machine's time; the caller answers 422 and stores nothing. */
export class HtmlTooComplexError extends Error {
  constructor(readonly code: HtmlTooComplexCode) {
    super(`HTML is too complex: ${code}`);
    this.name = 'HtmlTooComplexError';
  }
}

/** More large texts arrived at once than the queue holds; nothing is wrong with the text, the caller answers 503. */
export class HtmlPolicyBusyError extends Error {
  constructor() {
    super('too many large HTML texts are being checked');
    this.name = 'HtmlPolicyBusyError';
  }
}
