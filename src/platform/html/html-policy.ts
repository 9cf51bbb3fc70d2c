import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { cleanHtml, isPlainlyClean } from '../../lib/html/index.js';
import { HtmlWorkerPool } from './html-worker-pool.js';

export { type HtmlTooComplexCode, HtmlTooComplexError } from '../../lib/html/index.js';
export { HtmlPolicyBusyError } from './html-worker-pool.js';

/** Raised with every change of the rules, so that texts stored under older ones can be found and checked again. */
export const HTML_POLICY_VERSION = 1;

/** Length from which a text that needs the parser is checked outside the event loop. */
const LARGE = 64 * 1024;

/**
 * The rules for HTML that users write, applied when it is stored and never again when it is read. Clean bytes are kept as
 * they came: editors compare, hash and diff what they saved.
 */
@Injectable()
export class HtmlPolicy implements OnModuleDestroy {
  private readonly pool = new HtmlWorkerPool();

  /**
   * The very input when it is clean, the cleaned text otherwise.
   *
   * @throws HtmlTooComplexError when the text is too deep, too large or takes too long
   * @throws HtmlPolicyBusyError when too many large texts wait already
   */
  async check(html: string): Promise<string> {
    if (isPlainlyClean(html)) return html;
    return html.length < LARGE ? cleanHtml(html) : this.pool.run(html);
  }

  async onModuleDestroy(): Promise<void> {
    await this.pool.close();
  }
}
